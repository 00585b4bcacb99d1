import type { Database, Statement } from 'better-sqlite3';
import type { SealedSnapshot, SnapshotChoice } from '../../holdings/facts.ts';
import type { TimeQuery } from '../../holdings/question.ts';

/** A month of snapshots in the default period, at some 300 bytes each. */
const SNAPSHOTS_FOUND_MAX = 5_000;

/** `seq` is the snapshot's number within its migration. */
export interface StoredSnapshot extends SealedSnapshot {
  readonly seq: number;
}

interface SnapshotRow extends Omit<StoredSnapshot, 'forced' | 'unlocked' | 'locked' | 'changesDigest' | 'digest'> {
  readonly forced: number;
  readonly unlocked: string;
  readonly locked: string;
  readonly changesDigest: Buffer | null;
  readonly digest: Buffer | null;
}

export interface SnapshotReader {
  find(choice: SnapshotChoice): StoredSnapshot | null;
  after(query: TimeQuery): StoredSnapshot | null;
  newest(): readonly StoredSnapshot[];
  all(): readonly StoredSnapshot[];
  /** The largest migration seen. */
  lastMigration(): number | null;
}

/** Rows of sealed snapshots; `rest` says which. */
export function prepareSnapshots<P extends unknown[]>(db: Database, rest: string): Statement<P, SnapshotRow> {
  const columns = `migration_id AS migrationId, record_time AS recordTime, seq, no, forced, contracts, owners,
    unlocked, locked, changes_digest AS changesDigest, digest`;
  return db.prepare<P, SnapshotRow>(`SELECT ${columns} FROM snapshot ${rest}`);
}

/**
 * Look-ups of sealed snapshots. Requested times may be of any year from 1 to 9999, so they are bigints. For `? + 0` see
 * views/store/database.ts.
 */
export function createSnapshotReader(db: Database): SnapshotReader {
  const prepare = <P extends unknown[]>(rest: string) => prepareSnapshots<P>(db, rest);
  const exact = prepare<[bigint, bigint]>('WHERE migration_id = ? AND record_time = ?');
  const timeBefore = db
    .prepare<[bigint, bigint], number>(
      'SELECT record_time FROM snapshot WHERE migration_id = ? + 0 AND record_time <= ? ORDER BY record_time DESC LIMIT 1',
    )
    .pluck();
  const after = prepare<[bigint, bigint]>(
    'WHERE migration_id = ? + 0 AND record_time > ? ORDER BY record_time LIMIT 1',
  );
  const larger = prepare<[bigint]>('WHERE migration_id > ? ORDER BY migration_id, record_time LIMIT 1');
  const newestOf = prepare<[bigint]>('WHERE migration_id = ? + 0 ORDER BY record_time DESC LIMIT 1');
  const lastMigration = db.prepare<[], number | null>('SELECT max(migration_id) FROM migration').pluck();
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration ORDER BY migration_id').pluck();
  /** Sealed snapshots never change, so those found are cached; the oldest entry is dropped first. */
  const found = new Map<string, StoredSnapshot>();

  function snapshotAtExactly(migrationId: bigint, recordTime: bigint): StoredSnapshot | null {
    const key = `${migrationId} ${recordTime}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const snapshot = snapshotOf(exact.get(migrationId, recordTime));
    if (snapshot === null) return null;
    if (found.size >= SNAPSHOTS_FOUND_MAX) found.delete(found.keys().next().value!);
    found.set(key, snapshot);
    return snapshot;
  }

  return {
    find({ migrationId, recordTime, match }) {
      const migration = migrationId ?? lastMigration.get();
      if (migration === undefined || migration === null) return null;
      if (recordTime === null) return snapshotOf(newestOf.get(BigInt(migration)));
      const time = match === 'exact' ? recordTime : timeBefore.get(BigInt(migration), recordTime);
      return time === undefined ? null : snapshotAtExactly(BigInt(migration), BigInt(time));
    },
    after: ({ migrationId, recordTime }) => snapshotOf(after.get(migrationId, recordTime) ?? larger.get(migrationId)),
    newest: () => migrationIds.all().flatMap((migrationId) => snapshotOf(newestOf.get(BigInt(migrationId))) ?? []),
    // Prepared when first needed: a server never lists all of them.
    all: () =>
      prepare<[]>('ORDER BY migration_id, record_time')
        .all()
        .map((row) => snapshotOf(row)!),
    lastMigration: () => lastMigration.get() ?? null,
  };
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
  };
}
