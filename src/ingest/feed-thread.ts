import type { Chunk } from '../chunk/chunk.ts';
import type { KafkaSourceOptions } from '../feed/kafka/source.ts';
import { BrokenContainer, FeedRefused, type SourceStatus, type TopicStart } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadContract } from '../threads/contract.ts';
import type { LogLine } from '../threads/log-line.ts';
import { FEEDING, startThread, threadFile } from '../threads/thread.ts';
import { within } from './within.ts';

/** Which source a feed reads, in a form that can cross threads. */
export type SourceSpec = { readonly kind: 'file'; readonly path: string } | TopicSpec;

export interface TopicSpec {
  /** `watch`: only how much of it there is, and no messages. */
  readonly kind: 'topic' | 'watch';
  readonly topic: Omit<KafkaSourceOptions, 'logger' | 'migrationId'>;
}

export interface FeedProgress {
  readonly read: number;
  readonly total: number | null;
}

/** Chunks of one source, decoded ahead of who applies them, with a bound on how far ahead. */
export interface Feed extends AsyncDisposable {
  /** Whether a chunk is there already, so that taking it does not wait. */
  readonly ready: boolean;
  readonly progress: FeedProgress;
  /** Of a topic what is to be stored before the chunk that `next` gave is applied; null for files, and until it was found. */
  readonly topicStart: TopicStart | null;
  /** How a source without an end stands; null for files. */
  readonly status: SourceStatus | null;
  /**
   * The next chunk; `end` of the source; `idle` where none came within the time. Throws BrokenContainer, FeedRefused,
   * Refusal, or what killed the thread.
   */
  next(waitMs: number): Promise<Chunk | 'end' | 'idle'>;
  /** Says that a chunk was applied; with `reusable`, that nothing will look at its messages' bytes again. */
  applied(chunk: Chunk, options: { reusable: boolean }): void;
  /** Told after each commit: the next offset by partition. */
  stored(nextOffsets: ReadonlyMap<number, number>): void;
}

export interface FeedThreadOptions {
  /** Of messages that carry none. */
  readonly migrationId: number;
  readonly onLog?: (line: LogLine) => void;
  readonly onStatus?: (status: SourceStatus) => void;
}

/** Chunks of about 1 MiB (800 events of the usual size) that the thread may be ahead. */
export const CHUNKS_AHEAD_MAX = 16;

export interface FeedContract extends ThreadContract {
  readonly data: { readonly source: SourceSpec; readonly migrationId: number };
  readonly requests: {
    /** The next chunk, null at the end of the source. Each is asked for ahead, and gives a buffer back that may be used again. */
    readonly next: (spare: ArrayBuffer | null) => DecodedChunk | null;
    readonly stored: (nextOffsets: ReadonlyMap<number, number>) => void;
  };
  readonly notices: { readonly topicStart: TopicStart; readonly status: SourceStatus; readonly log: LogLine };
}

export interface DecodedChunk {
  /** Of its names only those that were not sent before; `namesFrom` says how many were. */
  readonly chunk: Chunk;
  readonly namesFrom: number;
  readonly progress: FeedProgress;
}

/** Reads and decodes a source in a thread of its own. */
export function startFeedThread(source: SourceSpec, { migrationId, onLog, onStatus }: FeedThreadOptions): Feed {
  let progress: FeedProgress = { read: 0, total: null };
  let topicStart: TopicStart | null = null;
  let isStartSeen = true;
  let names: string[] = [];
  let status: SourceStatus | null = null;
  const thread = startThread<FeedContract>(threadFile('feed-worker', import.meta.url), {
    name: 'feed',
    data: { source, migrationId },
    on: {
      topicStart(said) {
        topicStart = said;
        isStartSeen = false;
      },
      status(said) {
        status = said;
        onStatus?.(said);
      },
      log: (line) => onLog?.(line),
    },
    errors: [BrokenContainer, FeedRefused, Refusal],
    worker: FEEDING,
  });
  /** In the order of the source; those that are here already come first. */
  const asked: Promise<DecodedChunk | null>[] = [];
  let here = 0;
  for (let ahead = 0; ahead < CHUNKS_AHEAD_MAX; ahead++) ask(null);

  function ask(spare: ArrayBuffer | null): void {
    const coming = thread.call('next', spare, spare === null ? [] : [spare]);
    const arrive = (): void => void here++;
    coming.then(arrive, arrive);
    asked.push(coming);
  }

  /** What was found before the topic is refused has been seen: it is stored all the same. */
  function startFirst(error: unknown): 'late' {
    if (isStartSeen) throw error;
    return 'late';
  }

  return {
    get ready() {
      return here > 0;
    },
    get progress() {
      return progress;
    },
    get topicStart() {
      return topicStart;
    },
    get status() {
      return status;
    },
    async next(waitMs) {
      const arrived = await within(asked[0] ?? new Promise<never>(() => {}), waitMs).catch(startFirst);
      isStartSeen = true;
      if (arrived === 'late') return 'idle';
      asked.shift();
      here -= 1;
      if (arrived === null) return 'end';
      progress = arrived.progress;
      if (arrived.namesFrom === 0) names = [];
      for (const name of arrived.chunk.names) names.push(name);
      return { ...arrived.chunk, names };
    },
    applied({ raw }, { reusable }) {
      ask(reusable && raw.buffer instanceof ArrayBuffer ? raw.buffer : null);
    },
    stored: (nextOffsets) => thread.notify('stored', nextOffsets),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
