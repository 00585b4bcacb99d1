import { errorOf, HoldfastError } from './error.ts';
import { type AnswerOf, type ParametersOf, type Path, POSTED } from './operations.ts';

export interface ClientOptions {
  /** Where the service is, with the path under which a proxy serves it. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** In place of the global `fetch`, for example one with a client certificate. */
  readonly fetch?: typeof fetch;
}

/** A request as a value: to send it later, or to show it. */
export interface HoldfastRequest<Answer> {
  readonly url: string;
  /** Sent as JSON with POST; a GET has none. */
  readonly body?: object;
  /** Never set: it only ties a request to the type of its answer. */
  readonly answer?: Answer;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export type Requests = ReturnType<typeof createRequests>;

export function createRequests({ url: base, apiKey = '', fetch: send = fetch }: ClientOptions) {
  const root = new URL(base.endsWith('/') ? base : `${base}/`);
  if (root.username || root.password) throw new RangeError('url: given a user or password, expected apiKey');
  if (/[^!-~]/.test(apiKey)) throw new RangeError('apiKey: given a space or another character that no key has');
  const authorization = apiKey === '' ? {} : { Authorization: `Bearer ${apiKey}` };
  const postHeaders = { ...authorization, 'Content-Type': 'application/json' };

  /** Resolves with the head of an answer that has success. */
  async function open({ url, body }: HoldfastRequest<unknown>, { signal }: CallOptions): Promise<Response> {
    const posted = body && { method: 'POST', headers: postHeaders, body: JSON.stringify(body) };
    const response = await send(url, { headers: authorization, ...posted, signal: signal ?? null }).catch(
      (cause: unknown) => {
        throw signal?.aborted ? cause : new HoldfastError(`No connection to Holdfast at ${root.origin}.`, { cause });
      },
    );
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  return {
    open,
    requestFor<P extends Path>(path: P, parameters: ParametersOf<P>): HoldfastRequest<AnswerOf<P>> {
      return POSTED[path] ? { url: urlOf(root, path, {}), body: parameters } : { url: urlOf(root, path, parameters) };
    },
    /** Rejects with a HoldfastError, or with the reason of the signal. */
    async send<Answer>(request: HoldfastRequest<Answer>, options: CallOptions = {}): Promise<Answer> {
      const response = await open(request, options);
      const text = await response.text().catch((cause: unknown) => {
        throw options.signal?.aborted ? cause : new HoldfastError('The answer broke off.', { cause });
      });
      return parseJson(text) as Answer;
    },
    streamRequest(owners: readonly string[], others: object): HoldfastRequest<never> {
      if (owners.length <= QUERY_OWNERS_MAX) return { url: urlOf(root, STREAM, { owner: owners, ...others }) };
      return { url: urlOf(root, STREAM, {}), body: { owners, ...others } };
    },
  };
}

const STREAM = '/holdfast/v1/stream';
/** Proxies take addresses of 8 KiB. */
const QUERY_OWNERS_MAX = 20;

function urlOf(root: URL, path: string, parameters: object): string {
  const inQuery = new Map<string, unknown>(Object.entries(parameters));
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = inQuery.get(name);
    inQuery.delete(name);
    // In an address they are steps, and would lead to another operation.
    if (/^\.{0,2}$/.test(String(value))) throw new RangeError(`${name}: given "${value}", expected an id`);
    return encodeURIComponent(String(value));
  });
  const url = new URL(filled.slice(1), root);
  for (const [name, values] of inQuery)
    for (const value of [values].flat()) if (value !== undefined) url.searchParams.append(name, String(value));
  // A colon needs no escape here, and every party id has two.
  return url.href.replaceAll('%3A', ':');
}

/** Integers above 2^53 are given as their digits. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? context!.source : value,
    );
  } catch (cause) {
    const given = JSON.stringify(text.slice(0, 100));
    throw new HoldfastError(`The answer is not of Holdfast: given ${given}, expected JSON.`, { status: 200, cause });
  }
}
