import type { RetryPolicy } from '../../retry.ts';
import { isTransient } from './errors.ts';

/** A topic that is read: whatever comes and goes there is waited for. */
export const RETRY_READING: RetryPolicy = { firstMs: 250, longestMs: 10_000, forMsMax: null, passes: isTransient };

/** A topic that is only watched has nothing to lose by asking again. */
export const RETRY_WATCHING: RetryPolicy = { ...RETRY_READING, passes: () => true };

/** Of a command: long enough for a broker to be restarted, or for another one to take its place. */
export const RETRY_PRODUCING: RetryPolicy = {
  firstMs: 250,
  longestMs: 5_000,
  forMsMax: 60_000,
  passes: isTransient,
};
