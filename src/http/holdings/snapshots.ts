import { formatTime } from '../../ledger/time.ts';
import type { Snapshot, ViewsReader } from '../../views/read/types.ts';
import { HttpFault } from '../server/http-fault.ts';
import type { SnapshotQuery, TimeQuery } from './requests.ts';

/** The snapshot that a request names. Throws a 404 where there is none. */
export function findSnapshot(views: ViewsReader, query: SnapshotQuery): Snapshot {
  const snapshot = views.snapshotAt(query);
  if (snapshot !== null) return snapshot;
  const time = formatTime(query.recordTime);
  if (query.match === 'at_or_before') throw new HttpFault(404, `No snapshots found before ${time}`);
  throw new HttpFault(404, `Failed to find ACS snapshot for migration id ${query.migrationId} at ${time}`);
}

/** The record time of the newest snapshot at or before a time, in that migration only. */
export function answerSnapshotBefore(views: ViewsReader, query: TimeQuery): { record_time: string } {
  const snapshot = findSnapshot(views, { ...query, match: 'at_or_before' });
  return { record_time: formatTime(snapshot.recordTime) };
}

/** The record time of the first snapshot strictly after a time; a larger migration is asked where this one has none. */
export function answerSnapshotAfter(views: ViewsReader, query: TimeQuery): { record_time: string } {
  const snapshot = views.firstSnapshotAfter(query);
  if (snapshot === null) throw new HttpFault(404, `No snapshots found after ${formatTime(query.recordTime)}`);
  return { record_time: formatTime(snapshot.recordTime) };
}

export function answerLastMigration(views: ViewsReader): { migration_id: number } {
  const migrationId = views.lastMigration();
  if (migrationId === null) throw new HttpFault(404, 'No migrations found');
  return { migration_id: migrationId };
}
