import { Worker } from 'node:worker_threads';
import { BrokenContainer } from '../feed/source.ts';
import type { Chunk } from '../ledger/pack/chunk.ts';
import { Refusal } from '../refusal.ts';
import { threadFile } from '../thread-file.ts';

/** Which source a feed reads, in a form that can cross threads. */
export type SourceSpec = { readonly kind: 'file'; readonly path: string };

export interface FeedProgress {
  readonly read: number;
  readonly total: number | null;
}

/** Chunks of one source, decoded ahead of who applies them, with a bound on how far ahead. */
export interface Feed extends AsyncDisposable {
  /** Whether a chunk is there already, so that taking it does not wait. */
  readonly ready: boolean;
  readonly progress: FeedProgress;
  /**
   * The next chunk; `end` of the source; `idle` where none came within the time. Throws BrokenContainer, Refusal, or what
   * killed the thread.
   */
  next(waitMs: number): Promise<Chunk | 'end' | 'idle'>;
  /** Says that a chunk was applied; with `reusable`, that nothing will look at its messages' bytes again. */
  applied(chunk: Chunk, options: { reusable: boolean }): void;
}

/** Chunks that the thread may be ahead: with chunks of about 1 MiB, more than one batch of 50,000 events. */
export const CHUNKS_AHEAD_MAX = 16;

export type FeedMessage =
  | { readonly type: 'chunk'; readonly chunk: Chunk; readonly progress: FeedProgress }
  | { readonly type: 'end' }
  | { readonly type: 'broken'; readonly place: string; readonly reason: string }
  | { readonly type: 'refused'; readonly message: string };

/** The other way: one chunk less is ahead, and the buffer that may be used again. */
export interface ChunkApplied {
  readonly raw: ArrayBuffer | null;
}

/** Reads and decodes a source in a thread of its own. */
export function startFeedThread(source: SourceSpec, { migrationId }: { migrationId: number }): Feed {
  const worker = new Worker(threadFile('feed-worker', import.meta.url), {
    name: 'feed',
    workerData: { source, migrationId },
    // A small nursery: decoded objects die young, and a larger one would only hold more garbage.
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });
  const queue: FeedMessage[] = [];
  let failure: Error | null = null;
  let wake: () => void = () => {};
  let progress: FeedProgress = { read: 0, total: null };
  worker.on('message', (message: FeedMessage) => {
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
    async next(waitMs) {
      if (queue.length === 0 && failure === null) await arrival(waitMs);
      const message = queue.shift();
      if (message === undefined && failure !== null) throw failure;
      switch (message?.type) {
        case undefined:
          return 'idle';
        case 'chunk':
          progress = message.progress;
          return message.chunk;
        case 'end':
          return 'end';
        case 'broken':
          throw new BrokenContainer(message.place, message.reason);
        case 'refused':
          throw new Refusal(message.message);
      }
    },
    applied({ raw }, { reusable }) {
      const buffer = reusable && raw.buffer instanceof ArrayBuffer ? raw.buffer : null;
      worker.postMessage({ raw: buffer } satisfies ChunkApplied, buffer === null ? [] : [buffer]);
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
