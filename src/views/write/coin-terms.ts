import { type Chunk, EVENT } from '../../chunk/chunk.ts';
import { expiryRound } from '../../ledger/holding-fee.ts';
import type { Coin } from '../../ledger/update.ts';
import type { SumTerms } from '../store/totals.ts';

/** The numbers of a coin create, narrow or wide. */
export interface CoinTerms extends SumTerms {
  readonly locked: boolean;
  readonly owner: string;
  readonly round: number | bigint;
  readonly createdAt: number;
  readonly node: number;
  readonly template: string;
  readonly extra: string | null;
}

export function coinTerms(chunk: Chunk, event: number): CoinTerms {
  const e = chunk.events;
  const extra = e.extra[event]!;
  return {
    locked: e.kind[event] === EVENT.locked,
    owner: chunk.names[e.owner[event]!]!,
    amount: e.amount[event]!,
    rate: e.rate[event]!,
    rateRound: e.rateRound[event]!,
    round: e.round[event]!,
    expiry: e.expiry[event]!,
    createdAt: e.createdAt[event]!,
    node: e.node[event]!,
    template: chunk.names[e.template[event]!]!,
    extra: extra === 0 ? null : chunk.extras[extra - 1]!,
  };
}

export function wideTerms(coin: Coin): CoinTerms {
  return {
    ...coin,
    locked: coin.entity === 'LockedAmulet',
    rateRound: coin.rate * coin.round,
    expiry: expiryRound({ ...coin, createdRound: coin.round }) ?? Infinity,
    template: `${coin.templateId}\n${coin.packageName}`,
  };
}

interface PendingTerms {
  readonly chunk: Chunk;
  readonly event: number;
  readonly wide: CoinTerms | null;
}

/** What the create of a coin of this batch said: its chunk still holds it. */
export function termsOf({ wide, chunk, event }: PendingTerms): CoinTerms {
  return wide ?? coinTerms(chunk, event);
}
