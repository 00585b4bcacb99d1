import type { RetryPolicy } from '../../retry.ts';
import { isTransient } from './errors.ts';

/** For reading a topic: waits for whatever may come back. */
export const RETRY_READING: RetryPolicy = { firstMs: 250, longestMs: 10_000, forMsMax: null, passes: isTransient };

/** For watching a topic: nothing is lost by asking again. */
export const RETRY_WATCHING: RetryPolicy = { ...RETRY_READING, passes: () => true };

/** For a command: long enough for a broker to be restarted or replaced. */
export const RETRY_PRODUCING: RetryPolicy = {
  firstMs: 250,
  longestMs: 5_000,
  forMsMax: 60_000,
  passes: isTransient,
};
