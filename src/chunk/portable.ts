import { INT64_MAX } from '../json/exact-number.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import type { Coin, CoinCreate, RoundCreate } from '../ledger/update.ts';
import type { Fault, RareEvent } from './chunk.ts';

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Whether a create is of a good coin that its dso signed, with numbers that fit the columns. */
export function fitsColumns(event: CoinCreate): event is CoinCreate & { body: Coin } {
  const { signatories, body: coin } = event;
  if (signatories instanceof BadUpdate || coin instanceof BadUpdate || !signatories.includes(event.dso)) return false;
  if (coin.amount > INT64_MAX || coin.rate > INT64_MAX || coin.round > MAX_SAFE) return false;
  return coin.rate * coin.round <= INT64_MAX;
}

export function portableFault({ code, field, given, expected }: BadUpdate): Fault {
  return { code, field, given, expected };
}

export function portable(event: CoinCreate | RoundCreate): RareEvent {
  const signatories = event.signatories instanceof BadUpdate ? portableFault(event.signatories) : event.signatories;
  const body = event.body instanceof BadUpdate ? portableFault(event.body) : event.body;
  return { ...event, signatories, body } as RareEvent;
}
