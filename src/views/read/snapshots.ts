import type { Database, Statement } from 'better-sqlite3';
import type { Snapshot, ViewsReader } from './types.ts';

interface Row {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
  readonly seq: bigint;
  readonly contracts: bigint;
  readonly owners: bigint;
  readonly unlocked: string;
  readonly locked: string;
}

/** A month of snapshots in the default period, at some 300 bytes each. */
const SNAPSHOTS_FOUND_MAX = 5_000;

type SnapshotReader = Pick<
  ViewsReader,
  'snapshotAt' | 'firstSnapshotAfter' | 'newestSnapshot' | 'newestSnapshots' | 'snapshots'
>;

/**
 * Look-ups of sealed snapshots. Times asked for may lie anywhere in the years 1-9999, so they are bigints. Why `? + 0`: see database.ts.
 */
export function createSnapshotReader(db: Database): SnapshotReader {
  const columns = `migration_id AS migrationId, record_time AS recordTime, seq, contracts, owners, unlocked, locked`;
  const prepare = <P extends unknown[]>(rest: string): Statement<P, Row> =>
    db.prepare<P, Row>(`SELECT ${columns} FROM snapshot ${rest}`).safeIntegers();
  const exact = prepare<[bigint, bigint]>('WHERE migration_id = ? AND record_time = ?');
  const timeBefore = db
    .prepare<[bigint, bigint], bigint>(
      'SELECT record_time FROM snapshot WHERE migration_id = ? + 0 AND record_time <= ? ORDER BY record_time DESC LIMIT 1',
    )
    .pluck()
    .safeIntegers();
  const after = prepare<[bigint, bigint]>(
    'WHERE migration_id = ? + 0 AND record_time > ? ORDER BY record_time LIMIT 1',
  );
  const larger = prepare<[bigint]>('WHERE migration_id > ? ORDER BY migration_id, record_time LIMIT 1');
  const newestOf = prepare<[bigint]>('WHERE migration_id = ? + 0 ORDER BY record_time DESC LIMIT 1');
  const newest = prepare<[]>(
    'WHERE migration_id = (SELECT max(migration_id) FROM snapshot) ORDER BY record_time DESC LIMIT 1',
  );
  const migrationIds = db
    .prepare<[], bigint>('SELECT migration_id FROM migration ORDER BY migration_id')
    .pluck()
    .safeIntegers();
  /** A sealed snapshot never changes, so one that was found once is found again without a look-up; the oldest found is forgotten first. */
  const found = new Map<string, Snapshot>();

  function snapshotAtExactly(migrationId: bigint, recordTime: bigint): Snapshot | null {
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
    snapshotAt({ migrationId, recordTime, match }) {
      const time = match === 'exact' ? recordTime : timeBefore.get(migrationId, recordTime);
      return time === undefined ? null : snapshotAtExactly(migrationId, time);
    },
    firstSnapshotAfter({ migrationId, recordTime }) {
      return snapshotOf(after.get(migrationId, recordTime) ?? larger.get(migrationId));
    },
    newestSnapshot(migrationId) {
      return snapshotOf(migrationId === undefined ? newest.get() : newestOf.get(migrationId));
    },
    newestSnapshots() {
      return migrationIds.all().flatMap((migrationId) => snapshotOf(newestOf.get(migrationId)) ?? []);
    },
    *snapshots() {
      // Prepared only for who asks for all of them: a server never does.
      for (const row of prepare<[]>('ORDER BY migration_id, record_time').iterate()) yield snapshotOf(row)!;
    },
  };
}

function snapshotOf(row: Row | undefined): Snapshot | null {
  if (row === undefined) return null;
  return {
    migrationId: Number(row.migrationId),
    recordTime: Number(row.recordTime),
    seq: Number(row.seq),
    contracts: Number(row.contracts),
    owners: Number(row.owners),
    unlocked: BigInt(row.unlocked),
    locked: BigInt(row.locked),
  };
}
