import { formatTime } from '../ledger/time.ts';
import type { SnapshotChoice } from './facts.ts';
import { HoldingsFault } from './fault.ts';
import type { TimeQuery } from './question.ts';
import type { Snapshot } from './snapshot.ts';

/** Why the requested snapshot does not exist. */
export function snapshotFault({ migrationId, recordTime, match }: SnapshotChoice): HoldingsFault {
  const named = (words: string): string => (migrationId === null ? 'the largest migration' : `${words} ${migrationId}`);
  if (recordTime === null) return new HoldingsFault('no_snapshot_in', `No snapshots found in ${named('migration')}`);
  const time = formatTime(recordTime);
  if (match === 'at_or_before') return new HoldingsFault('no_snapshot_before', `No snapshots found before ${time}`);
  const place = `${named('migration id')} at ${time}`;
  return new HoldingsFault('no_snapshot_at', `Failed to find ACS snapshot for ${place}`);
}

/** The record time of the newest snapshot at or before a time. */
export function snapshotBefore(query: TimeQuery, found: Snapshot | null): { record_time: string } {
  if (found === null) throw snapshotFault({ ...query, match: 'at_or_before' });
  return { record_time: formatTime(found.recordTime) };
}

/** The record time of the first snapshot strictly after a time. */
export function snapshotAfter({ recordTime }: TimeQuery, found: Snapshot | null): { record_time: string } {
  if (found === null)
    throw new HoldingsFault('no_snapshot_after', `No snapshots found after ${formatTime(recordTime)}`);
  return { record_time: formatTime(found.recordTime) };
}

export function lastMigration(found: number | null): { migration_id: number } {
  if (found === null) throw new HoldingsFault('no_migration', 'No migrations found');
  return { migration_id: found };
}

export function dsoPartyId(found: string | null): { dso_party_id: string } {
  if (found === null) throw new HoldingsFault('no_dso', 'No DSO found');
  return { dso_party_id: found };
}
