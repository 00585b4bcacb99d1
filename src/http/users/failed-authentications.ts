import { HttpFault } from '../server/http-fault.ts';

const WINDOW_MS = 60_000;
/** Above this many addresses in a window the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

/** Counts an address's requests without a valid token. */
export interface FailedAuthentications {
  /** Of all addresses, since the start. */
  readonly total: number;
  /** Counts one more; throws a 429 where the address has used up its limit for this minute. */
  count(address: string): void;
}

export function createFailedAuthentications(options: {
  /** Per minute and address; 0 is no limit. */
  readonly perMinuteMax: number;
  readonly nowMs: () => number;
}): FailedAuthentications {
  const { perMinuteMax, nowMs } = options;
  let total = 0;
  const failures = new Map<string, { startedAtMs: number; count: number }>();
  return {
    get total() {
      return total;
    },
    count(address) {
      total += 1;
      if (perMinuteMax === 0) return;
      const now = nowMs();
      const known = failures.get(address);
      if (known === undefined || now - known.startedAtMs >= WINDOW_MS) {
        failures.delete(address);
        failures.set(address, { startedAtMs: now, count: 1 });
        const oldest = failures.size > ADDRESSES_MAX ? failures.keys().next().value : undefined;
        if (oldest !== undefined) failures.delete(oldest);
        return;
      }
      if (known.count >= perMinuteMax) {
        const waitS = Math.ceil((known.startedAtMs + WINDOW_MS - now) / 1000);
        throw new HttpFault(429, 'Too many failed authentications', { 'Retry-After': String(waitS) });
      }
      known.count += 1;
    },
  };
}
