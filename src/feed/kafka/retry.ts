import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedLogger } from './client.ts';
import { describeTrouble, isTransient } from './errors.ts';

export interface PatienceOptions {
  readonly topic: string;
  readonly doing: 'read' | 'write to';
  /** How long a step is tried again, from its first failure on. */
  readonly patienceMs: number;
  /** Ends the waiting: what failed last is thrown. */
  readonly signal: AbortSignal;
  readonly logger: FeedLogger;
  /** What the log says while one try takes long. */
  readonly notice: string;
}

const BACK_OFF_MS = { first: 250, most: 5_000 };
/** How often a step that takes long says so. */
const NOTICE_MS = 5_000;

/** Runs a step again and again while what it throws may pass by itself, for a stated time, and says that it waits. */
export async function withPatience<Result>(
  step: () => Promise<Result>,
  { topic, doing, patienceMs, signal, logger, notice }: PatienceOptions,
): Promise<Result> {
  let failingSince: number | null = null;
  for (let backOffMs = BACK_OFF_MS.first; ; backOffMs = Math.min(backOffMs * 2, BACK_OFF_MS.most)) {
    try {
      return await withNotice(step(), () => logger.info({ topic }, notice));
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      failingSince ??= performance.now();
      const leftMs = failingSince + patienceMs - performance.now();
      if (leftMs <= 0) throw error;
      const seconds = Math.ceil(leftMs / 1000);
      logger.warn(
        { topic, err: error, retryInMs: backOffMs },
        `cannot ${doing} topic ${topic}: ${describeTrouble(error, topic)}; waiting for it, for ${seconds} s at most`,
      );
      await sleep(Math.min(backOffMs, leftMs), undefined, { signal }).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}

/** Says again and again that a step is not done yet: a broker that takes connections and never answers looks like work. */
export async function withNotice<Result>(step: Promise<Result>, say: () => void): Promise<Result> {
  const timer = setInterval(say, NOTICE_MS);
  try {
    return await step;
  } finally {
    clearInterval(timer);
  }
}
