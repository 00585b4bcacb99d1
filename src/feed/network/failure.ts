import type { RetryPolicy } from '../../retry.ts';

/**
 * What to do after a failure: ask again, at first without a pause and perhaps with a new token; ask again after pauses; nothing,
 * because to ask again changes nothing.
 */
export type Conduct = 'new token' | 'reconnect' | 'back off' | 'stop';

/** What is known of a failure besides its message. */
export interface AboutFailure {
  readonly conduct: Conduct;
  /** Null where there was no answer, or one with status 200 that cannot be read. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** A smaller answer may be given. */
  readonly isTooMuch: boolean;
  /** The largest page that a Scan gives, where it said so. */
  readonly pageSizeMax: number | null;
  /** The name of the error, for a participant its own; null where there is none. */
  readonly code: string | null;
  /** What it says besides, by its own names. */
  readonly context: Readonly<Record<string, unknown>>;
  /** The user of the token lacks a right. */
  readonly isDenied: boolean;
}

const NOTHING_KNOWN: AboutFailure = {
  conduct: 'back off',
  status: null,
  retryAfterMs: null,
  isTooMuch: false,
  pageSizeMax: null,
  code: null,
  context: {},
  isDenied: false,
};

/** A server of a network did not answer as it should; the message says which one and what it said, and never what it was asked with. */
export class AnswerFailure extends Error {
  readonly about: AboutFailure;

  constructor(message: string, { cause, ...about }: Partial<AboutFailure> & { readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'AnswerFailure';
    this.about = { ...NOTHING_KNOWN, ...about };
  }
}

/** Whether what has such a status may pass by itself; what is wrong with a request of ours does not. */
export function mayStatusPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

export function mayPass(error: unknown): error is AnswerFailure {
  return error instanceof AnswerFailure && error.about.conduct !== 'stop';
}

/** A proxy that asks for a longer pause is asked again after this one. */
const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** Other readers of the same server may have failed at the same moment: the random part keeps them apart. */
export const RETRY_ANSWER: RetryPolicy = {
  firstMs: 500,
  longestMs: 30_000,
  forMsMax: null,
  passes: mayPass,
  pauseMs: (error, usualMs) => {
    const asked = error instanceof AnswerFailure ? Math.min(error.about.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return asked + usualMs * (0.5 + Math.random() / 2);
  },
};

/** The same after whatever has failed, where another server may be asked. */
export const RETRY_ANY: RetryPolicy = { ...RETRY_ANSWER, passes: () => true };
