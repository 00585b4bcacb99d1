import type { Chunk } from '../chunk/chunk.ts';
import {
  BrokenContainer,
  FeedRefused,
  type SourceContext,
  type SourceProgress,
  type SourceSpec,
  type SourceStart,
} from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadContract } from '../threads/contract.ts';
import type { LogLine } from '../threads/log-line.ts';
import { FEEDING, startThread, threadFile } from '../threads/thread.ts';
import { within } from './within.ts';

/** How a feed's source is opened, in a form that can cross threads. */
export interface Opening {
  readonly source: SourceSpec;
  /** Only how much of it there is, and no messages. */
  readonly watch: boolean;
  readonly context: Omit<SourceContext, 'logger'>;
}

/** Chunks of one source, decoded ahead of who applies them, with a bound on how far ahead. */
export interface Feed extends AsyncDisposable {
  /** Whether a chunk is there already, so that taking it does not wait. */
  readonly ready: boolean;
  readonly progress: SourceProgress;
  /** Of a source that resumes what is to be stored before the chunk that `next` gave is applied; null for files, and until it was found. */
  readonly start: SourceStart | null;
  /** What the source said last of itself; null for files, and before that. */
  readonly heard: unknown;
  /**
   * The next chunk; `end` of the source; `idle` where none came within the time. Throws BrokenContainer, FeedRefused,
   * Refusal, or what killed the thread.
   */
  next(waitMs: number): Promise<Chunk | 'end' | 'idle'>;
  /** Says that a chunk was applied; with `reusable`, that nothing will look at its messages' bytes again. */
  applied(chunk: Chunk, options: { reusable: boolean }): void;
  /** Told after each commit: the cursor by lane. */
  stored(cursors: ReadonlyMap<string, string>): void;
}

export interface FeedThreadOptions {
  readonly onLog?: (line: LogLine) => void;
  readonly onHeard?: () => void;
}

/** Chunks of about 1 MiB (800 events of the usual size) that the thread may be ahead. */
export const CHUNKS_AHEAD_MAX = 16;

export interface FeedContract extends ThreadContract {
  readonly data: Opening;
  readonly requests: {
    /** The next chunk, null at the end of the source. Each is asked for ahead, and gives a buffer back that may be used again. */
    readonly next: (spare: ArrayBuffer | null) => DecodedChunk | null;
    readonly stored: (cursors: ReadonlyMap<string, string>) => void;
  };
  readonly notices: { readonly start: SourceStart; readonly heard: unknown; readonly log: LogLine };
}

export interface DecodedChunk {
  /** Of its names only those that were not sent before; `namesFrom` says how many were. */
  readonly chunk: Chunk;
  readonly namesFrom: number;
  readonly progress: SourceProgress;
}

/** Reads and decodes a source in a thread of its own. */
export function startFeedThread(opening: Opening, { onLog, onHeard }: FeedThreadOptions = {}): Feed {
  let progress: SourceProgress = { read: 0, total: null };
  let start: SourceStart | null = null;
  let isStartSeen = true;
  let names: string[] = [];
  let heard: unknown = null;
  const thread = startThread<FeedContract>(threadFile('feed-worker', import.meta.url), {
    name: 'feed',
    data: opening,
    on: {
      start(said) {
        start = said;
        isStartSeen = false;
      },
      heard(said) {
        heard = said;
        onHeard?.();
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

  /** What was found before the source is refused has been seen: it is stored all the same. */
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
    get start() {
      return start;
    },
    get heard() {
      return heard;
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
    stored: (cursors) => thread.notify('stored', cursors),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
