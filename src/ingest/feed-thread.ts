import type { DecodedBatch } from '../feed/decoded-batch.ts';
import {
  BrokenContainer,
  FeedRefused,
  type Reached,
  type SourceContext,
  type SourceProgress,
  type SourceSpec,
  type SourceStart,
} from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadContract, ThreadLogger } from '../threads/thread.ts';
import { DECODING, startThread, threadFile } from '../threads/thread.ts';
import { furthestOf, reachedOf } from '../views/write/source-start.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import { BATCHES_AHEAD_MAX, type DecodedInTime } from './decode-pool.ts';

/** How a feed's source is opened, in a form that can cross threads. */
export interface Opening {
  readonly source: SourceSpec;
  /** At most so many threads decode. Null: as many as suit the cores. */
  readonly decodeWorkers: number | null;
  readonly context: Omit<SourceContext, 'logger'>;
}

/** Batches of one source, decoded a bounded number ahead of the one being applied. */
export interface Feed extends AsyncDisposable {
  /** Whether `next` returns without waiting. */
  readonly ready: boolean;
  readonly progress: SourceProgress;
  /** The source's last telemetry; null for files, and before the first. */
  readonly telemetry: unknown;
  /**
   * The next batch, or what to store before the one after it; `end` of the source; `idle` where none came within the time. Throws
   * BrokenContainer, FeedRefused, Refusal, or the error that ended the thread.
   */
  next(waitMs: number): Promise<DecodedBatch | SourceStart | 'end' | 'idle'>;
  /** Says that a batch was applied, and that its messages' bytes are not read any more. */
  applied(batch: DecodedBatch): void;
  /** Called after each commit with the stored resume token of each lane, and the furthest time applied. */
  stored(resumeTokens: ReadonlyMap<string, string>, furthest: Reached | null): void;
}

export interface FeedThreadOptions {
  readonly logger?: ThreadLogger;
  readonly onTelemetry?: () => void;
  /** Called for each batch with how long decoding it took. */
  readonly onDecoded?: (seconds: number) => void;
}

export interface FeedContract extends ThreadContract {
  readonly data: Opening;
  readonly requests: {
    /** The next batch, null at the end of the source. Requested ahead. `spare`: the buffer of an applied one, for a later one. */
    readonly next: (spare: ArrayBuffer | null) => Next;
    readonly stored: (stored: { resumeTokens: ReadonlyMap<string, string>; furthest: Reached | null }) => void;
  };
  readonly notices: { readonly telemetry: unknown };
}

export type Next = (DecodedInTime & { readonly progress: SourceProgress }) | SourceStart | null;

/** What a source is opened with besides its own settings. */
export function openingContext(writer: ViewsWriter): Opening['context'] {
  const { storedSource: stored, directoryId, sourceMigrationId: migrationId } = writer;
  const { state } = writer;
  const times = { reached: reachedOf(state), furthest: furthestOf(state), lastUpdate: furthestOf(state, 'updateTime') };
  return { stored, ...times, directoryId, migrationId };
}

interface Requested {
  readonly next: Promise<Next>;
  hasArrived: boolean;
}

/** Reads a source in a thread of its own, which decodes it together with others. */
export function startFeedThread(opening: Opening, { logger, onTelemetry, onDecoded }: FeedThreadOptions = {}): Feed {
  let progress: SourceProgress = { read: 0, total: null };
  let telemetry: unknown = null;
  const thread = startThread<FeedContract>(threadFile('feed-worker', import.meta.url), {
    name: 'feed',
    data: opening,
    on: {
      telemetry(measured) {
        telemetry = measured;
        onTelemetry?.();
      },
    },
    errors: [BrokenContainer, FeedRefused, Refusal],
    worker: DECODING,
    logger,
  });
  /** The batches requested, in the order of the source; a later one may arrive earlier. */
  const requests: Requested[] = [];
  let wake: () => void = () => {};
  for (let ahead = 0; ahead < BATCHES_AHEAD_MAX; ahead++) request(null);

  function request(spare: ArrayBuffer | null): void {
    const coming: Requested = { next: thread.call('next', spare, spare === null ? [] : [spare]), hasArrived: false };
    const arrive = (): void => {
      coming.hasArrived = true;
      if (requests[0] === coming) wake();
    };
    coming.next.then(arrive, arrive);
    requests.push(coming);
  }

  /** A feed may wait for days, so that nothing may be left on the promise that it waits for. */
  function firstOrLate(waitMs: number): Promise<void> {
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
      return requests[0]?.hasArrived === true;
    },
    get progress() {
      return progress;
    },
    get telemetry() {
      return telemetry;
    },
    async next(waitMs) {
      if (requests[0]?.hasArrived !== true) await firstOrLate(waitMs);
      const [first] = requests;
      if (first?.hasArrived !== true) return 'idle';
      const answer = await first.next;
      requests.shift();
      if (answer === null) return 'end';
      if ('identity' in answer) {
        request(null);
        return answer;
      }
      progress = answer.progress;
      onDecoded?.(answer.seconds);
      return answer.batch;
    },
    applied({ raw }) {
      request(raw.buffer instanceof ArrayBuffer ? raw.buffer : null);
    },
    stored: (resumeTokens, furthest) => thread.notify('stored', { resumeTokens, furthest }),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
