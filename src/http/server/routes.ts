import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { Cors } from './cors.ts';
import { HttpFault } from './http-fault.ts';
import { jsonResponse } from './json-response.ts';
import type { RequestMetrics } from './metrics.ts';
import { settle } from './settle.ts';

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

/**
 * Adds the routes to the app, each with its preflight and its count. No middleware of Hono is used: with one, every request
 * runs through composed handlers, and a header set after the answer makes @hono/node-server build a whole web Response.
 */
export function addRoutes(
  app: Hono,
  routes: readonly Route[],
  context: { readonly logger: Logger; readonly metrics: RequestMetrics },
): void {
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

/** Hono answers HEAD as it does GET. */
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** The methods of a request's path; none where there is no such path. */
export function methodsOf(app: Hono, c: Context): readonly string[] {
  return METHODS.filter((method) => app.router.match(method === 'HEAD' ? 'GET' : method, c.req.path)[0].length > 0);
}

/** The route's handler, which also answers its faults and counts its requests. */
function answering(
  route: Route,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: RequestMetrics },
): (c: Context) => Response | Promise<Response> {
  const { cors, handle } = route;
  const count = metrics.of(route);
  return (c) => {
    const startMs = performance.now();
    const answered = (response: Response): Response => {
      count(response.status, (performance.now() - startMs) / 1000);
      return response;
    };
    return settle(
      () => handle(c),
      answered,
      (fault) => answered(failure(fault, cors?.headers(c) ?? {}, logger)),
    );
  };
}

/** An unexpected error goes to the log under an id, and only the id to the caller: never a stack or SQL. */
function failure(error: unknown, headers: Readonly<Record<string, string>>, logger: Logger): Response {
  if (error instanceof HttpFault)
    return jsonResponse(error.status, { error: error.message }, { ...headers, ...error.headers });
  const requestId = randomUUID();
  logger.error({ err: error, requestId }, 'a request failed');
  return jsonResponse(500, { error: `internal server error (request ${requestId})` }, headers);
}
