import { readBounded } from '../../bounded-body.ts';
import { fetchFailure } from '../../fetch-failure.ts';
import { hasCredentials } from '../formats.ts';
import { type KeySet, parseKeySet } from './key-set.ts';

const BYTES_MAX = 1_048_576;
const REDIRECTS_MAX = 1;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** For the whole fetch, redirect and body included: a server that drips bytes gains nothing. */
const FETCH_TIMEOUT_MS = 10_000;

/**
 * Fetches a key set, within bounds of size, time and redirects, until `closed`. Throws for anything but a key set; the
 * message says why, for the log.
 */
export async function fetchKeySet(
  url: string,
  { closed, timeoutMs = FETCH_TIMEOUT_MS }: { closed: AbortSignal; timeoutMs?: number },
): Promise<KeySet> {
  try {
    const response = await followRedirects(new URL(url), AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)]));
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    const body = await readBounded(response.body, BYTES_MAX);
    if (body === null) throw new Error(`larger than ${BYTES_MAX} bytes`);
    const keySet = parseKeySet(body.toString());
    if (keySet === null) throw new Error('the document is no key set');
    return keySet;
  } catch (error) {
    throw new Error(fetchFailure(error), { cause: error });
  }
}

async function followRedirects(start: URL, signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let redirects = 0; ; redirects += 1) {
    // `fetch` would refuse it too, with a message that repeats the password.
    if (hasCredentials(url)) throw new Error('the URL has a user or password in it, which is not supported');
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } });
    const location = response.headers.get('location');
    if (!REDIRECT_STATUSES.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const target = URL.canParse(location, url.href) ? new URL(location, url) : null;
    if (target === null || target.origin !== start.origin) throw new Error('redirected to another origin');
    if (redirects === REDIRECTS_MAX) throw new Error(`redirected more than ${REDIRECTS_MAX} times`);
    url = target;
  }
}
