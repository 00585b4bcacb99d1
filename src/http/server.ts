import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { Refusal } from '../refusal.ts';
import { guardHost } from './host-guard.ts';
import { jsonResponse } from './json-response.ts';

/** One header line may have 64 KiB (a large token); with it stand the others that any client sends. */
const HEADER_BYTES_MAX = 80 * 1024;
/** A client that takes longer to send its headers, or all of its request, is cut off. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How often the two above are looked at. */
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than the 60 s for which usual proxies keep a connection, so that it is they who close it. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Each holds a socket and its buffers; below the 1024 open files that many systems allow a process. */
const CONNECTIONS_MAX = 900;
/** Requests under way at the end have this long to be answered. */
const STOP_GRACE_MS = 5_000;

export interface HttpServer extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** Listens and serves; throws a Refusal where the address cannot be had. Disposing stops it after the requests under way. */
export async function startHttpServer({
  fetch,
  host,
  port,
  logger,
}: {
  fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  host: string;
  port: number;
  logger: Logger;
}): Promise<HttpServer> {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  };
  const errorHandler = (error: unknown): Response => requestFailure(error, logger);
  const server = createServer(limits, getRequestListener(guardHost(fetch, host), { errorHandler }));
  server.maxConnections = CONNECTIONS_MAX;
  answerUnreadable(server);
  await listen(server, host, port);
  server.on('error', (error) => logger.error({ err: error }, 'the HTTP server failed'));
  return { url: urlOf(server.address() as AddressInfo), [Symbol.asyncDispose]: () => stop(server) };
}

/** What fails before the app sees the request: a target or Host that is no URL. */
function requestFailure(error: unknown, logger: Logger): Response {
  if (error instanceof Error && error.name === 'RequestError')
    return jsonResponse(400, { error: `request target or Host: ${error.message}` });
  logger.error({ err: error }, 'a request failed');
  return jsonResponse(500, { error: 'internal server error' });
}

/** What the HTTP parser refuses, or what takes too long, is answered in JSON like everything else. */
function answerUnreadable(server: Server): void {
  const faults: Record<string, readonly [status: number, message: string]> = {
    HPE_HEADER_OVERFLOW: [431, `headers larger than ${HEADER_BYTES_MAX} bytes`],
    ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, message] = faults[error.code ?? ''] ?? [400, 'malformed HTTP request'];
    const text = JSON.stringify({ error: message });
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
    ];
    socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
  });
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Refusal(`cannot listen on --host ${host} --port ${port}: ${error.message}`, { cause: error }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
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
