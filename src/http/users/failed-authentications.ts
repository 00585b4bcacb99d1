import { HttpFault } from '../server/http-fault.ts';

const WINDOW_MS = 60_000;
/** Above this many addresses in a window the one seen first is forgotten. */
const ADDRESSES_MAX = 10_000;

/** Counts the requests of an address that no token vouched for. */
export interface FailedAuthentications {
  /** Counts one more; throws a 429 where the address had its share of this minute already. */
  count(address: string): void;
}

export function createFailedAuthentications(options: {
  /** In a minute, for one address; 0 is no limit. */
  readonly perMinuteMax: number;
  readonly nowMs: () => number;
}): FailedAuthentications {
  const { perMinuteMax, nowMs } = options;
  const failures = new Map<string, { startedAtMs: number; count: number }>();
  return {
    count(address) {
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
