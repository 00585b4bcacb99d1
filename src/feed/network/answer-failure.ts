import type { RetryPolicy } from '../../retry.ts';

/** What to do after a failure: ask again at once, perhaps with a new token; ask again after a pause; or give up. */
export type Conduct = 'new token' | 'reconnect' | 'back off' | 'stop';

export interface AboutFailure {
  readonly conduct: Conduct;
  /** Null where there was no answer, or an answer with status 200 that cannot be read. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** A smaller answer may be given. */
  readonly isTooMuch: boolean;
  /** The largest page that a Scan gives, where it said so. */
  readonly pageSizeMax: number | null;
  /** The server's own name of the error; null where there is none. */
  readonly code: string | null;
  /** The `context` of a participant's error. */
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

/** A server did not answer as it should. The message names the server and what it said, and never what it was sent. */
export class AnswerFailure extends Error {
  readonly about: AboutFailure;

  constructor(message: string, { cause, ...about }: Partial<AboutFailure> & { readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'AnswerFailure';
    this.about = { ...NOTHING_KNOWN, ...about };
  }
}

export function mayStatusPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

export function mayPass(error: unknown): error is AnswerFailure {
  return error instanceof AnswerFailure && error.about.conduct !== 'stop';
}

const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** The random part keeps apart the readers that failed at the same moment. */
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
