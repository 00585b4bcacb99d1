import { BoundedMap } from '../../users/bounded-map.ts';
import { HttpFault } from '../server/http-fault.ts';

const WINDOW_MS = 60_000;
/** Above this many addresses in a window the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

/** Counts an address's requests without a valid token. */
export class FailedAuthentications {
  /** Of all addresses, since the start. */
  total = 0;
  readonly #failures = new BoundedMap<string, { startedAtMs: number; count: number }>(ADDRESSES_MAX);
  readonly #perMinuteMax: number;
  readonly #nowMs: () => number;

  /** Per minute and address; 0 is no limit. */
  constructor(perMinuteMax: number, nowMs: () => number) {
    this.#perMinuteMax = perMinuteMax;
    this.#nowMs = nowMs;
  }

  /** Counts one more; throws a 429 where the address has used up its limit for this minute. */
  count(address: string): void {
    this.total += 1;
    if (this.#perMinuteMax === 0) return;
    const nowMs = this.#nowMs();
    const known = this.#failures.get(address);
    if (known === undefined || nowMs - known.startedAtMs >= WINDOW_MS) {
      this.#failures.delete(address);
      this.#failures.set(address, { startedAtMs: nowMs, count: 1 });
    } else if (known.count < this.#perMinuteMax) {
      known.count += 1;
    } else {
      const waitS = Math.ceil((known.startedAtMs + WINDOW_MS - nowMs) / 1000);
      throw new HttpFault(429, 'Too many failed authentications', { 'Retry-After': String(waitS) });
    }
  }
}
