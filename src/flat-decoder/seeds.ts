import type { Place } from '../flat/place.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import { type Decoded, fieldNameIn, type LedgerUpdate, type SeedMark } from '../ledger/update.ts';

/** The seed that a partition has read last (docs/rules.md, rule 13). */
export interface Seed {
  /** The migration. */
  readonly m: number;
  /** The time of its mark; null while that has not come. */
  readonly t: Micros | null;
  /** Of each synchronizer for which it ends earlier, when. */
  readonly times: Readonly<Record<string, Micros>>;
  /** Of the participant that gave it; null where its source has no offsets. */
  readonly offset: number | null;
}

/** What a partition has read, as far as it says what is new. */
export interface WasRead {
  /** The last time; null where no message has one. */
  readonly last: Place | null;
  /** The newest migration of which there was an update or a mark; null for none. */
  readonly begun: number | null;
  readonly seed: Seed | null;
}

/** A seed of a migration that has begun without it: what was created and archived between would be missing, whatever the policy. */
export class LateSeed extends BadUpdate {}

/** Kafka keeps 4,096 bytes beside an offset. */
const TIMES_CHARS_MAX = 2_500;

/** What a message comes to in a partition that may have begun with a seed. */
export interface BehindSeed {
  /** Null where it says nothing new. */
  readonly message: Decoded | null;
  readonly seed: Seed | null;
}

/**
 * What is new in a message, given what its partition has read. Until the mark has come, nothing moves the partition's time: so no
 * engine that waits for all partitions closes an interval of half a seed. Throws BadUpdate.
 */
export function behindSeed(message: Decoded, { begun, last, seed }: WasRead): BehindSeed {
  const unchanged = (left: Decoded | null): BehindSeed => ({ message: left, seed });
  if (message.kind === 'ignored') return unchanged(message);
  const isHalf = seed !== null && seed.t === null;
  if (message.kind === 'checkpoint') return unchanged(isHalf ? null : message);
  const { migrationId, recordTime } = message;
  const hasBegun = begun !== null && migrationId <= begun;
  if (isHalf && (migrationId !== seed.m || (message.kind === 'update' && recordTime !== null))) throw halfSeed(message);
  // A checkpoint has said that time moves on: what comes behind it would be late, and a seed without it seem whole.
  const isPassed = !hasBegun && last !== null && (last.m > migrationId || (last.m === migrationId && last.t !== null));
  if (isPassed && (message.kind === 'seed mark' || message.seed !== undefined)) throw lateSeed(message);
  if (message.kind === 'seed mark') {
    if (!hasBegun) return { message, seed: seedOf(message) };
    if (last === null || migrationId !== last.m || message.recordTime > last.t!) throw lateSeed(message);
    return unchanged(null);
  }
  // An import of a migration that has begun is none of its first snapshot.
  if (recordTime === null && hasBegun) return unchanged(null);
  if (message.seed !== undefined)
    return { message, seed: isHalf ? seed : { m: migrationId, t: null, times: {}, offset: null } };
  if (recordTime === null || seed?.m !== migrationId || seed.t === null) return unchanged(message);
  if (isCovered({ ...message, recordTime }, { ...seed, t: seed.t })) return unchanged(null);
  // What the seed does not have counts as of the time reached.
  return unchanged({ ...message, recordTime: Math.max(recordTime, seed.t + 1) });
}

function seedOf({ migrationId, recordTime, times, offset }: SeedMark): Seed {
  const earlier = times.filter((each) => each.recordTime !== recordTime);
  const named = Object.fromEntries(earlier.map((each) => [each.synchronizerId, each.recordTime]));
  if (JSON.stringify(named).length > TIMES_CHARS_MAX) {
    const given = `${earlier.length} synchronizers`;
    const expected = `as many as fit ${TIMES_CHARS_MAX} characters beside a group's offset`;
    throw new BadUpdate('bad_field', 'seed.synchronizer_times', given, expected);
  }
  return { m: migrationId, t: recordTime, times: named, offset };
}

function isCovered(
  { format, offset = null, synchronizerId, recordTime }: LedgerUpdate & { readonly recordTime: Micros },
  seed: Seed & { readonly t: Micros },
): boolean {
  // Repairs have equal times before and behind a seed: only the offset distinguishes them.
  if (seed.offset === null || format === 'scan') return recordTime <= (seed.times[synchronizerId] ?? seed.t);
  if (offset === null)
    throw new BadUpdate(
      'bad_field',
      'offset',
      'none',
      'a whole number of 0 or more, as behind a seed of a participant',
    );
  return offset <= seed.offset;
}

function halfSeed(message: LedgerUpdate | SeedMark): BadUpdate {
  const given = message.recordTime === null ? 'an import' : formatTime(message.recordTime);
  const expected = 'the mark of the seed before it, whose imports alone may be half of what was active';
  return new BadUpdate('half_seed', timeField(message), given, expected);
}

/** The field of a message that has its time. */
export function timeField(message: Decoded): string {
  return message.kind === 'update' ? fieldNameIn(message.format, 'record_time') : 'record_time';
}

function lateSeed({ recordTime, migrationId }: SeedMark | LedgerUpdate): BadUpdate {
  const given = recordTime === null ? 'an import of a seed' : `a seed of ${formatTime(recordTime)}`;
  const expected = `none later than what was read of migration ${migrationId}: what is between would be missing`;
  return new LateSeed('bad_field', 'seed', given, expected);
}
