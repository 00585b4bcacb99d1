import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { Refusal } from '../../refusal.ts';
import { type Connections, createConnections } from './connections.ts';
import { guardHost } from './host-guard.ts';
import { inTurn } from './in-turn.ts';
import { jsonResponse } from './json-response.ts';
import { SERVER_LIMITS, type ServerLimits } from './limits.ts';
import { answerUnserved, refuseBadHeads } from './unserved.ts';

/** How long pending requests have to be answered when the server stops. */
const STOP_GRACE_MS = 5_000;

export interface HttpServer extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** Listens and serves; throws a Refusal where the address is not available. Disposing stops it after the pending requests. */
export async function startHttpServer({
  fetch,
  host,
  port,
  reusePort = false,
  logger,
  limits = SERVER_LIMITS,
  connections = createConnections({ limits, logger }),
}: {
  fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  host: string;
  port: number;
  /** Other processes with this option may listen there too; the system distributes the connections. */
  reusePort?: boolean;
  logger: Logger;
  limits?: ServerLimits;
  connections?: Connections;
}): Promise<HttpServer> {
  const errorHandler = (error: unknown): Response => requestFailure(error, logger);
  // The name is used where a request has no Host.
  const listener = getRequestListener(guardHost(fetch, host), { errorHandler, hostname: 'localhost' });
  const server = createServer(serverOptions(limits), inTurn(refuseBadHeads(listener)));
  server.timeout = limits.silenceTimeoutMs;
  connections.watch(server);
  answerUnserved(server, limits);
  await listen(server, { host, port, reusePort });
  server.on('error', (error) => logger.error({ err: error }, 'the HTTP server failed'));
  return { url: urlOf(server.address() as AddressInfo), [Symbol.asyncDispose]: () => stop(server) };
}

function serverOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    requireHostHeader: false,
  };
}

/** Answers what fails before the app sees the request: a target or Host that is no URL. */
function requestFailure(error: unknown, logger: Logger): Response {
  if (error instanceof Error && error.name === 'RequestError')
    return jsonResponse(400, { error: `request target or Host: ${error.message}` });
  logger.error({ err: error }, 'a request failed');
  return jsonResponse(500, { error: 'internal server error' });
}

async function listen(server: Server, where: { host: string; port: number; reusePort: boolean }): Promise<void> {
  const { host, port, reusePort } = where;
  server.listen(where);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const shared = reusePort && cause.code === 'ENOTSUP' ? ' --reuse-port (this system shares no port)' : '';
    throw new Refusal(`cannot listen on --host ${host} --port ${port}${shared}: ${cause.message}`, { cause });
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Closes idle connections at once and the others when they are answered, or after the grace. */
function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
