import type { KeyObject, webcrypto } from 'node:crypto';
import { createLocalJWKSet } from 'jose/jwks/local';
import {
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JWKSCacheInput,
  jwksCache,
} from 'jose/jwks/remote';
import type { Logger } from 'pino';
import { fetchFailure, readBounded } from '../bounded-fetch.ts';
import { BoundedMap } from './bounded-map.ts';
import { hasCredentials } from './user.ts';
import type { PublicKeyAlgorithm } from './users-config.ts';

/** More URLs than providers and services can have; those of former providers are dropped. */
const URLS_MAX = 128;
const BYTES_MAX = 1_048_576;
const REDIRECTS_MAX = 1;
/** A server that could not be reached is not tried again for this long. */
const FAILURE_AGE_MAX_MS = 10_000;
const LIMITS = {
  /** For the whole fetch, redirect and body included. */
  timeoutDuration: 10_000,
  /** An unknown `kid` fetches again at most this often. */
  cooldownDuration: 30_000,
  /** A key that its provider withdraws is refused after this. */
  cacheMaxAge: 300_000,
};

export interface FoundKey {
  readonly key: webcrypto.CryptoKey | KeyObject | Uint8Array;
  /** Whether its set is still the one in use. */
  readonly isCurrent: () => boolean;
}

type FindKey = (header: { readonly alg: PublicKeyAlgorithm; readonly kid: string }) => Promise<FoundKey>;

/**
 * Finds a key in the set of a URL, which is fetched when a token needs it; pending fetches end with `closed`. Rejects with the
 * code ERR_JWKS_NO_MATCHING_KEY for a key that the set has not, otherwise where there is no set.
 */
export function createKeySets({ logger, closed }: { logger: Logger; closed: AbortSignal }) {
  const sets = new BoundedMap<string, FindKey>(URLS_MAX);

  function openSet(url: string): FindKey {
    const cache: JWKSCacheInput = {};
    const fetchSet = boundedFetch(closed, (reason) => {
      const { origin, pathname } = new URL(url);
      logger.warn({ url: `${origin}${pathname}`, reason }, 'key set unavailable');
    });
    const set = createRemoteJWKSet(new URL(url), { ...LIMITS, [customFetch]: fetchSet, [jwksCache]: cache });
    return async (header) => {
      const key = await set(header);
      const { jwks } = cache;
      return { key, isCurrent: () => set.fresh && cache.jwks === jwks };
    };
  }

  return (url: string): FindKey => {
    const find = sets.get(url) ?? openSet(url);
    if (!sets.has(url)) sets.set(url, find);
    return find;
  };
}

/** Fetches within bounds of size, time and redirects; throws the last failure again while it is new. */
function boundedFetch(closed: AbortSignal, onFailure: (reason: string) => void): FetchImplementation {
  let failure: { readonly error: Error; readonly atMs: number } | null = null;
  return async (url, { signal, headers }) => {
    if (failure !== null && Date.now() - failure.atMs < FAILURE_AGE_MAX_MS) throw failure.error;
    try {
      const response = await follow(new URL(url), { signal: AbortSignal.any([closed, signal]), headers });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error(`status ${response.status}`);
      }
      const body = await readBounded(response.body, BYTES_MAX);
      if (body === null) throw new Error(`larger than ${BYTES_MAX} bytes`);
      createLocalJWKSet(JSON.parse(body.toString()));
      return new Response(body.toString());
    } catch (error) {
      failure = { error: error as Error, atMs: Date.now() };
      onFailure(fetchFailure(error));
      throw error;
    }
  };
}

async function follow(start: URL, init: RequestInit, redirects = 0): Promise<Response> {
  // `fetch` would refuse it too, with a message that repeats the password.
  if (hasCredentials(start)) throw new Error('the URL has a user or password in it, which is not supported');
  const response = await fetch(start, { ...init, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || location === null) return response;
  await response.body?.cancel();
  const target = URL.canParse(location, start.href) ? new URL(location, start) : null;
  if (target === null || target.origin !== start.origin) throw new Error('redirected to another origin');
  if (redirects === REDIRECTS_MAX) throw new Error(`redirected more than ${REDIRECTS_MAX} times`);
  return follow(target, init, redirects + 1);
}
