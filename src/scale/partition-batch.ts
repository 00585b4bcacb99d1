import { decodeMessage } from '../decode/decode-message.ts';
import type { KafkaRecord } from '../feed/kafka/kafka-record.ts';
import { LINE_BYTES_MAX } from '../feed/limits.ts';
import { jsonOrNull } from '../json/untrusted.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import { type Decoded, fieldNameIn, type ImportMarker, type LedgerUpdate } from '../ledger/update.ts';
import { Refusal } from '../refusal.ts';
import type { EventTime, FlatEvent } from './flat-event.ts';
import { type FlattenRules, flatten } from './flatten.ts';

/** What decides what a group's events say. */
export interface GroupRules extends Omit<FlattenRules, 'now'> {
  /** The migration of messages that name none. */
  readonly migrationId: number;
  readonly onBadUpdate: 'halt' | 'quarantine';
}

export interface DecodeRules extends GroupRules, Pick<FlattenRules, 'now'> {
  /** Offsets of messages that an operator drops where their partition is halted. */
  readonly dropped: ReadonlySet<number>;
}

export type RecordDecision = 'halted' | 'quarantined' | 'dropped';

/** A message that cannot be decoded, what is wrong with it, and what follows. */
export interface BadMessage {
  readonly record: KafkaRecord;
  readonly fault: BadUpdate;
  readonly decision: RecordDecision;
}

/** The snapshot import that a partition has read last (docs/rules.md, rule 13). */
interface SnapshotImport {
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
interface WasRead {
  /** The last time; null where no message has one. */
  readonly last: EventTime | null;
  /** The newest migration with an update or an import marker; null for none. */
  readonly begun: number | null;
  readonly seed: SnapshotImport | null;
}

/** A snapshot import of a migration that has begun without it: what was created and archived between would be missing, whatever the policy. */
export class LateImport extends BadUpdate {}

/** How far a partition is decoded. It is the group's offset, with a text that Kafka keeps beside it. */
export interface GroupPosition extends WasRead {
  /** Of the next message, or of the one at which the partition is halted. */
  readonly next: number;
  /** Whether the message at `next` is a dead letter that nobody has dropped. */
  readonly halted: boolean;
}

/** What messages of one partition are decoded to. */
export interface FlatBatch {
  readonly events: readonly FlatEvent[];
  readonly bad: readonly BadMessage[];
  readonly position: GroupPosition;
  /** Why the message at the position is not passed; null where all were. */
  readonly stoppedBy: BadUpdate | null;
  /** How many messages were passed. */
  readonly messages: number;
}

/**
 * Decodes messages of a partition from its position on, up to the first that halts it. A time ahead of our clock stops it
 * whatever the policy, and is no dead letter: it may come true (docs/rules.md, rule 6).
 */
export function flattenBatch(from: GroupPosition, records: readonly KafkaRecord[], rules: DecodeRules): FlatBatch {
  const events: FlatEvent[] = [];
  const bad: BadMessage[] = [];
  let { last, begun, seed, halted } = from;
  let messages = 0;
  const ending = (next: number, stoppedBy: BadUpdate | null): FlatBatch => {
    return { events, bad, position: { next, last, begun, seed, halted }, stoppedBy, messages };
  };
  for (const record of records) {
    // A batch that cannot be read may begin before the position.
    const offset = Math.max(record.offset, from.next);
    const decoded = tryFlatten(record, { last, begun, seed }, rules);
    if (decoded instanceof BadUpdate) {
      const isDropped = rules.dropped.has(offset);
      if (decoded.code === 'ahead_of_clock' && !isDropped) return ending(offset, decoded);
      // A halt is remembered: another policy does not end it.
      const haltsAlways = decoded instanceof LateImport || record.broken !== undefined;
      if ((halted || rules.onBadUpdate === 'halt' || haltsAlways) && !isDropped) {
        if (!halted) bad.push({ record, fault: decoded, decision: 'halted' });
        halted = true;
        return ending(offset, decoded);
      }
      bad.push({ record, fault: decoded, decision: isDropped ? 'dropped' : 'quarantined' });
    } else {
      for (const event of decoded.events) events.push(event);
      const newest = decoded.events.at(-1);
      if (newest !== undefined && isAfter(newest, last)) last = newest;
      if (newest !== undefined && newest.k !== 'T' && newest.t !== null) begun = newest.m;
      seed = decoded.seed;
    }
    halted = false;
    messages += 1;
  }
  const end = records.at(-1);
  return ending(Number(end?.broken?.batch?.resumeToken ?? (end === undefined ? from.next : end.offset + 1)), null);
}

function tryFlatten(
  record: KafkaRecord,
  before: WasRead,
  rules: DecodeRules,
): (Pick<NewMessage, 'seed'> & { readonly events: readonly FlatEvent[] }) | BadUpdate {
  const { bytes, overlong, broken } = record;
  if (broken !== undefined)
    return new BadUpdate('broken_batch', 'batch', `${broken.location}: ${broken.message}`, 'a batch that can be read');
  if (bytes === null) return { events: [], seed: before.seed };
  if (overlong !== undefined) {
    const expected = `a message of at most ${LINE_BYTES_MAX} bytes`;
    return new BadUpdate('overlong', 'message', `${overlong.length} bytes`, expected);
  }
  try {
    const { message, seed } = newIn(decodeMessage(bytes, rules), before);
    const events = (message === null ? [] : flatten(message, rules)).filter(
      (event) => event.k !== 'T' || isAfter(event, before.last),
    );
    if (message !== null && events[0] !== undefined) checkOpen(events[0], before.last, timeField(message));
    return { events, seed };
  } catch (error) {
    if (error instanceof BadUpdate) return error;
    throw error;
  }
}

/**
 * The engine closes an interval once each partition's time is behind it. A message of a closed interval is refused here, where the
 * time reached is stored: an engine that was restarted no longer knows what it had closed. Throws BadUpdate.
 */
function checkOpen({ m, t, seq }: EventTime, last: EventTime | null, field: string): void {
  if (last === null || m > last.m || (m === last.m && seq >= last.seq)) return;
  const given = `${t === null ? 'an import' : formatTime(t)} of migration ${m}`;
  const reached = last.t === null ? 'its imports' : formatTime(last.t);
  const expected =
    `none of an interval before the one that the partition has reached (${reached} of migration ${last.m}): ` +
    'record times must rise in each partition; a message that came before may be dropped';
  throw new BadUpdate('disorder', field, given, expected);
}

/** A checkpoint behind the time reached moves no time (docs/rules.md, rule 4). */
function isAfter({ clk }: EventTime, last: EventTime | null): boolean {
  return last === null || clk > last.clk;
}

const FORM = 3;
/** What all members of a group must agree on. */
export type GroupSettings = Pick<GroupRules, 'dso' | 'periodUs' | 'migrationId'> & { readonly flatTopic: string };

type Kept = GroupSettings & Omit<GroupPosition, 'next'> & { readonly form: typeof FORM };

export function positionText({ last, begun, seed, halted }: GroupPosition, settings: GroupSettings): string {
  const time = last && { m: last.m, t: last.t, clk: last.clk, seq: last.seq };
  const kept: Kept = { form: FORM, ...settings, last: time, begun, seed, halted };
  return JSON.stringify(kept);
}

/** Throws a Refusal where the offset was committed with other settings, or by another program. */
export function readPosition(next: number, text: string | null, settings: GroupSettings, where: string): GroupPosition {
  const kept = jsonOrNull(text ?? 'null') as Kept | null;
  if (kept?.form !== FORM)
    throw new Refusal(
      `${where}: its offset was not committed by this version of holdfast decode; give the decoders a group and a flat topic of their own`,
    );
  for (const [key, option] of SAME) {
    if (kept[key] === settings[key]) continue;
    throw new Refusal(
      `${where}: decoded with ${option} ${kept[key]} before, not ${settings[key]}; ` +
        'one topic must have the events of one decoding only: decode into a new one, with a new group',
    );
  }
  const { last, begun, seed, halted } = kept;
  return { next, last, begun, seed, halted };
}

const SAME = [
  ['flatTopic', '--flat-topic'],
  ['dso', '--dso'],
  ['periodUs', '--snapshot-period in microseconds'],
  ['migrationId', '--migration-id'],
] as const;

/** Kafka keeps 4,096 bytes beside an offset. */
const TIMES_CHARS_MAX = 2_500;

/** What is new in a message, and the partition's snapshot import after it. */
interface NewMessage {
  /** Null where nothing is new. */
  readonly message: Decoded | null;
  readonly seed: SnapshotImport | null;
}

/**
 * Decides what is new in a message, given what its partition has read. Until the import marker has come nothing moves the
 * partition's time, so that an engine that waits for all partitions closes no interval of an incomplete import. Throws BadUpdate.
 */
function newIn(message: Decoded, { begun, last, seed }: WasRead): NewMessage {
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
  if (isPassed && (message.kind === 'import marker' || message.seed !== undefined)) throw lateImport(message);
  if (message.kind === 'import marker') {
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

function importOf({ migrationId, recordTime, times, offset }: ImportMarker): SnapshotImport {
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
function timeField(message: Decoded): string {
  return message.kind === 'update' ? fieldNameIn(message.format, 'record_time') : 'record_time';
}

function incompleteImport(message: LedgerUpdate | ImportMarker): BadUpdate {
  const given = message.recordTime === null ? 'an import' : formatTime(message.recordTime);
  const expected = 'the marker of the snapshot import before it, which may be incomplete without it';
  return new BadUpdate('half_seed', timeField(message), given, expected);
}

function lateImport({ recordTime, migrationId }: ImportMarker | LedgerUpdate): BadUpdate {
  const given = recordTime === null ? 'a snapshot import' : `a snapshot import of ${formatTime(recordTime)}`;
  const expected = `none later than what was read of migration ${migrationId}: what is between would be missing`;
  return new LateImport('bad_field', 'seed', given, expected);
}
