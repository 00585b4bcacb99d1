import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** JSON; text where the server has no words of its own; bytes as they are. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What a server, or a proxy in front of it, does in place of an answer: another answer, half of the answer, one that claims to be
 * gzip, one that is no JSON, none at all, a closed connection, an answer without end, or one made of the right one.
 */
export type Fault =
  | Answer
  | 'cut'
  | 'no gzip'
  | 'silent'
  | 'closed'
  | 'endless'
  | ((body: Readonly<Record<string, unknown>>, answer: Answer) => Answer);

export interface Asked {
  /** Below `/api/scan`, where it is there. */
  readonly path: string;
  readonly token: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeServerOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly port?: number;
}

/** A server of a network on a real socket. */
export interface FakeServer extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
  /** The requests in order. */
  readonly asked: Asked[];
  /** From now on answers paths that begin so with this, so many times or until it is called with null. */
  fail(path: string, fault: Fault | null, times?: number): void;
  /** The fault of the next answer to a path, which counts as done. */
  faultOf(path: string): Fault | null;
}

export const tokenOf = ({ headers }: IncomingMessage): string | null =>
  headers.authorization?.replace(/^Bearer /, '') ?? null;

export function jsonBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** `answer`: to a route such as `GET /v2/updates`. */
export async function startFakeServer(
  { tls, port = 0 }: FakeServerOptions,
  answer: (route: string, asked: Asked & { readonly query: URLSearchParams }) => Answer,
): Promise<FakeServer> {
  const asked: Asked[] = [];
  const faults = new Map<string, { fault: Fault; left: number }>();

  function faultOf(path: string): Fault | null {
    for (const [prefix, state] of faults) {
      if (!path.startsWith(prefix) || state.left === 0) continue;
      state.left -= 1;
      return state.fault;
    }
    return null;
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url!, 'http://any');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
    const now = { path: pathname.replace(/^\/api\/scan(?=\/)/, ''), token: tokenOf(request), body };
    asked.push(now);
    const fault = faultOf(now.path);
    const right = answer(`${request.method} ${now.path}`, { ...now, query });
    send(request, response, typeof fault === 'function' ? fault(body, right) : right, fault);
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // A client that goes away is no fault of the server.
    respond(request, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${(server.address() as AddressInfo).port}`,
    server,
    asked,
    faultOf,
    fail(path, fault, times = Infinity) {
      if (fault === null) faults.delete(path);
      else faults.set(path, { fault, left: times });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function send({ headers }: IncomingMessage, response: ServerResponse, answer: Answer, fault: Fault | null): void {
  if (fault === 'silent') return;
  if (fault === 'closed') return void response.destroy();
  if (fault === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536))) {}
    };
    response.on('drain', more);
    return more();
  }
  const given = fault !== null && typeof fault === 'object' ? fault : answer;
  const bytes = jsonBytes(given.body);
  const isGzip = /\bgzip\b/.test(String(headers['accept-encoding']));
  const sent = isGzip && fault !== 'no gzip' ? gzipSync(bytes, { level: 1 }) : bytes;
  response.writeHead(given.status, {
    'content-type': typeof given.body === 'string' ? 'text/plain' : 'application/json',
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    'content-length': sent.length,
    ...given.headers,
  });
  if (fault === 'cut') response.write(sent.subarray(0, sent.length >> 1), () => response.destroy());
  else response.end(sent);
}
