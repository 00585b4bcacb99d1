import { HoldfastError } from './error.ts';

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 10_000;
/** A service may ask for a longer pause. */
const RETRY_AFTER_MAX_MS = 60_000;

export interface RetryOptions {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the error when the connection is lost or does not come about, and with null when it is there. */
  readonly onConnection?: ((lost: HoldfastError | null) => void) | undefined;
}

/** Pauses that grow with each failure in a row, up to a limit. Half of a pause is random: many clients must not come at once. */
export function createRetry({ signal, onConnection }: RetryOptions) {
  let failures = 0;
  const retry = {
    succeeded(): void {
      failures = 0;
      onConnection?.(null);
    },
    /** Waits until the next attempt, or until the signal is aborted. Throws an error that is not temporary. */
    async failed(error: unknown): Promise<void> {
      if (signal?.aborted) return;
      if (!(error instanceof HoldfastError && error.isTemporary)) throw error;
      onConnection?.(error);
      const longestMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** failures++);
      const asked = Math.min(RETRY_AFTER_MAX_MS, error.retryAfterMs ?? 0);
      await pause(Math.max(asked, (longestMs * (1 + Math.random())) / 2), signal);
    },
    /** Null once the signal is aborted. */
    async untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
      while (!signal?.aborted)
        try {
          const answer = await ask();
          if (failures > 0) retry.succeeded();
          return answer;
        } catch (error) {
          await retry.failed(error);
        }
      return null;
    },
  };
  return retry;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
