import { tryDecode } from '../../decode/decode.ts';
import { identify } from '../../decode/identify.ts';
import { sha256 } from '../../feed/kafka/kafka-record.ts';
import { ENDS_BYTES_SURE, ENDS_LEAST, type TopicEnds } from '../../feed/kafka/read-records.ts';
import { isAfter, isAhead, laterOf, type ScanPosition } from '../../feed/scan/scan-position.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { Refusal } from '../../refusal.ts';
import { showGiven } from '../../show-given.ts';

/** A message on its way to one of its partitions. */
export interface Entry {
  readonly value: Uint8Array | null;
  /** For errors, such as a file and a number. */
  readonly place: string;
  /** The same for each of its partitions. */
  readonly message: { isCounted: boolean };
}

/** Finds in messages that are sent how far a partition has them. */
export interface Resumed {
  /** What is to be sent now, in order; the entry is the partition's next message. */
  next(entry: Entry): readonly Entry[];
  /** After the last message. Throws a Refusal where the messages did not get to the partition's end. */
  rest(): readonly Entry[];
}

/** More than is shown: a message may be megabytes. */
const SHOWN_BYTES_MAX = 1_000;
/** Of a partition's first messages so many may be waited for one that says its time. */
const HELD_MAX = { messages: 10_000, bytes: 8_000_000 };
const WHAT_TO_DO =
  'give the files that the topic was made of, with what is new behind them, or only what is later than what it has, or send to another topic';

/**
 * Each partition that has anything, by itself. Where its first update is later than what it has of that synchronizer, all is new.
 * Otherwise it must have been made of these messages: nothing is sent until its last message has come with those before it.
 */
export function resumePartitions(topic: string, ends: TopicEnds): ReadonlyMap<number, Resumed> {
  return new Map([...ends].map(([partition, values]) => [partition, resumePartition(topic, partition, values)]));
}

function resumePartition(topic: string, partition: number, values: readonly Buffer[]): Resumed {
  const name = `partition ${partition} of topic ${topic}`;
  if (values.length === 0)
    throw new Refusal(
      `topic ${topic} no longer has what was in partition ${partition}: its retention has removed it, so where to continue is ` +
        'not known; send to another topic, with retention.ms -1 (--create makes one)',
    );
  const seen = values.map(look);
  const end = createEnd(seen);
  const isNew = createTail(seen);
  let standing: 'unknown' | 'within' | 'new' = 'unknown';
  let held: Entry[] = [];
  let heldBytes = 0;

  function hold(entry: Entry): readonly Entry[] {
    held.push(entry);
    heldBytes += entry.value?.length ?? 0;
    if (held.length < HELD_MAX.messages && heldBytes < HELD_MAX.bytes) return [];
    throw new Refusal(
      `of ${held.length} messages for ${name} none says when it was, the last is ${entry.place}: whether it has them is not known`,
    );
  }

  /** Whether to send it. */
  function isLacking({ value }: Entry): boolean {
    if (standing === 'new' || end.isReached) return true;
    if (value !== null) end.note(value);
    return false;
  }

  return {
    next(entry) {
      if (standing !== 'unknown') return isLacking(entry) ? [entry] : [];
      const known = entry.value === null ? null : isNew(entry.value);
      if (known === null) return hold(entry);
      standing = known ? 'new' : 'within';
      const all = [...held, entry];
      held = [];
      return all.filter(isLacking);
    },
    rest() {
      if (standing === 'within' && !end.isReached)
        throw new Refusal(
          `${name} ends with ${described(values.at(-1)!)}${end.hasCome ? ', which these files have only behind other messages than it' : ', which these files do not have'}: ` +
            WHAT_TO_DO,
        );
      // What says no time, and is not among its last messages.
      return held;
    },
  };
}

interface End {
  readonly isReached: boolean;
  /** Whether a message came that is equal to the last, behind others. */
  readonly hasCome: boolean;
  note(value: Uint8Array): void;
}

/**
 * The end has come with a message that is equal to the last one and comes behind the same messages, as far back as is known of both.
 * An update that is the latest and alone of those at the end is there once. Of anything else, such as one that came again or cannot be
 * read, there may be several: all that is known before it must have come.
 */
function createEnd(values: readonly Seen[]): End {
  const digests = values.map(({ digest }) => digest);
  const isAlone = isLatest(values) && digests.indexOf(digests.at(-1)!) === digests.length - 1;
  const before: string[] = [];
  const end = {
    isReached: false,
    hasCome: false,
    note(value: Uint8Array) {
      before.push(digestOf(value));
      if (before.length > digests.length) before.shift();
      if (before.at(-1) !== digests.at(-1)) return;
      end.hasCome = true;
      const last = digests.slice(-before.length);
      end.isReached = (isAlone || before.length === digests.length) && before.every((digest, i) => digest === last[i]);
    },
  };
  return end;
}

/**
 * Says of a message whether the partition lacks it and all later ones; null where it says no time. It does where the update is later than
 * those of its synchronizer among the last messages; of a synchronizer that is not among them, only where these are all there are.
 */
function createTail(values: readonly Seen[]): (value: Uint8Array) => boolean | null {
  const digests = new Set(values.map(({ digest }) => digest));
  const bytes = values.reduce((sum, { length }) => sum + length, 0);
  const isAll = values.length < ENDS_LEAST && bytes < ENDS_BYTES_SURE;
  const bySynchronizer = new Map<string, ScanPosition>();
  let latest: ScanPosition | null = null;
  for (const { synchronizerId, at } of values) {
    if (synchronizerId === null || at === null) continue;
    latest = laterOf(latest, at);
    bySynchronizer.set(synchronizerId, laterOf(bySynchronizer.get(synchronizerId) ?? null, at)!);
  }
  return (value) => {
    const { digest, synchronizerId, at } = look(value);
    if (digests.has(digest)) return false;
    if (synchronizerId === null || at === null) return null;
    const known = bySynchronizer.get(synchronizerId) ?? (isAll ? latest : null);
    return known === null ? isAll : isAfter(at, known);
  };
}

function isLatest(values: readonly Seen[]): boolean {
  const last = values.at(-1)!.at;
  return last !== null && values.every(({ at }) => !isAfter(at ?? last, last));
}

/** What is compared of a message. */
interface Seen {
  readonly digest: string;
  readonly length: number;
  /** Null where it is no update. */
  readonly synchronizerId: string | null;
  /** Where time is with an update or a checkpoint, imports before all of their migration; null for anything else, and what cannot be yet. */
  readonly at: ScanPosition | null;
}

function look(value: Uint8Array): Seen {
  const seen = { digest: digestOf(value), length: value.length, synchronizerId: null, at: null };
  const decoded = tryDecode(value, { migrationId: 0 });
  if (decoded instanceof BadUpdate || (decoded.kind !== 'update' && decoded.kind !== 'checkpoint')) return seen;
  const [synchronizerId, recordTime] =
    decoded.kind === 'update'
      ? [decoded.synchronizerId, decoded.recordTime ?? 0]
      : [null, Math.max(...decoded.times.map((each) => each.recordTime))];
  const at = { migrationId: decoded.migrationId, recordTime };
  return { ...seen, synchronizerId, at: isAhead(at, Date.now()) ? null : at };
}

function digestOf(value: Uint8Array): string {
  return sha256(value).toString('base64');
}

function described(value: Uint8Array): string {
  const { updateId, recordTime } = identify(value);
  if (updateId !== null) return `update ${updateId}${recordTime === null ? '' : ` of ${recordTime}`}`;
  return `the message ${showGiven(Buffer.from(value).toString('utf8', 0, SHOWN_BYTES_MAX))}`;
}
