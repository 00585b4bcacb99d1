import type { Database, Statement } from 'better-sqlite3';
import type {
  FactKind,
  Facts,
  ListedSnapshotsLookup,
  Lookup,
  SealedMigration,
  SealedSnapshot,
  SnapshotChoice,
  SnapshotPlace,
} from '../../holdings/facts.ts';
import type { TimeQuery } from '../../holdings/question.ts';
import { gridOf, multiplesWithin } from '../../holdings/snapshot-grid.ts';

/** A month of snapshots in the default period, at some 300 bytes each. */
const SNAPSHOTS_FOUND_MAX = 5_000;

/** How many more rows may be read; Infinity for no bound. */
export interface RowBudget {
  rows: number;
}

/** Thrown where a read would exceed its budget of rows: no fault, but it must be answered by a reader thread. */
export const NOT_BOUNDED = new Error('this read is not bounded by its question');

export const UNBOUNDED: RowBudget = { rows: Infinity };

/** Takes rows from what is left of a budget. Throws NOT_BOUNDED. */
export function takeRows(budget: RowBudget, rows = 1): void {
  budget.rows -= rows;
  if (budget.rows < 0) throw NOT_BOUNDED;
}

/** For reads whose number of rows is not known beforehand. */
export function requireUnbounded({ rows }: RowBudget): void {
  if (rows !== Infinity) throw NOT_BOUNDED;
}

/** A read for which that is so. */
export function unbounded<L, F>(read: (lookup: L) => F): (lookup: L, budget: RowBudget) => F {
  return (lookup, budget) => {
    requireUnbounded(budget);
    return read(lookup);
  };
}

export type ReadKinds<Kind extends FactKind> = {
  readonly [K in Kind]: (lookup: Lookup<K>, budget: RowBudget) => Facts<K>;
};

/** The end of an interval: its number within its migration, and the epoch that was the newest when it was sealed. */
export interface IntervalEnd {
  readonly seq: number;
  readonly epoch: number;
}

export const BEGINNING: IntervalEnd = { seq: 0, epoch: 0 };

export interface StoredSnapshot extends SealedSnapshot, IntervalEnd {}

/** A row's contract id as text, which SQLite orders by its UTF-8 bytes; where it is stored as bytes, they are lower-case hex. */
export const ID_TEXT = "CASE typeof(contract_id) WHEN 'blob' THEN lower(hex(contract_id)) ELSE contract_id END";

type DigestName = 'changesDigest' | 'digest' | 'tokensChangesDigest' | 'tokensDigest';

type SnapshotRow = Omit<StoredSnapshot, 'forced' | 'unlocked' | 'locked' | DigestName> &
  Readonly<Record<'unlocked' | 'locked', string> & Record<DigestName, Buffer | null>> & {
    readonly forced: number;
  };

export type SnapshotReader = ReturnType<typeof createSnapshotReader>;

/** Rows of sealed snapshots; `rest` says which. */
export function prepareSnapshots<P extends unknown[], Row = SnapshotRow>(
  db: Database,
  rest: string,
): Statement<P, Row> {
  return db.prepare<P, Row>(
    `SELECT migration_id AS migrationId, record_time AS recordTime, s.seq AS seq, no, epoch, update_no AS updateNo, forced,
       coalesce(contracts, 0) AS contracts, coalesce(owners, 0) AS owners,
       coalesce(unlocked, '0') AS unlocked, coalesce(locked, '0') AS locked, changes_digest AS changesDigest, digest,
       tokens_changes_digest AS tokensChangesDigest, tokens_digest AS tokensDigest
     FROM snapshot s LEFT JOIN migration USING (migration_id)
     LEFT JOIN supply u ON u.instrument = coin
       AND u.seq = (SELECT seq FROM supply WHERE instrument = coin AND seq <= s.seq ORDER BY seq DESC LIMIT 1) ${rest}`,
  );
}

export function snapshotOf(row: SnapshotRow | undefined): StoredSnapshot | null {
  if (row === undefined) return null;
  return {
    ...row,
    forced: row.forced === 1,
    unlocked: BigInt(row.unlocked),
    locked: BigInt(row.locked),
    changesDigest: row.changesDigest?.toString('hex') ?? null,
    digest: row.digest?.toString('hex') ?? null,
    tokensChangesDigest: row.tokensChangesDigest?.toString('hex') ?? null,
    tokensDigest: row.tokensDigest?.toString('hex') ?? null,
  };
}

/** Look-ups and lists of sealed snapshots. Requested times may be of any year from 1 to 9999, so they are bigints. */
export function createSnapshotReader(db: Database) {
  const exact = prepareSnapshots<[number | bigint, number | bigint]>(
    db,
    'WHERE migration_id = ? + 0 AND record_time = ? + 0',
  );
  const timeBefore = db
    .prepare<[bigint, bigint], number>(
      'SELECT record_time FROM snapshot WHERE migration_id = ? + 0 AND record_time <= ? ORDER BY record_time DESC LIMIT 1',
    )
    .pluck();
  const after = prepareSnapshots<[bigint, bigint]>(
    db,
    'WHERE migration_id = ? + 0 AND record_time > ? ORDER BY record_time LIMIT 1',
  );
  const larger = prepareSnapshots<[bigint]>(db, 'WHERE migration_id > ? ORDER BY migration_id, record_time LIMIT 1');
  // `? + 0`: see views/store/database.ts.
  const newestOf = prepareSnapshots<[bigint]>(db, 'WHERE migration_id = ? + 0 ORDER BY record_time DESC LIMIT 1');
  const lastMigration = db.prepare<[], number | null>('SELECT max(migration_id) FROM migration').pluck();
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration ORDER BY migration_id').pluck();
  const newestSealed = db.prepare<[], bigint | null>('SELECT max(migration_id) FROM snapshot').pluck().safeIntegers();
  // An import without its marker has no snapshot.
  const factsOf = db.prepare<[number], Pick<SealedMigration, 'periodUs' | 'dso' | 'importedAt' | 'movementsSince'>>(
    `SELECT period AS periodUs, dso, seeded_at AS importedAt, movements_since AS movementsSince
     FROM setting LEFT JOIN migration ON migration_id = ?`,
  );
  const oldestOf = prepareSnapshots<[bigint]>(db, 'WHERE migration_id = ? + 0 ORDER BY record_time LIMIT 1');
  const between = (order: string) =>
    prepareSnapshots<[number, number, number, number]>(
      db,
      `WHERE migration_id = ? + 0 AND record_time BETWEEN ? AND ? ORDER BY record_time ${order} LIMIT ?`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  /** Sealed snapshots never change, so those found are cached; the oldest entry is dropped first. */
  const found = new Map<string, StoredSnapshot>();

  function findExactly(migrationId: bigint, recordTime: bigint): StoredSnapshot | null {
    const key = `${migrationId} ${recordTime}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const snapshot = snapshotOf(exact.get(migrationId, recordTime));
    if (snapshot === null) return null;
    if (found.size >= SNAPSHOTS_FOUND_MAX) found.delete(found.keys().next().value!);
    found.set(key, snapshot);
    return snapshot;
  }

  function find({ migrationId, recordTime, match }: SnapshotChoice): StoredSnapshot | null {
    const migration = migrationId ?? lastMigration.get();
    if (migration === undefined || migration === null) return null;
    if (recordTime === null) return snapshotOf(newestOf.get(BigInt(migration)));
    const time = match === 'exact' ? recordTime : timeBefore.get(BigInt(migration), recordTime);
    return time === undefined ? null : findExactly(BigInt(migration), BigInt(time));
  }

  function migration(wanted: bigint | null): SealedMigration | null {
    const migrationId = wanted ?? newestSealed.get() ?? null;
    const newest = migrationId === null ? null : snapshotOf(newestOf.get(migrationId));
    if (migrationId === null || newest === null) return null;
    const oldest = snapshotOf(oldestOf.get(migrationId))!;
    return { migrationId: newest.migrationId, ...factsOf.get(newest.migrationId)!, oldest, newest };
  }

  /** Those at the multiples of a time, whose record times are known, so no other is read. */
  function listEvery(every: number, { migrationId, order, rows, ...lookup }: ListedSnapshotsLookup): StoredSnapshot[] {
    const grid = gridOf(migration(BigInt(migrationId))!);
    const range = { from: Math.max(lookup.from, grid.from), to: Math.min(lookup.to, grid.to) };
    const { from, to } = multiplesWithin(range, every);
    const listed: StoredSnapshot[] = [];
    for (let past = 0; from + past <= to && listed.length < rows; past += every)
      listed.push(snapshotOf(exact.get(migrationId, order === 'asc' ? from + past : to - past))!);
    return listed;
  }

  return {
    find,
    /** One that exists. */
    require({ migrationId, recordTime }: SnapshotPlace): StoredSnapshot {
      const choice = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
      const snapshot = find(choice);
      if (snapshot === null) throw new Error(`migration ${migrationId} has no snapshot at ${recordTime}`);
      return snapshot;
    },
    after: ({ migrationId, recordTime }: TimeQuery) =>
      snapshotOf(after.get(migrationId, recordTime) ?? larger.get(migrationId)),
    newest: () => migrationIds.all().flatMap((migrationId) => snapshotOf(newestOf.get(BigInt(migrationId))) ?? []),
    // Prepared when first needed: a server never lists all of them.
    all: () =>
      prepareSnapshots<[]>(db, 'ORDER BY migration_id, record_time')
        .all()
        .map((row) => snapshotOf(row)!),
    lastMigration: () => lastMigration.get() ?? null,
    /** A migration that has a snapshot. Null: the newest one. */
    migration,
    list(lookup: ListedSnapshotsLookup): readonly StoredSnapshot[] {
      const { migrationId, from, to, every, order, rows } = lookup;
      if (every !== null) return listEvery(every, lookup);
      return inOrder[order].all(migrationId, from, to, rows).map((row) => snapshotOf(row)!);
    },
  };
}

/** The sealed snapshots of a migration's grid, by their times and numbers. */
export interface SealedGrid {
  /** The snapshot of the grid before a time of the grid; BEGINNING where that is the first. */
  before(time: number): IntervalEnd;
  at(time: number): IntervalEnd;
  /** The first in or after an interval; null where none is sealed. */
  find(seq: number): { readonly time: number; readonly seq: number } | null;
}

/** Null where nothing of its grid is sealed. */
export function createGridReader(db: Database): (migration: SealedMigration) => SealedGrid | null {
  const endOf = db.prepare<[number, number], IntervalEnd>(
    'SELECT seq, epoch FROM snapshot WHERE migration_id = ? AND record_time = ?',
  );
  return (migration) => {
    const { migrationId } = migration;
    const { from, to, step } = gridOf(migration);
    if (from > to) return null;
    const at = (time: number) => {
      const end = endOf.get(migrationId, time);
      if (end === undefined) throw new Error(`migration ${migrationId} has no snapshot at ${time} of its grid`);
      return { time, ...end };
    };
    const [first, last] = [at(from), at(to)];
    return {
      before: (time) => (time <= from ? BEGINNING : at(time - step)),
      at,
      // A binary search: where nothing was forced between two snapshots of the grid, those between are numbered in steps.
      find(seq) {
        if (seq > last.seq) return null;
        let [low, high] = [first, last];
        for (;;) {
          const steps = (high.time - low.time) / step;
          if (seq <= low.seq) return low;
          if (high.seq - low.seq === steps) return { time: low.time + (seq - low.seq) * step, seq };
          if (steps === 1) return high;
          const middle = at(low.time + Math.floor(steps / 2) * step);
          if (seq <= middle.seq) high = middle;
          else low = middle;
        }
      },
    };
  };
}
