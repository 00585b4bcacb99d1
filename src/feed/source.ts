import type { BadUpdate } from '../ledger/bad-update.ts';
import type { Micros } from '../ledger/time.ts';
import type { Decoded } from '../ledger/update.ts';

/** One message as its source hands it over: a line, an element of an array or page, or a Kafka record. */
export interface Message {
  /** The lane of its source that it belongs to: messages of one lane have one order. */
  readonly lane: string;
  /** Its whole number in its lane: a line or element number (both from 1), a Kafka offset. */
  readonly offset: number;
  /** The lane's cursor after it, where that is not the decimal digits of the next number. */
  readonly cursor?: string;
  /** The message's bytes; null for a null value (a tombstone). The first 64 KiB where `overlong` is set. */
  readonly bytes: Uint8Array | null;
  /** Set where the message is longer than the limit: its whole length in bytes and the SHA-256 of all of it, in hex. */
  readonly overlong?: { readonly length: number; readonly sha256: string };
  /** What it means, where the source had to know that to put its partitions in order: nobody decodes it again. */
  readonly decoded?: Decoded | BadUpdate;
}

/** Where bytes come from; `Heard` is how it stands, in words of its own, of which its kind makes a SourceStatus. */
export interface Source<Heard = unknown> {
  /** As messages show it: a file's name, `-` for standard input, `topic <name>`. */
  readonly name: string;
  /** Messages in feed order, in bounded batches; ends at the end of a file. Throws BrokenContainer, FeedRefused. */
  batches(signal: AbortSignal): AsyncIterable<readonly Message[]>;
  /** Bytes read so far and in all (null where that is not known), for progress. */
  progress(): SourceProgress;
  /** Of one that resumes: null until it was found, which is before its first batch; another object once it has more lanes. */
  start?(): SourceStart | null;
  /** Told after each COMMIT: the cursor by lane. What is not told is not stored. */
  stored?(cursors: ReadonlyMap<string, string>): void;
  /** Asked several times a second; of a source without an end. */
  heard?(): Heard;
}

export interface SourceProgress {
  readonly read: number;
  readonly total: number | null;
}

/**
 * What the views know of a kind of source. A lane's cursor says where its reading continues: a text that the source alone can read,
 * stored in the transaction of the rows before it and given back at the next start.
 */
export interface SourceFacts {
  /** As a sentence calls it: file, topic. */
  readonly kind: string;
  /** Null where it resumes. Else it is read from its start each time, in one lane, whose first cursor this is. */
  readonly readAnew: { readonly lane: string; readonly cursor: string } | null;
  /** Where a message stands, by the names that people and programs read: `{ partition: 3, offset: 12 }`. Null is not shown to people. */
  placeOf(message: Pick<Message, 'lane' | 'offset' | 'cursor'>): Readonly<Record<string, string | number | null>>;
}

/** A kind of source: all that the rest of the program knows of it. */
export interface SourceKind<Settings = unknown, Heard = unknown> extends SourceFacts {
  /** Called in the thread that reads and decodes; the settings have crossed to it. */
  open(settings: Settings, context: SourceContext): Promise<Source<Heard>>;
  /** After a halt, a source that hands over no messages and goes on hearing how much is there; null where nothing grows. */
  readonly watch: ((settings: Settings, context: SourceContext) => Promise<Source<Heard>>) | null;
  /** Begins to follow how one source stands, over every opening of it. */
  follow(name: string): (standing: SourceStanding<Heard>) => SourceStatus;
}

/** What a source is opened with beside its own settings. */
export interface SourceContext {
  readonly stored: StoredSource;
  /** Made with the data directory, and no other's. */
  readonly directoryId: string;
  /** Of messages that carry none. */
  readonly migrationId: number;
  readonly logger: SourceLogger;
}

/** The part of a pino logger that sources use. */
export interface SourceLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What a source's status is made of. */
export interface SourceStanding<Heard = unknown> {
  /** What it said last of itself; null before that. */
  readonly heard: Heard | null;
  /** Null while it is not open. */
  readonly progress: SourceProgress | null;
  /** Its lanes as they are on disk. */
  readonly lanes: ReadonlyMap<string, Pick<StoredLane, 'cursor'> & { readonly start: string | null }>;
  /** The record time that the views have reached; null before the first. */
  readonly appliedRecordTime: Micros | null;
  /** The message that halts it. */
  readonly halted: { readonly recordTime: Micros | null } | null;
  /** Why the service goes on without it: it does not continue what the views hold. */
  readonly refused: string | null;
  /** Everything there is applied: files have an end. */
  readonly isAtEnd: boolean;
}

/** What `/status` and `/readyz` say of a source. Clock times in milliseconds since 1970. */
export interface SourceStatus {
  /** Why it is not ready whatever its lag; null where the lag alone decides. */
  readonly stopped: string | null;
  /** More reasons of being behind, each a sentence; the lag need not be for long. */
  readonly holding: readonly string[];
  /** Everything that the source held at this time of our clock is stored; null while that was not so since the start. */
  readonly caughtUpAt: number | null;
  /** Messages there that are not stored; null where nobody knows. */
  readonly lagMessages: number | null;
  /** What `/status` says of it beside its name: JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Which source to read, in a form that can cross threads. */
export interface SourceSpec {
  /** As the list of sources has it, or the URL of a module whose default export is a SourceKind. */
  readonly kind: string;
  readonly name: string;
  readonly settings: unknown;
}

/** What is stored of a source that resumes before anything of it is applied. */
export interface SourceStart {
  /** What its cursors belong to, as text: a cursor of another one is never continued from. */
  readonly identity: string;
  /** The cursor that each lane began with when it was first seen. */
  readonly cursors: ReadonlyMap<string, string>;
}

/** Where a source that resumes goes on; the identity is null, and there are no lanes, before the views saw one. */
export interface StoredSource {
  readonly identity: string | null;
  readonly lanes: ReadonlyMap<string, StoredLane>;
}

export interface StoredLane {
  /** What `SourceStart` said of it. */
  readonly start: string;
  readonly cursor: string;
  /** Of the last message before the cursor; null while there is none. */
  readonly sha256: Uint8Array | null;
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

/** An array, page, gzip or zstd that cannot be read on: always halts (docs/rules.md, bad updates). */
export class BrokenContainer extends Error {
  /** Where it broke, such as `byte 1234`. */
  readonly place: string;

  constructor(place: string, reason: string) {
    super(reason);
    this.name = 'BrokenContainer';
    this.place = place;
  }
}
