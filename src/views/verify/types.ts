import type { Database } from 'better-sqlite3';
import { formatTime, LEDGER_TIME_MAX } from '../../ledger/time.ts';

/** Something in views.db that contradicts the contracts or another table. */
export interface Difference {
  readonly table: string;
  /** The party; null where it concerns no owner. */
  readonly owner: string | null;
  /** Which snapshot, or the open interval; null where it concerns none. */
  readonly snapshot: string | null;
  /** What must be there; includes the row where owner and snapshot do not identify it. */
  readonly expected: string;
  readonly found: string;
}

/** One read transaction of the verification has ended; the next begins when the generator is resumed. */
export interface VerifyStep {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** A migration as it was when the verification began. What was sealed then never changes. */
export interface SealedMigration {
  readonly migrationId: number;
  /** The time of each sealed snapshot by its number. */
  readonly times: ReadonlyMap<bigint, bigint>;
  /** The numbers of those on the grid, in order. */
  readonly grid: readonly bigint[];
}

export interface VerifyContext {
  /** Its integers are read as bigints: a damaged file may have any. */
  readonly db: Database;
  readonly report: (difference: Difference) => void;
  /** About how many rows one read transaction reads: an owner is never split. */
  readonly rowsPerStep: number;
  readonly sealed: ReadonlyMap<bigint, SealedMigration>;
}

export type Differs = (expected: string, found: unknown) => void;

/** Reports what differs in a table where it concerns no owner, and perhaps one snapshot. */
export function differsIn(
  { report }: Pick<VerifyContext, 'report'>,
  table: string,
  snapshot: string | null = null,
): Differs {
  return (expected, found) => report({ table, owner: null, snapshot, expected, found: String(found) });
}

/** The value of a key, which is made where there is none. */
export function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** How many rows a table has. */
export function rowsOf(db: Database, table: string): number {
  return Number(db.prepare<[], bigint>(`SELECT count(*) FROM ${table}`).pluck().get());
}

/** Runs one step in a read transaction of its own, so that all it reads is of one moment. */
export function inOneMoment<T>(db: Database, step: () => T): T {
  return db.transaction(step).deferred();
}

/** Before every key of a table: a damaged one may have any. */
export const BEFORE_ALL = -(2n ** 63n);

/** Walks a table by its key in ranges of about `rowsPerStep` rows; equal keys are never split. */
export function* inRanges(
  { db, rowsPerStep }: VerifyContext,
  { table, key, phase = table }: { table: string; key: string; phase?: string },
  verify: (from: bigint, to: bigint) => void,
): Generator<VerifyStep> {
  const bound = db
    .prepare<[bigint, number], bigint>(`SELECT ${key} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`)
    .pluck();
  const total = rowsOf(db, table);
  let from: bigint | null = BEFORE_ALL;
  for (let done = 0; from !== null; done += rowsPerStep) {
    const start: bigint = from;
    from = inOneMoment(db, () => {
      const end = bound.get(start, rowsPerStep) ?? null;
      verify(start, end ?? 2n ** 63n - 1n);
      return end;
    });
    yield { phase, done: Math.min(done + rowsPerStep, total), total };
  }
}

export function snapshotName({ sealed }: Pick<VerifyContext, 'sealed'>, migrationId: bigint, seq: bigint): string {
  const time = sealed.get(migrationId)?.times.get(seq);
  return `migration ${migrationId}, ${time === undefined ? `interval ${seq}, not sealed yet` : timeText(time)}`;
}

export function isLedgerTime(time: bigint): boolean {
  return time >= 0n && time < BigInt(LEDGER_TIME_MAX);
}

/** A damaged time may be no time at all. */
export function timeText(time: bigint): string {
  return isLedgerTime(time) ? formatTime(time) : `time ${time}`;
}
