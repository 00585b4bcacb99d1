import { createHash } from 'node:crypto';
import type { Contract } from './history.ts';
import type { ActiveCoin } from './oracle.ts';
import { coinOf } from './oracle-answers.ts';
import type { TokenHolding } from './oracle-tokens.ts';
import { shortTime } from './wire-text.ts';

/** The digests of a snapshot on the grid, in hex; null where it was forced. Those of tokens begin with the first line. */
export interface OracleDigests {
  readonly changesDigest: string | null;
  readonly digest: string | null;
  readonly tokensChangesDigest: string | null;
  readonly tokensDigest: string | null;
}

export const NO_DIGESTS: OracleDigests = {
  changesDigest: null,
  digest: null,
  tokensChangesDigest: null,
  tokensDigest: null,
};

interface OnTheGrid {
  readonly migrationId: number;
  readonly recordTime: number;
  readonly periodMicros: number;
  readonly coins: readonly ActiveCoin[];
  readonly tokens: readonly TokenHolding[];
  /** The snapshot on the grid before it. */
  readonly before: (OracleDigests & Pick<OnTheGrid, 'coins' | 'tokens'>) | undefined;
}

/** As docs/digest.md says, by comparing the whole active sets of two snapshots. A contract is one create. */
export function digestsOf({ before, ...snapshot }: OnTheGrid): OracleDigests {
  const coinLines = changedLines(before?.coins ?? [], snapshot.coins, createdLine);
  const [changesDigest, digest] = chained(snapshot, coinLines, before?.digest ?? null);
  const tokenLines = changedLines(before?.tokens ?? [], snapshot.tokens, tokenLine);
  const previous = before?.tokensDigest ?? null;
  const hasBegun = tokenLines.length > 0 || previous !== null;
  const [tokensChangesDigest, tokensDigest] = hasBegun ? chained(snapshot, tokenLines, previous) : [null, null];
  return { changesDigest, digest, tokensChangesDigest, tokensDigest };
}

function changedLines<Held extends { readonly contract: Contract }>(
  before: readonly Held[],
  now: readonly Held[],
  lineOf: (created: Held) => string,
): string[] {
  const [held, holds] = [new Set(before), new Set(now)];
  const gone = before.filter((each) => !holds.has(each)).map(({ contract }) => `- ${contract.contractId}\n`);
  return [...now.filter((each) => !held.has(each)).map(lineOf), ...gone];
}

function chained(
  { migrationId, recordTime, periodMicros }: Pick<OnTheGrid, 'migrationId' | 'recordTime' | 'periodMicros'>,
  lines: readonly string[],
  before: string | null,
): [changesDigest: string, digest: string] {
  const items = lines.map((line) => sha256(line)).sort();
  const changesDigest = sha256(`${migrationId} ${shortTime(recordTime)}\n`, ...items.map((item) => bytes(item)));
  const previous = before ?? sha256(`${migrationId} ${periodMicros}\n`);
  return [changesDigest, sha256(bytes(previous), bytes(changesDigest))];
}

function tokenLine({ contract, locked, amount, ...holding }: TokenHolding): string {
  const { admin, instrument, owner, provider, accountId } = holding;
  const texts = [admin, instrument, owner ?? '', provider ?? '', accountId];
  const sized = texts.map((text) => `${Buffer.from(text).length} ${text}`).join(' ');
  return `+ t ${locked ? 'l' : 'u'} ${amount} ${contract.createdAt} ${sized} ${contract.contractId}\n`;
}

function createdLine(coin: ActiveCoin): string {
  const { owner, amount, rate, round, lock } = coinOf(coin);
  const { contractId, createdAt } = coin.contract;
  const length = Buffer.from(owner).length;
  return `+ ${lock === null ? 'u' : 'l'} ${amount} ${rate} ${round} ${createdAt} ${length} ${owner} ${contractId}\n`;
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}
