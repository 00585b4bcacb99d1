import type { BadUpdate } from '../ledger/bad-update.ts';
import type { Micros } from '../ledger/time.ts';
import type { Decoded } from '../ledger/update.ts';

/** One message as its source hands it over: a line, an element of an array or page, or a Kafka record. */
export interface Message {
  /** FILE_PARTITION for files. */
  readonly partition: number;
  /** Line number, element number (both from 1) or Kafka offset. */
  readonly offset: number;
  /** The message's bytes; null for a null value (a tombstone). The first 64 KiB where `overlong` is set. */
  readonly bytes: Uint8Array | null;
  /** Set where the message is longer than the limit: its whole length in bytes and the SHA-256 of all of it, in hex. */
  readonly overlong?: { readonly length: number; readonly sha256: string };
  /** What it means, where the source had to know that to put its partitions in order: nobody decodes it again. */
  readonly decoded?: Decoded | BadUpdate;
}

/** Where bytes come from. Nothing outside `feed/` knows whether it is a file or a Kafka topic. */
export interface Source {
  /** As messages show it: a file's name, `-` for standard input, `topic <name>`. */
  readonly name: string;
  /** Messages in feed order, in bounded batches; ends at the end of a file. Throws BrokenContainer. */
  batches(signal: AbortSignal): AsyncIterable<readonly Message[]>;
  /** Bytes read so far and in all (null where that is not known), for progress. */
  progress(): { readonly read: number; readonly total: number | null };
  /** Null until the topic was found, which is before its first batch; another object once it has more partitions. */
  topicStart?(): TopicStart | null;
  /** Told after each COMMIT: the next offset by partition. What is not told is not stored. */
  stored?(nextOffsets: ReadonlyMap<number, number>): void;
  /** How a source without an end stands; files have none. */
  status?(): SourceStatus;
}

/** What is stored of a topic before anything of it is applied. */
export interface TopicStart {
  /** What its positions belong to, as text: a position of another one is never gone on from. */
  readonly identity: string;
  /** The first offset that it held of each partition when that was first seen. */
  readonly firstOffsets: ReadonlyMap<number, number>;
}

/** What `/status` and `/readyz` say of a source. Clock times in milliseconds since 1970. */
export interface SourceStatus {
  /** Why nothing comes from it now; null when it is read. */
  readonly stopped: string | null;
  /** Which partitions hold the others, each a sentence: a reason of being behind, which it need not be for long. */
  readonly holding: readonly string[];
  /** Everything that the source held at this time of our clock is stored; null while that was not so since the start. */
  readonly caughtUpAt: number | null;
  /** The newest record time read, whether applied or not. */
  readonly newestRecordTime: Micros | null;
  readonly partitions: readonly PartitionStatus[];
}

export interface PartitionStatus {
  readonly partition: number;
  /** The next offset to store. */
  readonly nextOffset: number;
  /** The offset behind the partition's last message, as last heard of. */
  readonly endOffset: number | null;
  /** Messages there that are not stored. */
  readonly lag: number | null;
  /** Idle for so long that it no longer holds the others. */
  readonly passedOver: boolean;
}

/**
 * The source does not continue what the views hold: nothing of it is applied, and trying again would change nothing. The
 * message says what was found and what to do.
 */
export class FeedRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FeedRefused';
  }
}

/** An array, page, gzip or zstd that cannot be read on: always halts (design.md section 7). */
export class BrokenContainer extends Error {
  /** Where it broke, such as `byte 1234`. */
  readonly place: string;

  constructor(place: string, reason: string) {
    super(reason);
    this.name = 'BrokenContainer';
    this.place = place;
  }
}
