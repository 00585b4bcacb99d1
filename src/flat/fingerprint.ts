import { hash } from 'node:crypto';
import { comparableJson } from '../ledger/canonical-json.ts';
import { coinContent } from '../ledger/coin.ts';
import type { Coin } from '../ledger/update.ts';

/**
 * 64 bits of what makes two creates of one contract equal (docs/rules.md, rule 9), as a signed number in digits: a stream engine
 * compares them, and so needs no more of the content.
 */
export function fingerprint(coin: Coin, dso: string): string {
  const { entity, owner, amount, rate, round, createdAt } = coin;
  const { createArguments, signatories, observers } = coinContent(coin, dso);
  const terms = [entity, owner, String(amount), String(rate), String(round), createdAt];
  const sets = [signatories, observers].map((parties) => [...new Set(parties)].sort());
  return shortened(hash('sha256', JSON.stringify([terms, sets, comparableJson(createArguments)]), 'buffer'));
}

/** Of a counterfeit, whose content is never looked at: any two are equal, and none equals a coin. */
export const COUNTERFEIT_FINGERPRINT = '0';

function shortened(digest: Buffer): string {
  const bits = digest.readBigInt64BE(0);
  return String(bits === 0n ? 1n : bits);
}
