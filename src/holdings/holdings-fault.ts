import { formatTime } from '../ledger/time.ts';
import type { HoldingsStore, SnapshotChoice } from './facts.ts';

/** Why a question has no answer. Each caller has its own table of what that means there (a status, an exit code). */
export type HoldingsFaultCode =
  | 'no_snapshot_in'
  | 'no_snapshot_at'
  | 'no_snapshot_before'
  | 'no_snapshot_after'
  | 'no_migration'
  | 'no_dso'
  | 'no_open_round'
  | 'not_followed'
  | 'unknown_token'
  /** A parameter does not fit these views. */
  | 'wrong_parameter'
  | 'page_too_large'
  | 'number_too_large'
  /** The read took longer than its time limit. */
  | 'read_too_long'
  /** The read was not begun: too many others are waiting, it waited too long, or the client has gone. */
  | 'not_begun'
  /** The store cannot be reached, or has not the form of this version. */
  | 'store_unavailable';

/** The message is for people, and uses the field names of the HTTP operations. */
export class HoldingsFault extends Error {
  readonly code: HoldingsFaultCode;

  constructor(code: HoldingsFaultCode, message: string) {
    super(message);
    this.name = 'HoldingsFault';
    this.code = code;
  }
}

/** Why the requested snapshot does not exist. */
export function snapshotFault({ migrationId, recordTime, match }: SnapshotChoice): HoldingsFault {
  const named = (words: string): string => (migrationId === null ? 'the largest migration' : `${words} ${migrationId}`);
  if (recordTime === null) return new HoldingsFault('no_snapshot_in', `No snapshots found in ${named('migration')}`);
  const time = formatTime(recordTime);
  if (match === 'at_or_before') return new HoldingsFault('no_snapshot_before', `No snapshots found before ${time}`);
  const where = `${named('migration id')} at ${time}`;
  return new HoldingsFault('no_snapshot_at', `Failed to find ACS snapshot for ${where}`);
}

/** Rejects with a HoldingsFault where a party is not followed, because its sums would be partial (docs/rules.md, rule 14). */
export async function requireFollowed(store: HoldingsStore, parties: readonly string[]): Promise<void> {
  const { others } = await store.facts({ kind: 'followed', parties });
  if (others.length > 0) throw notFollowed(others);
}

const NAMED_MAX = 3;

export function notFollowed(parties: readonly string[]): HoldingsFault {
  const more = parties.length > NAMED_MAX ? ` and ${parties.length - NAMED_MAX} more` : '';
  return new HoldingsFault(
    'not_followed',
    `${parties.slice(0, NAMED_MAX).join(', ')}${more}: not followed here: this service reads a participant, and counts the coins of ` +
      'the parties of --ledger-api-parties only',
  );
}
