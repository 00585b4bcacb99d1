import { formatTime } from '../ledger/time.ts';
import type { BalanceFacts } from './balance-facts.ts';
import type { HoldingsStore } from './facts.ts';
import { HoldingsFault, requireFollowed } from './holdings-fault.ts';
import { findHistory, requireKept } from './movement-answers.ts';
import type { UpdateHistory } from './movement-facts.ts';
import type { BalanceQuery } from './table-question.ts';
import { csvText, type Row, type Table, totalsFields } from './table-rows.ts';

/** What an owner has at any time, or now. Rejects with a HoldingsFault. */
export async function balanceTable({ party, migration_id, at }: BalanceQuery, store: HoldingsStore): Promise<Table> {
  const history = await findHistory(store, migration_id);
  const { migrationId, sealedTo } = history;
  if (at !== null) await requireTime(at, history, store);
  const place = { migrationId, party, at: at === null ? null : Number(at) };
  const balance = await store.facts({ kind: 'balance', ...place });
  return {
    head: {},
    rowsName: null,
    columns: BALANCE_COLUMNS,
    rows: [balanceRow(balance, place)],
    fixed: migration_id !== null && at !== null && at <= BigInt(sealedTo ?? -1),
    about: [party, `migration ${migrationId}`, formatTime(balance.at)],
  };
}

function balanceRow(balance: BalanceFacts, { party, migrationId }: { party: string; migrationId: number }): Row {
  const { at, appliedTo, contracts, snapshot, movementsSinceSnapshot } = balance;
  return {
    party_id: party,
    migration_id: migrationId,
    at: formatTime(at),
    applied_to: formatTime(appliedTo),
    ...totalsFields(balance),
    contracts,
    snapshot: snapshot === null ? null : formatTime(snapshot),
    movements_since_snapshot: movementsSinceSnapshot,
  };
}

const NOTHING = { unlocked: 0n, locked: 0n, at: 0, appliedTo: 0, contracts: 0 };
const BALANCE_COLUMNS = Object.keys(
  balanceRow({ ...NOTHING, snapshot: null, movementsSinceSnapshot: 0 }, { party: '', migrationId: 0 }),
);

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

/** What some owners have at some times. Plain values, so that it can be sent to another thread. */
export interface BalancesQuestion {
  readonly form: 'json' | 'csv';
  readonly migrationId: bigint | null;
  /** Distinct, in the order asked, as are the owners. */
  readonly at: readonly bigint[];
  readonly owners: readonly string[];
  /** Where the part begins; null: the first one. */
  readonly after: {
    /** Times that are answered. */
    readonly times: number;
    readonly migrationId: number;
    /** The last update that had been applied when the first part was made: no part has a later one. */
    readonly untilNo: number;
  } | null;
}

/** The texts of all parts, one after the other, are the answer. */
export interface BalancesPart {
  readonly text: string;
  /** The question for the next part; null at the end. */
  readonly next: BalancesQuestion | null;
}

/** A part of an answer of any size. All times are judged with the first one. Rejects with a HoldingsFault. */
export async function balancesPart(question: BalancesQuestion, store: HoldingsStore): Promise<BalancesPart> {
  const { form, at, owners, after } = question;
  const { times: done, migrationId, untilNo } = after ?? (await firstPart(question, store));
  const times = at.slice(done, done + Math.max(1, Math.floor(PART_ROWS / owners.length)));
  const lookup = { kind: 'balances', migrationId, at: times.map(Number), owners, untilNo } as const;
  const balances = await store.facts(lookup);
  const rows = balances.map((balance, i) => ({
    at: formatTime(times[Math.floor(i / owners.length)]!),
    party_id: owners[i % owners.length],
    ...totalsFields(balance),
  }));
  const answered = done + times.length;
  const isLast = answered === at.length;
  const next = isLast ? null : { ...question, after: { times: answered, migrationId, untilNo } };
  if (form === 'csv') return { text: csvText({ columns: Object.keys(rows[0]!), rows }, after === null), next };
  const start = after === null ? `{"migration_id":${migrationId},"balances":[` : ',';
  return { text: `${start}${JSON.stringify(rows).slice(1, -1)}${isLast ? ']}' : ''}`, next };
}

async function firstPart(
  { migrationId, at, owners }: BalancesQuestion,
  store: HoldingsStore,
): Promise<NonNullable<BalancesQuestion['after']>> {
  await requireFollowed(store, owners);
  const history = await findHistory(store, migrationId);
  for (const time of at) await requireTime(time, history, store);
  return { times: 0, migrationId: history.migrationId, untilNo: history.lastUpdateNo };
}
