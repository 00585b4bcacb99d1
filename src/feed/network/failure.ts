import type { RetryPolicy } from '../../retry.ts';

/** A server of a network did not answer as it should; the message says which one and what it said. */
export class AnswerFailure extends Error {
  /** Null where there was no answer, or one with status 200 that cannot be read. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;

  constructor(message: string, about: Partial<Pick<AnswerFailure, 'status' | 'retryAfterMs' | 'cause'>>) {
    super(message, { cause: about.cause });
    this.name = 'AnswerFailure';
    this.status = about.status ?? null;
    this.retryAfterMs = about.retryAfterMs ?? null;
  }

  /** Whether it may pass by itself; what is wrong with a request of ours does not. */
  get passes(): boolean {
    return this.status === null || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** A proxy that asks for a longer pause is asked again after this one. */
const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** Other readers of the same server may have failed at the same moment: the random part keeps them apart. */
export const RETRY_ANSWER: RetryPolicy = {
  firstMs: 500,
  longestMs: 30_000,
  forMsMax: null,
  passes: (error) => error instanceof AnswerFailure,
  pauseMs: (error, usualMs) => {
    const asked = error instanceof AnswerFailure ? Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return asked + usualMs * (0.5 + Math.random() / 2);
  },
};
