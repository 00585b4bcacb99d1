import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { Cors } from './cors.ts';
import { HttpFault } from './http-fault.ts';
import { jsonResponse } from './json-response.ts';
import type { RequestMetrics } from './metrics.ts';

/** One operation: a method, a path, and what answers it. A handler throws an HttpFault for what the caller can mend. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Served under /api/scan as well as at the root. */
  readonly underScan: boolean;
  /** Whether pages of other origins may read it. */
  readonly cors: boolean;
  readonly handle: (c: Context) => Response | Promise<Response>;
}

const SCAN_PREFIX = '/api/scan';

/** What every route shares. */
export interface RouteContext {
  readonly cors: Cors;
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
}

/** Adds the operations to the app, and the answers 404 and 405 for every path that none of its routes takes. */
export function addOperations(app: Hono, operations: readonly Operation[], context: RouteContext): void {
  const methodsOf = new Map<string, readonly string[]>();
  for (const operation of operations) {
    const answer = answering(operation, context);
    for (const path of operation.underScan ? [operation.path, SCAN_PREFIX + operation.path] : [operation.path]) {
      app.on(operation.method, path, answer);
      const methods = [
        operation.method,
        ...(operation.method === 'GET' ? ['HEAD'] : []),
        ...(operation.cors ? ['OPTIONS'] : []),
      ];
      methodsOf.set(path, methods);
      if (operation.cors) app.on('OPTIONS', path, (c) => context.cors.preflight(c, methods));
    }
  }
  app.notFound((c) => {
    const methods = methodsOf.get(c.req.path);
    const headers = context.cors.headers(c);
    if (methods === undefined)
      return jsonResponse(404, { error: `no such path: ${c.req.path.slice(0, 200)}` }, headers);
    const error = `${c.req.method} is not allowed here, only ${methods.join(', ')}`;
    return jsonResponse(405, { error }, { ...headers, Allow: methods.join(', ') });
  });
}

/** The operation's handler, with its faults answered and its requests counted. */
function answering(operation: Operation, { cors, logger, metrics }: RouteContext): (c: Context) => Promise<Response> {
  return async (c) => {
    const start = performance.now();
    let response: Response;
    try {
      response = await operation.handle(c);
    } catch (error) {
      response = failure(error, operation.cors ? cors.headers(c) : {}, logger);
    }
    metrics.observe(operation.path, response.status, (performance.now() - start) / 1000);
    return response;
  };
}

/** What nobody foresaw goes to the log under an id, and only the id to the caller: never a stack or SQL. */
function failure(error: unknown, headers: Readonly<Record<string, string>>, logger: Logger): Response {
  if (error instanceof HttpFault)
    return jsonResponse(error.status, { error: error.message }, { ...headers, ...error.headers });
  const requestId = randomUUID();
  logger.error({ err: error, requestId }, 'a request failed');
  return jsonResponse(500, { error: `internal server error (request ${requestId})` }, headers);
}
