import { setTimeout as sleep } from 'node:timers/promises';

/** What SQLite says of a full disk, a locked file or a failing device: nothing was written, and later it may work. */
const TRANSIENT = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/;
const DELAY_MS_MIN = 100;
const DELAY_MS_MAX = 5_000;

export function isTransient(error: unknown): error is Error {
  return error instanceof Error && TRANSIENT.test((error as { code?: string }).code ?? '');
}

/** A thread or a file that could not be opened, for the connections of others: an error of a thread keeps its words only. */
export function isOutOfFiles(error: unknown): error is Error {
  return error instanceof Error && /EMFILE|ENFILE|too many open files/.test(error.message);
}

interface Retrying {
  readonly signal: AbortSignal;
  /** Whether it may pass by itself; what the disk or the database refuses unless given. */
  readonly passes?: (error: unknown) => error is Error;
  readonly onFailure: (error: Error) => void;
  readonly onSuccess: () => void;
}

/** Runs a step again and again, with growing pauses, while what it throws may pass by itself. */
export async function retryTransient<T>(
  step: () => T | Promise<T>,
  { signal, passes = isTransient, onFailure, onSuccess }: Retrying,
): Promise<T> {
  for (let delayMs = DELAY_MS_MIN; ; delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)) {
    try {
      const result = await step();
      if (delayMs > DELAY_MS_MIN) onSuccess();
      return result;
    } catch (error) {
      if (!passes(error) || signal.aborted) throw error;
      onFailure(error);
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  }
}
