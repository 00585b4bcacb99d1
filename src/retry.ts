import { setTimeout as sleep } from 'node:timers/promises';
import { isMachineError, mayPass } from './machine-errors.ts';

/** How something that failed is tried again. Only one process waits for each thing, so pauses are not spread at random. */
export interface RetryPolicy {
  /** After a first failure; each pause is twice the one before, up to the longest. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** From the first failure on, until the next success; null: forever. */
  readonly forMsMax: number | null;
  /** Whether an error may pass; any other is thrown. */
  readonly passes: (error: unknown) => boolean;
}

/** A step of the ingest that the disk or the database refused. */
export const RETRY_DISK: RetryPolicy = {
  firstMs: 100,
  longestMs: 5_000,
  forMsMax: null,
  passes: (error) => mayPass(error, 'running'),
};

/** A feed that could not be opened because connections of others use up the files. */
export const RETRY_OPENING: RetryPolicy = { ...RETRY_DISK, passes: (error) => isMachineError(error, 'outOfFiles') };

/** The start of the service. Each try opens everything again. */
export const RETRY_START: RetryPolicy = {
  firstMs: 1_000,
  longestMs: 5_000,
  forMsMax: null,
  passes: (error) => mayPass(error, 'starting'),
};

/** Pauses after failures. Whoever can say his work as one step has `retry`. */
export interface Pauses {
  /**
   * Waits as long as the policy says, having told of it; not at all, or no longer, once the signal aborts. Throws the error
   * where it does not pass or has not passed in time.
   */
  afterFailure(error: unknown, tell: Tell): Promise<void>;
  /** The next failure is a first one again. */
  afterSuccess(): void;
}

export interface Pause {
  readonly error: Error;
  readonly retryInMs: number;
  /** How much longer it is tried; Infinity where the policy has no end. */
  readonly leftMs: number;
}

type Tell = (pause: Pause) => void | Promise<void>;

interface Waiting {
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  /** Of a clock that is never set. */
  readonly nowMs?: () => number;
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export function createPauses(policy: RetryPolicy, { signal, nowMs = monotonicMs, wait = pause }: Waiting): Pauses {
  let nextMs = policy.firstMs;
  let failingSinceMs: number | null = null;
  return {
    async afterFailure(error, tell) {
      failingSinceMs ??= nowMs();
      const leftMs = failingSinceMs + (policy.forMsMax ?? Infinity) - nowMs();
      if (!(error instanceof Error) || !policy.passes(error) || leftMs <= 0) throw error;
      if (signal?.aborted === true) return;
      const retryInMs = Math.min(nextMs, leftMs);
      nextMs = Math.min(nextMs * 2, policy.longestMs);
      await tell({ error, retryInMs, leftMs });
      await wait(retryInMs, signal);
    },
    afterSuccess() {
      nextMs = policy.firstMs;
      failingSinceMs = null;
    },
  };
}

interface Retrying extends Waiting {
  readonly onFailure?: Tell;
  /** Called where it succeeds after a failure. */
  readonly onRecovery?: () => void;
}

/** Runs a step until it succeeds, what it throws does not pass, or the signal aborts: then what it threw last is thrown. */
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

function monotonicMs(): number {
  return performance.now();
}

/** An abort ends it early. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}
