import { isDeepStrictEqual } from 'node:util';
import { tryDecode } from '../decode/decode.ts';
import { identify } from '../decode/identify.ts';
import type { TopicEnds } from '../feed/kafka/ends.ts';
import { sha256 } from '../feed/kafka/record.ts';
import { isAfter, isAhead, laterOf, type ScanCursor } from '../feed/scan/cursor.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';

/** Finds in messages that are sent how far a topic has them. */
export interface Resume {
  /** Called with each message until it is known how they stand to the topic: whether it is. */
  judge(value: Uint8Array | null, partitions: readonly number[]): boolean;
  /** No message told: they are new. */
  settle(): void;
  /**
   * Whether the topic has a message, of all that are sent, in their order. Throws a Refusal where it lacks this one although it has
   * later ones, before anything was sent, and where a partition would go on with what is not later than what it has.
   */
  has(value: Uint8Array | null, partitions: readonly number[], place: string): boolean;
  /** After the last message. Throws a Refusal where they did not get to the topic's end. */
  requireFound(): void;
}

/** More than is shown: a message may be megabytes. */
const SHOWN_BYTES_MAX = 1_000;
const WHAT_TO_DO =
  'nothing was sent; give the files that the topic was made of, with what is new behind them, only what is later than all that it ' +
  'has, or send to another topic';

/**
 * Where the first message that says its time is later than what its partition has, all of them are new. Otherwise the topic was made
 * of them up to one message, as transactions follow their order: until the last message of each partition has come all of them are
 * there, and from then on none.
 */
export function createResume(topic: string, ends: TopicEnds): Resume {
  for (const [partition, values] of ends) {
    if (values.length > 0) continue;
    throw new Refusal(
      `topic ${topic} no longer has what was in partition ${partition}: its retention has removed it, so where to continue is ` +
        'not known; send to another topic, with retention.ms -1 (--create makes one)',
    );
  }
  const used = new Set(ends.keys());
  const ahead = new Map([...ends].map(([partition, values]) => [partition, createEnd(values)]));
  const tails = new Map([...ends].map(([partition, values]) => [partition, createTail(values)]));
  let standing: 'unknown' | 'within' | 'behind' = ends.size === 0 ? 'behind' : 'unknown';

  /** The first partition whose last message has not come. */
  function endAhead(): string {
    const [[partition, end]] = [...ahead] as [[number, End]];
    const but = end.hasCome() ? ', which they have only behind other messages than the topic' : '';
    return `partition ${partition} ends with ${described(end.last)}${but}`;
  }

  /** Whether a message is later than what its partitions have; null where it says no time and may be anywhere. */
  function isLater(value: Uint8Array | null, partitions: readonly number[]): boolean | null {
    const theirs = partitions.flatMap((partition) => tails.get(partition) ?? []);
    if (value !== null && theirs.some((tail) => tail.has(value))) return false;
    const at = value && startOf(value);
    return at === null ? null : theirs.every(({ latest }) => latest === null || isAfter(at, latest));
  }

  /** Of each partition the first message that says its time is looked at. */
  function requireLater(value: Uint8Array | null, partitions: readonly number[], place: string): void {
    if (tails.size === 0) return;
    const later = isLater(value, partitions);
    if (later === false)
      throw new Refusal(
        `topic ${topic} has ${place} (${described(value!)}) or what is later, although these files begin behind its end in another ` +
          'partition; give only what is later than all that it has, or send to another topic',
      );
    if (later) for (const partition of partitions) tails.delete(partition);
  }

  return {
    judge(value, partitions) {
      if (standing !== 'unknown') return true;
      const later = isLater(value, partitions);
      if (later !== null) standing = later ? 'behind' : 'within';
      return later !== null;
    },
    settle() {
      if (standing === 'unknown') standing = 'behind';
    },
    has(value, partitions, place) {
      if (standing === 'behind') {
        requireLater(value, partitions, place);
        return false;
      }
      if (ahead.size === 0) return false;
      // Means nothing, and the ends are without.
      if (value === null) return true;
      const waiting = partitions.filter((partition) => ahead.has(partition));
      const isPast = partitions.some((partition) => used.has(partition) && !ahead.has(partition));
      if (isPast || waiting.length === 0)
        throw new Refusal(
          `topic ${topic} does not have ${place} (${described(value)}), and these files did not get to its end before: ` +
            `${endAhead()}; ${WHAT_TO_DO}`,
        );
      for (const partition of waiting) if (ahead.get(partition)!.isReachedBy(value)) ahead.delete(partition);
      return true;
    },
    requireFound() {
      if (standing !== 'within' || ahead.size === 0) return;
      throw new Refusal(`topic ${topic} has messages that these files do not have: ${endAhead()}; ${WHAT_TO_DO}`);
    },
  };
}

/** What is known of a partition's last messages. */
interface Tail {
  /** Null where none says its time. */
  readonly latest: ScanCursor | null;
  has(value: Uint8Array): boolean;
}

function createTail(values: readonly Buffer[]): Tail {
  const digests = new Set(values.map(digestOf));
  const latest = values.map(startOf).reduce(laterOf, null);
  return { latest, has: (value) => digests.has(digestOf(value)) };
}

interface End {
  readonly last: Uint8Array;
  /** Called with each message of the partition. */
  isReachedBy(value: Uint8Array): boolean;
  /** Whether a message came that is equal to the last, behind others. */
  hasCome(): boolean;
}

/**
 * An update or checkpoint that is the latest of those at the end is there once. Of anything else, such as one that came again or
 * cannot be read, there may be several: it is known by all that is before it. Of several equal ends the first counts, so that
 * rather something is sent again than left out.
 */
function createEnd(values: readonly Buffer[]): End {
  const last = values.at(-1)!;
  const digests = values.map(digestOf);
  const isAlone = isLatest(values) && digests.indexOf(digests.at(-1)!) === digests.length - 1;
  const before: string[] = [];
  let hasCome = false;
  return {
    last,
    hasCome: () => hasCome,
    isReachedBy(value) {
      if (isAlone) return last.equals(value);
      before.push(digestOf(value));
      if (before.length > digests.length) before.shift();
      if (before.at(-1) !== digests.at(-1)) return false;
      hasCome = true;
      return isDeepStrictEqual(before, digests);
    },
  };
}

function digestOf(value: Uint8Array): string {
  return sha256(value).toString('base64');
}

function isLatest(values: readonly Buffer[]): boolean {
  const places = values.map(placeOf);
  const last = places.at(-1) ?? null;
  return last !== null && places.every((place) => place === null || !isAfter(place, last));
}

/** Null where it has none, or one that cannot be yet. */
function placeOf(value: Uint8Array): ScanCursor | null {
  const decoded = tryDecode(value, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind === 'ignored') return null;
  const { kind, migrationId } = decoded;
  const recordTime =
    kind === 'checkpoint' ? Math.max(...decoded.times.map((each) => each.recordTime)) : decoded.recordTime;
  const place = recordTime === null ? null : { migrationId, recordTime };
  return place === null || isAhead(place, Date.now()) ? null : place;
}

/** As `placeOf`; imports come before the first update of their migration. */
function startOf(value: Uint8Array): ScanCursor | null {
  const decoded = tryDecode(value, { migrationId: 0 });
  if (decoded instanceof BadUpdate || decoded.kind !== 'update' || decoded.recordTime !== null) return placeOf(value);
  return { migrationId: decoded.migrationId, recordTime: 0 };
}

function described(value: Uint8Array): string {
  const { updateId, recordTime } = identify(value);
  if (updateId !== null) return `update ${updateId}${recordTime === null ? '' : ` of ${recordTime}`}`;
  return `the message ${showGiven(Buffer.from(value).toString('utf8', 0, SHOWN_BYTES_MAX))}`;
}
