import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { z } from 'zod';
import { FAULT_KINDS, type FaultKind, HoldingsFault } from '../holdings/holdings-fault.ts';
import { showGiven } from '../show-given.ts';
import type { Metrics } from './prometheus.ts';

type Headers = Readonly<Record<string, string>>;

/** What a fault answers. */
export const ERROR = z
  .strictObject({ error: z.string().meta({ description: 'What is wrong, for people.' }) })
  .meta({ id: 'Error' });

/** By which programs tell faults apart under /holdfast/; clients of Scan and of the ledger expect none. */
const CODES: Readonly<Record<FaultKind | 'invalid' | 'internal', string>> = {
  invalid: 'wrong path, method, header, parameter or body',
  missing: 'nothing is kept of what was asked for',
  refused: 'a parameter does not fit these views, such as a party that is not followed',
  unanswerable: 'it has no answer, such as a page token of other views',
  unavailable: 'not now; with Retry-After it may pass',
  unsupported: 'this store does not keep it',
  internal: 'a fault of Holdfast',
};
const CODE = z.enum(Object.keys(CODES) as (keyof typeof CODES)[]).meta({
  description: Object.entries(CODES)
    .map(([code, when]) => `\`${code}\`: ${when}.`)
    .join(' '),
});
const NEAREST = { format: 'date-time', description: 'The first snapshot there is, if it is after the time asked for.' };

/** The same under /holdfast/. */
export const OWN_ERROR = ERROR.extend({ code: CODE, nearest: z.string().meta(NEAREST).optional() }).meta({
  id: 'OwnError',
});
type FaultDetails = Partial<Omit<z.infer<typeof OWN_ERROR>, 'error'>>;

/** An answer other than success that the caller can understand: its status and the message of its `error` field. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly status: number;
  /** Headers of the answer, such as `Allow` or `Retry-After`. */
  readonly headers: Headers;
  readonly details: FaultDetails;

  constructor(status: number, message: string, headers: Headers = {}, details: FaultDetails = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.details = { code: status < 500 ? 'invalid' : 'unavailable', ...details };
  }
}

/** A 400 that names what is wrong in a request, such as a field or a parameter. */
export function wrongValue(name: string, given: unknown, expected: string): HttpFault {
  return new HttpFault(400, `${name.slice(0, 100)}: given ${showGiven(given)}, expected ${expected}`);
}

/** Statuses of questions that have no answer. */
const STATUS: Readonly<Record<FaultKind, number>> = {
  missing: 404,
  refused: 400,
  unanswerable: 400,
  unavailable: 503,
  unsupported: 501,
};

/** The HTTP fault of a question that has no answer; any other error is passed on unchanged. */
export function throwAsHttpFault(error: unknown): never {
  if (!(error instanceof HoldingsFault)) throw error;
  // A read that took too long would take as long again; the others may pass by themselves.
  const passes = error.code === 'not_begun' || error.code === 'store_unavailable';
  // An instrument that is not known yet may be soon.
  const headers: Headers = error.code === 'no_instrument' ? { 'Cache-Control': 'no-store' } : {};
  const { message, nearest } = error;
  const code = FAULT_KINDS[error.code];
  throw new HttpFault(STATUS[code], message, passes ? { 'Retry-After': '10' } : headers, { code, nearest });
}

const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** Plain header objects and text bodies are what @hono/node-server sends without making a web Response of them. */
export function jsonTextResponse(status: number, text: string, headers: Headers = {}): Response {
  return new Response(text, { status, headers: { ...JSON_HEADERS, ...headers } });
}

export function jsonResponse(status: number, value: unknown, headers: Headers = {}): Response {
  return jsonTextResponse(status, JSON.stringify(value), headers);
}

/** A browser asks again after this long; so a change of the setting is seen by then. */
const PREFLIGHT_AGE_SECONDS_MAX = 600;

/** Headers that let pages of other origins read the answers; every operation that only reads is open to them. */
export type Cors = ReturnType<typeof createCors>;

export function createCors(origins: readonly string[]) {
  const forAll = { 'Access-Control-Allow-Origin': '*' };
  const headers = (c: Context): Headers => {
    if (origins.includes('*')) return forAll;
    if (origins.length === 0) return {};
    const origin = c.req.header('origin');
    if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' };
    return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
  };
  return {
    /** Headers for an answer to this request. */
    headers,
    preflight: (c: Context, methods: readonly string[]): Response =>
      new Response(null, {
        status: 204,
        headers: {
          ...headers(c),
          Allow: methods.join(', '),
          'Access-Control-Allow-Methods': methods.join(', '),
          'Access-Control-Allow-Headers': c.req.header('access-control-request-headers') ?? 'Content-Type',
          'Access-Control-Max-Age': String(PREFLIGHT_AGE_SECONDS_MAX),
        },
      }),
  };
}

/** A method, a path and their handler. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** In the form of OpenAPI, such as `/v2/users/{user-id}`; /metrics counts its requests by this name. */
  readonly path: string;
  /** The other paths at which it is served. */
  readonly aliases?: readonly string[];
  /** Set where pages of other origins may read it. */
  readonly cors?: Cors | undefined;
  /** Throws an HttpFault for what the caller can fix. */
  readonly handle: (c: Context) => Response | Promise<Response>;
}

export function get(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, handle };
}

/** Asked by what starts and routes to processes, which has no key. */
const ASKED_WITHOUT_KEY = ['/livez', '/readyz'];

interface RouteContext {
  readonly logger: Logger;
  readonly metrics: Metrics['requests'];
  /** Throws where a request has no API key; the signal says that the key is taken back. Null where none is asked for. */
  readonly admit: ((c: Context) => AbortSignal) | null;
}

/**
 * Adds the routes to the app, each with its preflight and its count. No middleware of Hono is used: with one, every request
 * runs through composed handlers, and a header set after the answer makes @hono/node-server build a whole web Response.
 */
export function addRoutes(app: Hono, routes: readonly Route[], context: RouteContext): void {
  for (const route of routes) {
    const { method, path, aliases = [], cors } = route;
    const answer = answering(route, context);
    for (const each of [path, ...aliases]) {
      const pattern = each.replaceAll(/\{(.*?)\}/g, ':$1');
      app.on(method, pattern, answer);
      if (cors !== undefined) app.on('OPTIONS', pattern, (c) => cors.preflight(c, methodsOf(app, c)));
    }
  }
}

/** The users' area, where there is one, answers everything under /v2 but the holdings; the app answers the rest. */
export function fetchOf(
  app: Hono,
  usersArea: Hono | null,
): (request: Request, env: unknown) => Response | Promise<Response> {
  return (request, env) => {
    const { url } = request;
    // The path begins after `http://host`.
    const path = url.indexOf('/', url.indexOf('://') + 3);
    const isUsers = url.startsWith('/v2', path) && !url.startsWith('/v2/holdings/', path);
    const area =
      isUsers && (url.length === path + 3 || url[path + 3] === '/' || url[path + 3] === '?') ? usersArea : null;
    return (area ?? app).fetch(request, env as never);
  };
}

/** Hono answers HEAD as it does GET. */
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** The methods of a request's path; none where there is no such path. */
export function methodsOf(app: Hono, c: Context): readonly string[] {
  return METHODS.filter((method) => app.router.match(method === 'HEAD' ? 'GET' : method, c.req.path)[0].length > 0);
}

/** The route's handler, which also answers its faults and counts its requests. */
function answering(route: Route, { logger, metrics, admit }: RouteContext): (c: Context) => Promise<Response> {
  const { cors, path, handle } = route;
  const requireKey = admit === null || ASKED_WITHOUT_KEY.includes(path) ? null : admit;
  const count = metrics.of(route);
  return async (c) => {
    const startMs = performance.now();
    let response: Response;
    try {
      const revoked = requireKey?.(c);
      response = await handle(c);
      // A stream has no end of its own.
      if (revoked && response === RESPONSE_ALREADY_SENT) addAbortSignal(revoked, c.env.outgoing);
    } catch (fault) {
      response = failure(fault, c, { headers: cors?.headers(c) ?? {}, logger });
    }
    count(response.status, (performance.now() - startMs) / 1000);
    return requireKey === null ? response : keptPrivate(response);
  };
}

/** Shared caches must not give to others what was sent to the holder of a key. A stream was sent already, and is kept by none. */
function keptPrivate(response: Response): Response {
  const caching = ['private', response.headers.get('cache-control')?.replace('public, ', '') ?? []].flat().join(', ');
  if (response !== RESPONSE_ALREADY_SENT) response.headers.set('cache-control', caching);
  return response;
}

/** An unexpected error goes to the log under an id, and only the id to the caller: never a stack or SQL. */
function failure(error: unknown, c: Context, { headers, logger }: { headers: Headers; logger: Logger }): Response {
  if (error instanceof HttpFault) return faultResponse(error, c, headers);
  const requestId = randomUUID();
  logger.error({ err: error, requestId }, 'a request failed');
  const message = `internal server error (request ${requestId})`;
  return faultResponse(new HttpFault(500, message, {}, { code: 'internal' }), c, headers);
}

export function faultResponse({ status, message, ...fault }: HttpFault, c: Context, headers: Headers): Response {
  const details = c.req.path.startsWith('/holdfast/') ? fault.details : {};
  // Pages of other origins read it only where it is named.
  const exposed = 'Retry-After' in fault.headers ? { 'Access-Control-Expose-Headers': 'Retry-After' } : {};
  return jsonResponse(status, { error: message, ...details }, { ...headers, ...exposed, ...fault.headers });
}
