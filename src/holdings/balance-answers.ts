import { formatTime } from '../ledger/time.ts';
import type { HoldingsStore } from './facts.ts';
import { HoldingsFault, requireFollowed } from './holdings-fault.ts';
import { instrumentIn } from './instrument-answers.ts';
import { findHistory, requireKept } from './movement-answers.ts';
import type { UpdateHistory } from './movement-facts.ts';
import type { BalancesQuery, TableQuery } from './table-question.ts';
import { type Table, totalsFields } from './table-rows.ts';

/** What an owner has at any time, or now. Rejects with a HoldingsFault. */
export async function balanceTable(query: TableQuery<'balance'>, store: HoldingsStore): Promise<Table> {
  const { party, migration_id, at } = query;
  const instrument = instrumentIn(query);
  const history = await findHistory(store, migration_id, instrument);
  const { migrationId, sealedTo } = history;
  if (at !== null) await requireTime(at, history, store);
  const lookup = { kind: 'balance', migrationId, instrument, party, at: at === null ? null : Number(at) } as const;
  const balance = await store.facts(lookup);
  const { contracts, snapshot, movementsSinceSnapshot } = balance;
  const time = formatTime(balance.at);
  const row = {
    party_id: party,
    migration_id: migrationId,
    at: time,
    applied_to: formatTime(balance.appliedTo),
    ...totalsFields(balance),
    contracts,
    snapshot: snapshot === null ? null : formatTime(snapshot),
    movements_since_snapshot: movementsSinceSnapshot,
  };
  const fixed = migration_id !== null && at !== null && at <= BigInt(sealedTo ?? -1);
  return { head: {}, rowsName: null, rows: [row], fixed, about: [party, `migration ${migrationId}`, time] };
}

/** Throws the fault of a time at which the store has no balance; it has one at each snapshot. */
async function requireTime(at: bigint, history: UpdateHistory, store: HoldingsStore): Promise<void> {
  const { begin, appliedTo, movementsSince } = history;
  const migrationId = BigInt(history.migrationId);
  if (at > BigInt(appliedTo))
    throw outside(at, `at or before ${formatTime(appliedTo)}: migration ${migrationId} is read up to there`);
  if (at >= BigInt(movementsSince ?? begin)) return;
  const snapshot = { migrationId, recordTime: at, match: 'exact' } as const;
  if ((await store.facts({ kind: 'snapshot', snapshot })) !== null) return;
  requireKept(history, 'at', at);
  throw outside(at, `at or after ${formatTime(begin)}: migration ${migrationId} begins there`);
}

function outside(at: bigint, expected: string): HoldingsFault {
  return new HoldingsFault('no_such_time', `at: given ${formatTime(at)}, expected a time ${expected}`);
}

/** Limits of a question: so many rows at most. */
export const BALANCE_TIMES_MAX = 100;
export const BALANCE_OWNERS_MAX = 1_000;
/** Of an answer that is sent in parts; about a megabyte. */
const PART_ROWS = 5_000;

/** What some owners have at some times. All times are judged with the first part. Rejects with a HoldingsFault. */
export async function balancesTable(query: BalancesQuery, store: HoldingsStore): Promise<Table> {
  const { at, owners, after } = query;
  const [migrationId, untilNo, done] =
    after === null ? await firstPart(query, store) : (JSON.parse(after) as PartStart);
  const times = at.slice(done, done + Math.max(1, Math.floor(PART_ROWS / owners.length)));
  const lookup = { kind: 'balances', migrationId, instrument: instrumentIn(query), at: times.map(Number) } as const;
  const balances = await store.facts({ ...lookup, owners, untilNo });
  const answered = done + times.length;
  return {
    head: { migration_id: migrationId },
    rowsName: 'balances',
    rows: balances.map((balance, i) => ({
      at: formatTime(times[Math.floor(i / owners.length)]!),
      party_id: owners[i % owners.length],
      ...totalsFields(balance),
    })),
    rest: answered === at.length ? null : JSON.stringify([migrationId, untilNo, answered]),
    fixed: false,
    about: [],
  };
}

/** The migration, the last update that counts, which is that of all parts, and how many times are answered. */
type PartStart = readonly [migrationId: number, untilNo: number, done: number];

async function firstPart(query: BalancesQuery, store: HoldingsStore): Promise<PartStart> {
  const { migration_id, at, owners } = query;
  await requireFollowed(store, owners);
  const history = await findHistory(store, migration_id, instrumentIn(query));
  for (const time of at) await requireTime(time, history, store);
  return [history.migrationId, history.lastUpdateNo, 0];
}
