import type { SealedSnapshot, SnapshotChoice } from '../holdings/facts.ts';
import type { TimeQuery } from '../holdings/question.ts';
import type { Ask } from './pool.ts';

export interface StoredSnapshot extends SealedSnapshot {
  readonly seq: number;
}

/** Look-ups of sealed snapshots, of a store with this period. Times that are requested may be of any year. */
export function createSnapshotReader(ask: Ask, periodUs: number) {
  const period = BigInt(periodUs);

  const rows = (rest: string, values: readonly unknown[] = []): Promise<readonly StoredSnapshot[]> =>
    ask(
      `SELECT migration_id AS "migrationId", seq * ${period} AS "recordTime", seq, no, false AS forced, coins AS contracts, owners,
         trunc(unlocked * 10000000000) AS unlocked, trunc(locked * 10000000000) AS locked,
         encode(changes_digest, 'hex') AS "changesDigest", encode(digest, 'hex') AS digest
       FROM snapshot ${rest}`,
      values,
    );
  const first = async (rest: string, values: readonly unknown[] = []): Promise<StoredSnapshot | null> =>
    (await rows(`${rest} LIMIT 1`, values))[0] ?? null;

  /** The largest migration seen. */
  async function lastMigration(): Promise<number | null> {
    const [row] = await ask<{ last: number | null }>('SELECT max(migration_id) AS last FROM snapshot_control');
    return row!.last;
  }

  return {
    rows,
    first,
    lastMigration,
    async find({ migrationId, recordTime, match }: SnapshotChoice): Promise<StoredSnapshot | null> {
      const migration = migrationId ?? (await lastMigration());
      if (migration === null) return null;
      const newest = 'ORDER BY seq DESC';
      if (recordTime === null) return first(`WHERE migration_id = $1::bigint ${newest}`, [migration]);
      const seq = floorDiv(recordTime, period);
      if (match === 'exact' && seq * period !== recordTime) return null;
      const operator = match === 'exact' ? '=' : '<=';
      return first(`WHERE migration_id = $1::bigint AND seq ${operator} $2::bigint ${newest}`, [migration, seq]);
    },
    async after({ migrationId, recordTime }: TimeQuery): Promise<StoredSnapshot | null> {
      const within = 'WHERE migration_id = $1::bigint AND seq > $2::bigint ORDER BY seq';
      const larger = 'WHERE migration_id > $1::bigint ORDER BY migration_id, seq';
      return (await first(within, [migrationId, floorDiv(recordTime, period)])) ?? first(larger, [migrationId]);
    },
    newest: () =>
      rows('WHERE (migration_id, seq) IN (SELECT migration_id, max(seq) FROM snapshot GROUP BY 1) ORDER BY 1'),
    all: () => rows('ORDER BY migration_id, seq'),
  };
}

export type SnapshotReader = ReturnType<typeof createSnapshotReader>;

function floorDiv(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by;
}
