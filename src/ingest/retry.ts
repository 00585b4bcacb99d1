import { setTimeout as sleep } from 'node:timers/promises';

/** What SQLite says of a full disk, a locked file or a failing device: nothing was written, and later it may work. */
const TRANSIENT = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/;
const DELAY_MS_MIN = 100;
const DELAY_MS_MAX = 5_000;

export function isTransient(error: unknown): error is Error {
  return error instanceof Error && TRANSIENT.test((error as { code?: string }).code ?? '');
}

/** Runs a step that touches the disk again and again, with growing pauses, while what it throws may pass by itself. */
export async function retryTransient<T>(
  step: () => T,
  { signal, onFailure, onSuccess }: { signal: AbortSignal; onFailure: (error: Error) => void; onSuccess: () => void },
): Promise<T> {
  for (let delayMs = DELAY_MS_MIN; ; delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)) {
    try {
      const result = step();
      if (delayMs > DELAY_MS_MIN) onSuccess();
      return result;
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      onFailure(error);
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  }
}
