import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import { BoundedMap } from '../bounded-map.ts';
import type { PublicKeyAlgorithm } from './auth-service.ts';
import { fetchKeySet } from './fetch-key-set.ts';
import type { KeySet } from './key-set.ts';

/** How long a key set is used without being fetched again: a key that its provider withdraws is refused after this. */
export const KEY_SET_AGE_MAX_MS = 300_000;
/** An unknown `kid` fetches again at most this often. */
export const REFETCH_AFTER_MS = 30_000;
/** A provider that could not be reached is not tried again for this long. */
export const FAILURE_AGE_MAX_MS = 10_000;
/** More URLs than providers and services can have; those of former providers are dropped. */
const URLS_MAX = 128;

interface Entry {
  keySet: KeySet | null;
  /** When `keySet` arrived. */
  fetchedAtMs: number;
  /** When the last attempt ended, successful or not. */
  triedAtMs: number;
  /** Whether it failed. */
  isUnavailable: boolean;
  underWay: Promise<void> | null;
}

export interface FoundKey {
  readonly key: KeyObject | Uint8Array;
  /** Where it was found; null for keys in the configuration, which never change while the program runs. */
  readonly keySet: { readonly url: string; readonly set: KeySet } | null;
}

/** A key; or none with that `kid`; or a fetch is needed, `unavailable` where the last one failed. */
export type KeyLookup = FoundKey | 'absent' | 'unavailable' | 'fetch';

/** Key sets by URL, fetched when a token needs them. A token never waits for the fetch of another URL. */
export class KeySetCache {
  readonly #entries = new BoundedMap<string, Entry>(URLS_MAX);
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #closed: AbortSignal;

  /** Pending fetches end with `closed`. */
  constructor({ logger, nowMs, closed }: { logger: Logger; nowMs: () => number; closed: AbortSignal }) {
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#closed = closed;
  }

  /** The current set of this URL, if any: a verification with another one no longer counts. */
  current(url: string): KeySet | null {
    const entry = this.#entries.get(url);
    if (entry === undefined || this.#nowMs() - entry.fetchedAtMs >= KEY_SET_AGE_MAX_MS) return null;
    return entry.keySet;
  }

  find(url: string, kid: string, algorithm: PublicKeyAlgorithm): KeyLookup {
    const set = this.current(url);
    const key = set?.key(kid, algorithm) ?? null;
    if (set !== null && key !== null) return { key, keySet: { url, set } };
    const entry = this.#entries.get(url);
    if (entry?.isUnavailable) return 'unavailable';
    const isSettled = entry !== undefined && entry.underWay === null && set !== null;
    return isSettled && this.#nowMs() - entry.triedAtMs < REFETCH_AFTER_MS ? 'absent' : 'fetch';
  }

  /**
   * Fetches the set again, or waits for the pending fetch; not if the last fetch failed a moment ago. A failure leaves a set
   * that is still fresh.
   */
  async refresh(url: string): Promise<void> {
    const entry = this.#entries.get(url) ?? this.#add(url);
    if (entry.underWay === null && this.#isLeftAlone(url, entry)) return;
    entry.underWay ??= this.#load(url, entry).finally(() => {
      entry.underWay = null;
    });
    await entry.underWay;
  }

  #isLeftAlone(url: string, { isUnavailable, triedAtMs }: Entry): boolean {
    const waitMs = this.current(url) === null ? FAILURE_AGE_MAX_MS : REFETCH_AFTER_MS;
    return isUnavailable && this.#nowMs() - triedAtMs < waitMs;
  }

  async #load(url: string, entry: Entry): Promise<void> {
    try {
      entry.keySet = await fetchKeySet(url, { closed: this.#closed });
      entry.fetchedAtMs = this.#nowMs();
      entry.isUnavailable = false;
    } catch (error) {
      entry.isUnavailable = true;
      if (this.current(url) === null) entry.keySet = null;
      this.#logger.warn({ url: shownUrl(url), reason: (error as Error).message }, 'key set unavailable');
    } finally {
      entry.triedAtMs = this.#nowMs();
    }
  }

  #add(url: string): Entry {
    const never = Number.NEGATIVE_INFINITY;
    const entry: Entry = { keySet: null, fetchedAtMs: 0, triedAtMs: never, isUnavailable: false, underWay: null };
    this.#entries.set(url, entry);
    return entry;
  }
}

/** The URL without what may be secret: user, password and query. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
