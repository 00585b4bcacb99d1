import { formatTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import type { HoldingsStore, Snapshot, SnapshotChoice } from './facts.ts';
import type { PageStart } from './table-question.ts';

/** Why a question has no answer, by kind. Each caller has its own table of what a kind means there (a status, an exit code). */
export const FAULT_KINDS = {
  no_snapshot_in: 'missing',
  no_snapshot_at: 'missing',
  no_snapshot_before: 'missing',
  no_snapshot_after: 'missing',
  no_migration: 'missing',
  no_update: 'missing',
  no_instrument: 'missing',
  /** A time at which the store has no balance, or from before movements were kept. */
  no_such_time: 'missing',
  /** The store in PostgreSQL keeps no movements. */
  not_kept: 'unsupported',
  no_dso: 'missing',
  no_open_round: 'unanswerable',
  not_followed: 'refused',
  unknown_token: 'unanswerable',
  /** A parameter does not fit these views. */
  wrong_parameter: 'refused',
  page_too_large: 'unanswerable',
  number_too_large: 'unanswerable',
  /** The read took longer than its time limit. */
  read_too_long: 'unavailable',
  /** The read was not begun: too many others are waiting, it waited too long, or the client has gone. */
  not_begun: 'unavailable',
  /** The store cannot be reached, or has not the form of this version. */
  store_unavailable: 'unavailable',
} as const;
type FaultCode = keyof typeof FAULT_KINDS;
export type FaultKind = (typeof FAULT_KINDS)[FaultCode];

/** The message is for people, and uses the field names of the HTTP operations. */
export class HoldingsFault extends Error {
  readonly code: FaultCode;
  /** The time of a snapshot that could be asked for. */
  readonly nearest: string | undefined;

  constructor(code: FaultCode, message: string, nearest?: string) {
    super(message);
    this.name = 'HoldingsFault';
    this.code = code;
    this.nearest = nearest;
  }
}

/** Why the requested snapshot does not exist; `oldest` is the first there is of that migration, where it is known. */
export function snapshotFault({ migrationId, recordTime, match }: SnapshotChoice, oldest?: Snapshot): HoldingsFault {
  const named = (words: string): string => (migrationId === null ? 'the largest migration' : `${words} ${migrationId}`);
  if (recordTime === null) return new HoldingsFault('no_snapshot_in', `No snapshots found in ${named('migration')}`);
  const time = formatTime(recordTime);
  const nearest = oldest && formatTime(oldest.recordTime);
  if (match === 'at_or_before')
    return new HoldingsFault('no_snapshot_before', `No snapshots found before ${time}`, nearest);
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

/** The fault of a token that no page of these views can have had. */
export function unknownToken({ migrationId, snapshot, last }: PageStart): HoldingsFault {
  const given = `a token of migration ${migrationId} at ${formatTime(snapshot)} behind ${showGiven(last)}`;
  const expected = 'a next_page_token of a page of these views';
  return new HoldingsFault('unknown_token', `after: given ${given}, expected ${expected}`);
}
