import { parseInt64 } from '../../json/int64.ts';
import { formatTime, parseRequestTime } from '../../ledger/time.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Change } from './facts.ts';
import { changeRow, type Row, snapshotRow } from './rows.ts';

/** The id of a snapshot's event, by which a client resumes. */
export function eventId({ migrationId, recordTime }: Snapshot): string {
  return `${migrationId} ${formatTime(recordTime)}`;
}

/** Null for a text that no event can have as its id. */
export function parseEventId(text: string): { readonly migrationId: bigint; readonly recordTime: bigint } | null {
  const [migration = '', time = '', ...others] = text.split(' ');
  const [migrationId, recordTime] = [parseInt64(migration), parseRequestTime(time)];
  return migrationId === null || recordTime === null || others.length > 0 ? null : { migrationId, recordTime };
}

/** `skipped`: others of its migration before it were left out. */
export function snapshotEvent(snapshot: Snapshot, { skipped }: { readonly skipped: boolean }): Row {
  return { migration_id: snapshot.migrationId, ...snapshotRow(snapshot), ...(skipped ? { skipped } : {}) };
}

export function ownerEvent(migrationId: number, party: string, change: Change): Row {
  return { migration_id: migrationId, party_id: party, ...changeRow(change) };
}
