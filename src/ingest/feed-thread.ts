import { Worker } from 'node:worker_threads';
import type { Chunk } from '../chunk/chunk.ts';
import type { KafkaSourceOptions } from '../feed/kafka/source.ts';
import { BrokenContainer, FeedRefused, type SourceStatus, type TopicStart } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { threadFile } from '../thread-file.ts';

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

/** What a thread wants logged; the process has one logger, in its main thread. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** Of every thread that feeds or writes: a thread started by one without them would not have the second. */
export const THREAD_OPTIONS = {
  // A nursery of 8 MiB: objects die young there, and larger ones let a thread hold hundreds of megabytes of garbage.
  resourceLimits: { maxYoungGenerationSizeMb: 24 },
  // The descriptor of a pipe is closed by its socket. Node would close that number again when the thread ends, whatever it
  // stands for by then: a client's connection, a database.
  trackUnmanagedFds: false,
};
/** Chunks of about 1 MiB (800 events of the usual size) that the thread may be ahead. */
export const CHUNKS_AHEAD_MAX = 16;
/** How long a stop waits for the thread to close its file, or to leave its group, so that the next start need not wait for a timeout. */
const STOP_GRACE_MS = 6_000;

export type FeedMessage =
  | {
      readonly type: 'chunk';
      /** Of its names only those that were not sent before; `namesFrom` says how many were. */
      readonly chunk: Chunk;
      readonly namesFrom: number;
      readonly progress: FeedProgress;
    }
  | { readonly type: 'topic_start'; readonly start: TopicStart }
  | { readonly type: 'end' }
  | { readonly type: 'broken'; readonly place: string; readonly reason: string }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'feed_refused'; readonly message: string };

export type FeedNotice =
  | { readonly type: 'status'; readonly status: SourceStatus }
  | { readonly type: 'log'; readonly line: LogLine };

export type FeedRequest =
  /** One chunk less is ahead, and the buffer that may be used again. */
  | { readonly type: 'applied'; readonly raw: ArrayBuffer | null }
  | { readonly type: 'stored'; readonly nextOffsets: ReadonlyMap<number, number> }
  | { readonly type: 'stop' };

/** Reads and decodes a source in a thread of its own. */
export function startFeedThread(source: SourceSpec, { migrationId, onLog, onStatus }: FeedThreadOptions): Feed {
  const worker = new Worker(threadFile('feed-worker', import.meta.url), {
    name: 'feed',
    workerData: { source, migrationId },
    ...THREAD_OPTIONS,
  });
  const queue: FeedMessage[] = [];
  let failure: Error | null = null;
  let wake: () => void = () => {};
  let progress: FeedProgress = { read: 0, total: null };
  let topicStart: TopicStart | null = null;
  let names: string[] = [];
  let status: SourceStatus | null = null;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const request = (message: FeedRequest, transfer: ArrayBuffer[] = []): void => worker.postMessage(message, transfer);
  worker.on('message', (message: FeedMessage | FeedNotice) => {
    if (message.type === 'log') return onLog?.(message.line);
    if (message.type === 'status') {
      status = message.status;
      return onStatus?.(status);
    }
    queue.push(message);
    wake();
  });
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  });
  worker.on('exit', (code) => {
    failure ??= new Error(`the feed thread ended by itself (code ${code})`);
    wake();
  });

  function arrival(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    get ready() {
      return queue.length > 0;
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
      if (queue.length === 0 && failure === null) await arrival(waitMs);
      const message = queue.shift();
      if (message === undefined && failure !== null) throw failure;
      switch (message?.type) {
        case undefined:
          return 'idle';
        case 'chunk':
          progress = message.progress;
          if (message.namesFrom === 0) names = [];
          for (const name of message.chunk.names) names.push(name);
          return { ...message.chunk, names };
        case 'topic_start':
          topicStart = message.start;
          return 'idle';
        case 'end':
          return 'end';
        case 'broken':
          throw new BrokenContainer(message.place, message.reason);
        case 'refused':
          throw new Refusal(message.message);
        case 'feed_refused':
          throw new FeedRefused(message.message);
      }
    },
    applied({ raw }, { reusable }) {
      const buffer = reusable && raw.buffer instanceof ArrayBuffer ? raw.buffer : null;
      request({ type: 'applied', raw: buffer }, buffer === null ? [] : [buffer]);
    },
    stored: (nextOffsets) => request({ type: 'stored', nextOffsets }),
    async [Symbol.asyncDispose]() {
      request({ type: 'stop' });
      const late = setTimeout(() => void worker.terminate(), STOP_GRACE_MS);
      await exited;
      clearTimeout(late);
    },
  };
}
