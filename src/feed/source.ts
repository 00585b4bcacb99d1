import type { Micros } from '../ledger/time.ts';
import type { Decoded } from '../ledger/update.ts';

/** One message of a source: a line, an element of an array or page, a Kafka record, or an update that a server gave. */
export interface Message {
  /** One ordered part of its source: a file, a partition, or all of a network. */
  readonly lane: string;
  /** Its number in its lane: of a line or element from 1, a Kafka offset, or of a network a count since it was opened. */
  readonly offset: number;
  /** The lane's resume token after it; left out where that is the next number in digits. */
  readonly resumeToken?: string;
  /** Null for a null value (a tombstone). The first 64 KiB where `overlong` is set. */
  readonly bytes: Uint8Array | null;
  /** Of a message longer than the limit: the length of all its bytes, and their SHA-256 in hex. */
  readonly overlong?: { readonly length: number; readonly sha256: string };
  /** Set where the source had to decode it: it is not decoded again. */
  readonly decoded?: Decoded;
}

/** An open source. Its kind turns its `Telemetry` into a SourceStatus. */
export interface Source<Telemetry = unknown> {
  /**
   * Messages in feed order, in bounded batches; ends at the end of a file. A source that resumes yields a SourceStart before its
   * first batch, and again once it has more lanes. Throws BrokenContainer, FeedRefused.
   */
  batches(signal: AbortSignal): AsyncIterable<readonly Message[] | SourceStart>;
  progress(): SourceProgress;
  /** Called after each COMMIT with the stored resume token of each lane, and the furthest time applied. */
  stored?(resumeTokens: ReadonlyMap<string, string>, furthest?: Reached | null): void;
  /** Called several times a second; only of a source without an end. */
  telemetry?(): Telemetry;
}

/** Bytes or messages read so far, and in all; null where that is not known. */
export interface SourceProgress {
  readonly read: number;
  readonly total: number | null;
}

/**
 * A kind of source: all that the rest of the program knows of it. A lane's resume token (`resumeToken`) says where reading continues. Only
 * the source reads it; it is stored in the transaction of the rows before it, and given back at the next start.
 */
export interface SourceKind<Settings = unknown, Telemetry = unknown> {
  /** Its name in sentences: file, topic, network, participant. */
  readonly kind: string;
  /** False: it is read from its start each time, in one lane that has the kind's name and numbers its messages from 1. */
  readonly resumes: boolean;
  /** A message's location, for people and programs: `{ partition: 3, offset: 12 }`. People are not shown null values. */
  locationOf(
    message: Pick<Message, 'lane' | 'offset' | 'resumeToken'>,
  ): Readonly<Record<string, string | number | null>>;
  /** Called in the thread that reads and decodes, with settings that were sent to it. */
  open(settings: Settings, context: SourceContext): Promise<Source<Telemetry>>;
  /** What `/status` says of a source, by its name. */
  status(name: string, state: SourceState<Telemetry>): SourceStatus;
}

/** The source of messages, as dead letters name it. */
export interface NamedSource {
  readonly name: string;
  readonly kind: SourceKind;
}

/** What a source is opened with besides its own settings. */
export interface SourceContext {
  readonly stored: StoredSource;
  /** How far the views are, by any source; null where no update was applied. */
  readonly reached: Reached | null;
  /** The largest record time applied, of the newest migration; null where no update was applied. Bad updates do not count. */
  readonly furthest: Reached | null;
  /** The last update applied, of the newest migration. */
  readonly lastUpdate?: Reached | null;
  /** The data directory's own id, created with it. */
  readonly directoryId: string;
  /** The migration of messages that name none. */
  readonly migrationId: number;
  readonly logger: SourceLogger;
}

/** A record time of a migration. `reached`: each of its synchronizers is applied up to it. */
export interface Reached {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

/** The methods of a pino logger that sources use. */
export interface SourceLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What a source's status is made of. */
export interface SourceState<Telemetry = unknown> {
  /** Its last report; null before the first. */
  readonly telemetry: Telemetry | null;
  /** Null while it is not open. */
  readonly progress: SourceProgress | null;
  /** Its lanes as they are stored. */
  readonly lanes: ReadonlyMap<string, StoredLane>;
  /** The record time that the views have reached; null before the first. */
  readonly appliedRecordTime: Micros | null;
  /** It comes after files, and has not shown an update of theirs yet. */
  readonly mayLeaveGap: boolean;
  /** Why the service runs without it: it does not continue what is in the views. */
  readonly refused: string | null;
  /** Everything was applied; only files have an end. */
  readonly isAtEnd: boolean;
}

/** What `/status` and `/readyz` say of a source. Clock times in milliseconds since 1970. */
export interface SourceStatus {
  /** Why it is not ready; null where only its lag decides. */
  readonly stopped: string | null;
  /** Possible reasons for a lag, a sentence each. */
  readonly blocking: readonly string[];
  /** What an operator should know although it is ready, a sentence each. */
  readonly degraded?: readonly string[];
  /** Everything that the source had at this time of our clock is stored; null where that was never so. */
  readonly caughtUpAt: number | null;
  /** Messages not stored yet, bytes not read yet, and how far the views are behind in record time; null where not known. */
  readonly lagMessages: number | null;
  readonly lagBytes: number | null;
  readonly lagSeconds: number | null;
  /** The number of the message at which reading continues, by lane; of a source that numbers them. */
  readonly positions?: Readonly<Record<string, number>>;
  /** What `/status` says of it besides its name: JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Which source to read, in a form that can cross threads. */
export interface SourceSpec {
  /** Its name in the list of sources, or the URL of a module whose default export is a SourceKind. */
  readonly kind: string;
  readonly name: string;
  readonly settings: unknown;
}

/** What is stored of a source that resumes, before anything of it is applied. */
export interface SourceStart {
  /** What its resume tokens belong to, such as a cluster and topic: another identity is refused. */
  readonly identity: string;
  /** The resume token of each lane when it was first seen. */
  readonly resumeTokens: ReadonlyMap<string, string>;
  /** The DSO whose coins count, where the network names it. */
  readonly dso?: string;
  /** Its resume tokens are times of the ledger, so it continues after any source. Another must first show an applied update (PossibleGap). */
  readonly takesOver?: true;
  /** The owners whose coins it shows, where it does not show all. Coins of others are not counted. */
  readonly followed?: readonly string[];
  /** A snapshot import follows: what is stored of an unfinished one is deleted first. */
  readonly restarts?: true;
}

/** Where a source that resumes continues; without an identity and lanes before the first. */
export interface StoredSource {
  readonly identity: string | null;
  readonly lanes: ReadonlyMap<string, StoredLane>;
  /** The owners whose coins count, in order; null or absent: all. */
  readonly followed?: readonly string[] | null;
  /** Whether holdings of the token standard count; null or absent before the first update. */
  readonly tokens?: boolean | null;
}

export interface StoredLane {
  /** Its resume token in the `SourceStart`; null where the source does not resume. */
  readonly start: string | null;
  readonly resumeToken: string;
  /** The hash of the last message before the resume token; null while there is none. */
  readonly sha256: Uint8Array | null;
}

/** The source does not continue what the views hold, and trying again changes nothing. The message says what to do. */
export class FeedRefused extends Error {
  override readonly name = 'FeedRefused';
}

/** An array, page, gzip, zstd or batch of a topic that cannot be read: always halts (docs/rules.md, bad updates). */
export class BrokenContainer extends Error {
  override readonly name = 'BrokenContainer';
  /** Where it broke, such as `byte 1234`. */
  readonly location: string;
  /** Of a batch in a lane that continues behind it: its first message's number, and the lane's resume token after it. */
  readonly batch: { readonly lane: string; readonly offset: number; readonly resumeToken: string } | null;

  constructor(location: string, reason: string, batch: BrokenContainer['batch'] = null) {
    super(reason);
    this.location = location;
    this.batch = batch;
  }
}

/** Why a source after files is not ready: only an update that they have proves that it begins before their end. */
export function notShown(source: string): string {
  return `not known yet to continue the files: ${source} has shown no update that they have, and may begin after their end`;
}
