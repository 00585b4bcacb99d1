import type { RetryPolicy } from '../../retry.ts';

/** A Scan did not answer as it should; the message says which one and what it said. */
export class ScanFailure extends Error {
  /** Null where there was no answer, or one with status 200 that cannot be read. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** A smaller page may be answered. */
  readonly isTooMuch: boolean;
  /** The largest page that the Scan gives, where it said so. */
  readonly pageSizeMax: number | null;
  /** To ask again changes nothing, whatever its status. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    about: Partial<Omit<ScanFailure, keyof Error | 'passes'>> & { readonly cause?: unknown },
  ) {
    super(message, { cause: about.cause });
    this.name = 'ScanFailure';
    this.status = about.status ?? null;
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.isTooMuch = about.isTooMuch ?? false;
    this.pageSizeMax = about.pageSizeMax ?? null;
    this.isFinal = about.isFinal ?? false;
  }

  /** Whether it may pass by itself; what is wrong with a request of ours does not. */
  get passes(): boolean {
    if (this.isFinal) return false;
    return this.status === null || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** A proxy that asks for a longer pause is asked again after this one. */
const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** Other readers of the same Scan may have failed at the same moment: the random part keeps them apart. */
export const RETRY_SCAN: RetryPolicy = {
  firstMs: 500,
  longestMs: 30_000,
  forMsMax: null,
  passes: (error) => error instanceof ScanFailure,
  pauseMs: (error, usualMs) => {
    const asked = error instanceof ScanFailure ? Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return asked + usualMs * (0.5 + Math.random() / 2);
  },
};
