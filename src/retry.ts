import { setTimeout as sleep } from 'node:timers/promises';
import { isMachineError, mayPass } from './machine-errors.ts';
import { PassingRefusal } from './refusal.ts';

/** How a failed step is tried again. Where many processes may wait for one thing, `pauseMs` adds a random part. */
export interface RetryPolicy {
  /** The pause after a first failure; each is twice the one before, up to the longest. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** How long to go on trying after the first failure; null: forever. */
  readonly forMsMax: number | null;
  /** Whether an error may pass by itself; any other is thrown. */
  readonly passes: (error: unknown) => boolean;
  /** The pause after this error, where that is not the usual one. */
  readonly pauseMs?: (error: Error, usualMs: number) => number;
}

/** For a step of the ingest that failed at the disk or the database. */
export const RETRY_DISK: RetryPolicy = {
  firstMs: 100,
  longestMs: 5_000,
  forMsMax: null,
  passes: (error) => mayPass(error, 'running'),
};

/** For a feed that could not be opened because connections use up the file descriptors. */
export const RETRY_OPENING: RetryPolicy = { ...RETRY_DISK, passes: (error) => isMachineError(error, 'outOfFiles') };

/** For the start of the service. Each try opens everything again. */
export const RETRY_START: RetryPolicy = {
  firstMs: 1_000,
  longestMs: 5_000,
  forMsMax: null,
  passes: (error) => error instanceof PassingRefusal || mayPass(error, 'starting'),
};

export interface Pause {
  readonly error: Error;
  readonly retryInMs: number;
  /** For how much longer it is tried; Infinity where the policy has no end. */
  readonly leftMs: number;
}

type OnPause = (pause: Pause) => void | Promise<void>;

interface Waiting {
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
  /** Of a clock that is never set. */
  readonly nowMs?: () => number;
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export type Pauses = ReturnType<typeof createPauses>;

/** Pauses after failures. For work that is one function, `retry` is simpler. */
export function createPauses(policy: RetryPolicy, { signal, nowMs = () => performance.now(), wait = pause }: Waiting) {
  let nextMs = policy.firstMs;
  let failingSinceMs: number | null = null;
  return {
    /** Reports the wait, and waits as the policy says or until the signal aborts. Throws what does not pass by itself, or not in time. */
    async afterFailure(error: unknown, onPause: OnPause): Promise<void> {
      failingSinceMs ??= nowMs();
      const leftMs = failingSinceMs + (policy.forMsMax ?? Infinity) - nowMs();
      if (!(error instanceof Error) || !policy.passes(error) || leftMs <= 0) throw error;
      if (signal?.aborted === true) return;
      const retryInMs = Math.min(policy.pauseMs?.(error, nextMs) ?? nextMs, leftMs);
      nextMs = Math.min(nextMs * 2, policy.longestMs);
      await onPause({ error, retryInMs, leftMs });
      await wait(retryInMs, signal);
    },
    /** The next failure is a first one again. */
    afterSuccess(): void {
      nextMs = policy.firstMs;
      failingSinceMs = null;
    },
  };
}

interface Retrying extends Waiting {
  readonly onFailure?: OnPause;
  /** Called when it succeeds after a failure. */
  readonly onRecovery?: () => void;
}

/** Runs a step until it succeeds. Throws its last error once that does not pass by itself, or the signal aborts. */
export async function retry<T>(policy: RetryPolicy, step: () => T | Promise<T>, options: Retrying = {}): Promise<T> {
  const pauses = createPauses(policy, options);
  for (let hasFailed = false; ; hasFailed = true) {
    try {
      const result = await step();
      if (hasFailed) options.onRecovery?.();
      return result;
    } catch (error) {
      await pauses.afterFailure(error, options.onFailure ?? (() => {}));
      if (options.signal?.aborted === true) throw error;
    }
  }
}

/** Sleeps, or less if the signal aborts. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}
