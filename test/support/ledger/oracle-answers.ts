import type { CoinPayload } from './history.ts';
import type { ActiveCoin, Oracle, OracleSnapshot } from './oracle.ts';
import { createArguments, plainDecimal, shortTime } from './wire-text.ts';

export interface Sums {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

const NUMERIC_LIMIT = 10n ** 38n;
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

export function coinOf({ contract }: ActiveCoin): CoinPayload {
  if (contract.payload.kind !== 'coin') throw new Error(`${contract.contractId} is not a coin`);
  return contract.payload;
}

export function ownersOf(snapshot: OracleSnapshot): string[] {
  return [...new Set(snapshot.coins.map((coin) => coinOf(coin).owner))].sort();
}

function sumOver(coins: readonly ActiveCoin[], value: (coin: CoinPayload) => bigint): Sums {
  let unlocked = 0n;
  let locked = 0n;
  for (const coin of coins.map(coinOf)) {
    if (coin.lock === null) unlocked += value(coin);
    else locked += value(coin);
  }
  return { unlocked, locked };
}

function coinsOf(snapshot: OracleSnapshot, party: string): readonly ActiveCoin[] {
  return snapshot.coins.filter((coin) => coinOf(coin).owner === party);
}

export function supplyOf(snapshot: OracleSnapshot): Sums {
  return sumOver(snapshot.coins, ({ amount }) => amount);
}

export function totalsOf(snapshot: OracleSnapshot, party: string): Sums {
  return sumOver(coinsOf(snapshot, party), ({ amount }) => amount);
}

/** By the definition: each coin's fee is min(amount, (round - created) * rate). */
export function feesOf(snapshot: OracleSnapshot, party: string, asOf: bigint): Sums {
  return sumOver(coinsOf(snapshot, party), ({ amount, rate, round }) => {
    const accrued = (asOf - round) * rate;
    return accrued < amount ? accrued : amount;
  });
}

/** The rounds at which answers may turn: around every expiry of a coin, its creation, and the ends of int64. */
export function decisiveRounds(snapshot: OracleSnapshot): bigint[] {
  const rounds = new Set([0n, INT64_MIN, INT64_MAX]);
  for (const { amount, rate, round } of snapshot.coins.map(coinOf)) {
    rounds.add(round);
    if (rate === 0n) continue;
    const expiry = round + (amount + rate - 1n) / rate;
    for (const near of [expiry - 1n, expiry, expiry + 1n]) if (near <= INT64_MAX) rounds.add(near);
  }
  return [...rounds].sort((a, b) => (a < b ? -1 : 1));
}

/** The body of POST /v1/holdings/summary; null where a value does not fit a Numeric(10) of 38 digits (400). */
export function summaryV1(snapshot: OracleSnapshot, parties: readonly string[]): Record<string, unknown> | null {
  const rows = [...new Set(parties)].map((party) => ({ party, figures: totalFigures(snapshot, party) }));
  return rows.every(fits) ? { ...placeOf(snapshot), summaries: rows.map(printed) } : null;
}

/** The body of POST /v0/holdings/summary as of a round; null where a value does not fit. */
export function summaryV0(
  snapshot: OracleSnapshot,
  parties: readonly string[],
  asOf: bigint,
): Record<string, unknown> | null {
  const rows = [...new Set(parties)].map((party) => {
    const figures = { ...totalFigures(snapshot, party), ...feeFigures(snapshot, party, asOf) };
    return { party, figures };
  });
  return rows.every(fits) ? { ...placeOf(snapshot), computed_as_of_round: asOf, summaries: rows.map(printed) } : null;
}

interface Row {
  readonly party: string;
  readonly figures: Readonly<Record<string, bigint>>;
}

function totalFigures(snapshot: OracleSnapshot, party: string): Record<string, bigint> {
  const { unlocked, locked } = totalsOf(snapshot, party);
  return { total_unlocked_coin: unlocked, total_locked_coin: locked, total_coin_holdings: unlocked + locked };
}

function feeFigures(snapshot: OracleSnapshot, party: string, asOf: bigint): Record<string, bigint> {
  const { unlocked, locked } = feesOf(snapshot, party, asOf);
  return {
    accumulated_holding_fees_unlocked: unlocked,
    accumulated_holding_fees_locked: locked,
    accumulated_holding_fees_total: unlocked + locked,
    total_available_coin: totalsOf(snapshot, party).unlocked - unlocked,
  };
}

function fits({ figures }: Row): boolean {
  return Object.values(figures).every((units) => units < NUMERIC_LIMIT && units > -NUMERIC_LIMIT);
}

function printed({ party, figures }: Row): Record<string, string> {
  const texts = Object.entries(figures).map(([name, units]) => [name, plainDecimal(units)]);
  return { party_id: party, ...Object.fromEntries(texts) };
}

function placeOf(snapshot: OracleSnapshot): { record_time: string; migration_id: number } {
  return { record_time: shortTime(snapshot.recordTime), migration_id: snapshot.migrationId };
}

/** Every item of POST /v0/holdings/state for these owners, over all pages: by created_at, then contract id as UTF-8. */
export function stateV0(snapshot: OracleSnapshot, parties: readonly string[]): Record<string, unknown>[] {
  return ordered(snapshot, parties).map((coin) => ({
    event_type: 'created_event',
    event_id: `#${coin.updateId ?? coin.contract.contractId}:${coin.node}`,
    ...stateFields(coin),
  }));
}

/** Every item of POST /v1/holdings/state. */
export function stateV1(snapshot: OracleSnapshot, parties: readonly string[]): Record<string, unknown>[] {
  return ordered(snapshot, parties).map((coin) => ({ ...stateFields(coin), created_in_update_id: coin.updateId }));
}

export function ordered(snapshot: OracleSnapshot, parties: readonly string[]): ActiveCoin[] {
  return [...new Set(parties)]
    .flatMap((party) => coinsOf(snapshot, party))
    .sort(({ contract: a }, { contract: b }) => {
      return a.createdAt - b.createdAt || Buffer.compare(Buffer.from(a.contractId), Buffer.from(b.contractId));
    });
}

function stateFields({ contract }: ActiveCoin): Record<string, unknown> {
  return {
    contract_id: contract.contractId,
    template_id: contract.templateId,
    package_name: contract.packageName,
    create_arguments: createArguments(contract, plainDecimal),
    created_at: shortTime(contract.createdAt),
    signatories: contract.signatories,
    observers: contract.observers,
  };
}

/** The snapshot at exactly that time, or the newest at or before it, in that migration only. */
export function snapshotAt(
  { snapshots }: Oracle,
  query: { migrationId: number; recordTime: number; match: 'exact' | 'at_or_before' },
): OracleSnapshot | null {
  const before = snapshots.filter((snapshot) => {
    return snapshot.migrationId === query.migrationId && snapshot.recordTime <= query.recordTime;
  });
  const newest = before.at(-1) ?? null;
  return query.match === 'exact' && newest?.recordTime !== query.recordTime ? null : newest;
}

/** The first snapshot strictly after that time in that migration, else the first of the next migration that has one. */
export function snapshotAfter(
  { snapshots }: Oracle,
  { migrationId, recordTime }: { migrationId: number; recordTime: number },
): OracleSnapshot | null {
  const later = snapshots.find((snapshot) => {
    return snapshot.migrationId === migrationId && snapshot.recordTime > recordTime;
  });
  return later ?? snapshots.find((snapshot) => snapshot.migrationId > migrationId) ?? null;
}
