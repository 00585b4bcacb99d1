import { BadUpdate } from '../ledger/bad-update.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import { type Decoded, fieldNameIn, type LedgerUpdate, type SeedMark } from '../ledger/update.ts';
import type { EventTime } from './flat-event.ts';

/** The snapshot import that a partition has read last (docs/rules.md, rule 13). */
export interface SnapshotImport {
  /** The migration. */
  readonly m: number;
  /** The time of its import marker; null while that has not come. */
  readonly t: Micros | null;
  /** For each synchronizer whose import ends earlier, when. */
  readonly times: Readonly<Record<string, Micros>>;
  /** Of the participant that gave it; null where its source has no offsets. */
  readonly offset: number | null;
}

/** What a partition has read, as far as it decides what is new. */
export interface WasRead {
  /** The last time; null where no message has one. */
  readonly last: EventTime | null;
  /** The newest migration with an update or an import marker; null for none. */
  readonly begun: number | null;
  readonly seed: SnapshotImport | null;
}

/**
 * A snapshot import of a migration that has begun without it: what was created and archived between would be missing, whatever the
 * policy.
 */
export class LateImport extends BadUpdate {}

/** Kafka keeps 4,096 bytes beside an offset. */
const TIMES_CHARS_MAX = 2_500;

/** What is new in a message, and the partition's snapshot import after it. */
export interface NewMessage {
  /** Null where nothing is new. */
  readonly message: Decoded | null;
  readonly seed: SnapshotImport | null;
}

/**
 * Decides what is new in a message, given what its partition has read. Until the import marker has come nothing moves the
 * partition's time, so that an engine that waits for all partitions closes no interval of an incomplete import. Throws BadUpdate.
 */
export function newIn(message: Decoded, { begun, last, seed }: WasRead): NewMessage {
  const unchanged = (left: Decoded | null): NewMessage => ({ message: left, seed });
  if (message.kind === 'ignored') return unchanged(message);
  const isIncomplete = seed !== null && seed.t === null;
  if (message.kind === 'checkpoint') return unchanged(isIncomplete ? null : message);
  const { migrationId, recordTime } = message;
  const hasBegun = begun !== null && migrationId <= begun;
  if (isIncomplete && (migrationId !== seed.m || (message.kind === 'update' && recordTime !== null)))
    throw incompleteImport(message);
  // After a checkpoint of its migration a snapshot import would be late, and seem whole without what is late.
  const isPassed = !hasBegun && last !== null && (last.m > migrationId || (last.m === migrationId && last.t !== null));
  if (isPassed && (message.kind === 'seed mark' || message.seed !== undefined)) throw lateImport(message);
  if (message.kind === 'seed mark') {
    if (!hasBegun) return { message, seed: importOf(message) };
    if (last === null || migrationId !== last.m || message.recordTime > last.t!) throw lateImport(message);
    return unchanged(null);
  }
  // An import of a migration that has begun is not part of its first snapshot.
  if (recordTime === null && hasBegun) return unchanged(null);
  if (message.seed !== undefined)
    return { message, seed: isIncomplete ? seed : { m: migrationId, t: null, times: {}, offset: null } };
  if (recordTime === null || seed?.m !== migrationId || seed.t === null) return unchanged(message);
  if (isCovered({ ...message, recordTime }, { ...seed, t: seed.t })) return unchanged(null);
  // What the snapshot import does not have counts as of the time reached.
  return unchanged({ ...message, recordTime: Math.max(recordTime, seed.t + 1) });
}

function importOf({ migrationId, recordTime, times, offset }: SeedMark): SnapshotImport {
  const earlier = times.filter((each) => each.recordTime !== recordTime);
  const named = Object.fromEntries(earlier.map((each) => [each.synchronizerId, each.recordTime]));
  if (JSON.stringify(named).length > TIMES_CHARS_MAX) {
    const expected = `as many as fit ${TIMES_CHARS_MAX} characters beside a group's offset`;
    throw new BadUpdate('bad_field', 'seed.synchronizer_times', `${earlier.length} synchronizers`, expected);
  }
  return { m: migrationId, t: recordTime, times: named, offset };
}

function isCovered(
  { format, offset = null, synchronizerId, recordTime }: LedgerUpdate & { readonly recordTime: Micros },
  seed: SnapshotImport & { readonly t: Micros },
): boolean {
  // Repairs have equal times before and after a snapshot import: only the offset distinguishes them.
  if (seed.offset === null || format === 'scan') return recordTime <= (seed.times[synchronizerId] ?? seed.t);
  if (offset !== null) return offset <= seed.offset;
  const expected = 'a whole number of 0 or more, as after a snapshot import of a participant';
  throw new BadUpdate('bad_field', 'offset', 'none', expected);
}

/** The field of a message that has its time. */
export function timeField(message: Decoded): string {
  return message.kind === 'update' ? fieldNameIn(message.format, 'record_time') : 'record_time';
}

function incompleteImport(message: LedgerUpdate | SeedMark): BadUpdate {
  const given = message.recordTime === null ? 'an import' : formatTime(message.recordTime);
  const expected = 'the marker of the snapshot import before it, which may be incomplete without it';
  return new BadUpdate('half_seed', timeField(message), given, expected);
}

function lateImport({ recordTime, migrationId }: SeedMark | LedgerUpdate): BadUpdate {
  const given = recordTime === null ? 'a snapshot import' : `a snapshot import of ${formatTime(recordTime)}`;
  const expected = `none later than what was read of migration ${migrationId}: what is between would be missing`;
  return new LateImport('bad_field', 'seed', given, expected);
}
