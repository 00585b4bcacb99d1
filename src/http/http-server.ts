import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, isIP, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { Refusal } from '../refusal.ts';
import { HttpFault, jsonResponse } from './routing.ts';

/** Limits of the server, by Node's own means. What a single client may take is for the proxy in front. */
export const SERVER_LIMITS = {
  /** One header line may have 64 KiB (a large token); the rest is for the others. */
  headerBytesMax: 80 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  /** How often the two above are checked. */
  timeoutCheckMs: 2_000,
  /** A connection without any byte for so long is closed: its client does not read. Longer than any answer may take. */
  silenceTimeoutMs: 60_000,
  /** Longer than the 60 s for which usual proxies keep a connection, so that the proxy closes it. */
  keepAliveTimeoutMs: 65_000,
  /** Each has a socket and its buffers; below the 1024 open files that many systems allow a process. */
  connectionsMax: 900,
};

export type ServerLimits = Readonly<typeof SERVER_LIMITS>;

/** How long pending requests have to be answered when the server stops. */
const STOP_GRACE_MS = 5_000;

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

interface Address {
  readonly host: string;
  readonly port: number;
  /** The options that name it, in messages. */
  readonly named?: string;
  /** Other processes with this option may listen there too; the system distributes the connections. */
  readonly reusePort?: boolean;
}

/** Listens and serves; throws a Refusal where the address is not available. Disposing stops it after the pending requests. */
export async function startHttpServer({
  fetch,
  logger,
  limits = SERVER_LIMITS,
  ...address
}: Address & { fetch: Fetch; logger: Logger; limits?: ServerLimits }) {
  const errorHandler = (error: unknown): Response => requestFailure(error, logger);
  // The name is used where a request has no Host.
  const listener = getRequestListener(guardHost(fetch, address.host), { errorHandler, hostname: 'localhost' });
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    requireHostHeader: false,
  };
  const server = createServer(options, refuseBadHeads(listener));
  server.timeout = limits.silenceTimeoutMs;
  server.maxConnections = limits.connectionsMax;
  answerProtocolFaults(server, limits);
  await listen(server, address);
  server.on('error', (error) => logger.error({ err: error }, 'the HTTP server failed'));
  return {
    /** Where it listens, such as `http://127.0.0.1:8080`. */
    url: urlOf(server.address() as AddressInfo),
    /** How many connections are open. */
    connections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    [Symbol.asyncDispose]: () => stop(server),
  };
}

/** Answers what fails before the app sees the request: a target or Host that is no URL. */
function requestFailure(error: unknown, logger: Logger): Response {
  if (error instanceof Error && error.name === 'RequestError')
    return jsonResponse(400, { error: `request target or Host: ${error.message}` });
  logger.error({ err: error }, 'a request failed');
  return jsonResponse(500, { error: 'internal server error' });
}

async function listen(server: Server, address: Address): Promise<void> {
  const { host, port, reusePort = false, named = `--host ${host} --port ${port}` } = address;
  server.listen({ host, port, reusePort });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const shared = reusePort && cause.code === 'ENOTSUP' ? ' --reuse-port (this system shares no port)' : '';
    const next = cause.code === 'EADDRINUSE' ? '; stop the program that listens there, or choose another port' : '';
    throw new Refusal(`cannot listen on ${named}${shared}: ${cause.message}${next}`, { cause });
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

const HOST = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/;
/** A dot at the end makes no difference: it is the same name in full. */
const LOCALHOST = /^localhost\.?$/i;
const SHOWN_CHARS_MAX = 100;

/**
 * A loopback address is meant for programs of this machine. A web page could still reach us under a name of its own that
 * resolves to 127.0.0.1 (DNS rebinding); its requests have that name as Host and are refused.
 */
function guardHost(fetch: Fetch, bindHost: string): Fetch {
  if (bindHost !== 'localhost' && bindHost !== '::1' && !/^127\.\d+\.\d+\.\d+$/.test(bindHost)) return fetch;
  return (request, env) => {
    // A target that is a whole URL names its own host, which takes precedence over the header.
    const start = request.url.indexOf('://') + 3;
    const target = request.url.slice(start, request.url.indexOf('/', start));
    const host = request.headers.get('host') ?? target;
    const foreign = isLocalName(host) ? (target === host || isLocalName(target) ? null : target) : host;
    if (foreign === null) return fetch(request, env);
    const given = JSON.stringify(foreign.slice(0, SHOWN_CHARS_MAX));
    return jsonResponse(403, { error: `Host: given ${given}, expected localhost or an IP address` });
  };
}

function isLocalName(host: string): boolean {
  const m = HOST.exec(host);
  const name = m?.[1] ?? m?.[2] ?? '';
  return LOCALHOST.test(name) || isIP(name) !== 0;
}

/** Answers in JSON what never reaches the app, and what Node would answer without a message. */
function answerProtocolFaults(server: Server, { headerBytesMax }: ServerLimits): void {
  const faults: Record<string, readonly [status: number, message: string]> = {
    HPE_HEADER_OVERFLOW: [431, `headers larger than ${headerBytesMax} bytes, or too many of them`],
    ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, message] = faults[error.code ?? ''] ?? [400, 'malformed HTTP request'];
    endSocket(socket, status, message);
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    endSocket(socket, 405, 'CONNECT is not allowed here: this is no proxy');
  });
  server.on('checkExpectation', (request, response) => {
    const given = JSON.stringify(request.headers.expect?.slice(0, SHOWN_CHARS_MAX));
    endResponse(response, 417, `Expect: given ${given}, expected 100-continue`);
  });
}

/** A `.` or `..` segment in every form that a URL resolves; to a URL a backslash is a slash, and `#` ends the path. */
const DOT_SEGMENT = /^[^?]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/**
 * Refuses requests without a Host, which those of HTTP/1.1 have; the health checks of some proxies speak HTTP/1.0 and have none.
 * And a target with `.` or `..` segments: the path that was written and the one it resolves to differ, and a proxy that
 * guards one of them must not be bypassed by the other. An encoded slash is part of a segment, and so are dots next to it.
 */
function refuseBadHeads(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { headers, httpVersion, url = '' } = request;
    if (headers.host === undefined && httpVersion !== '1.0')
      return endResponse(response, 400, 'Host: given nothing, expected the name of this service');
    if (!DOT_SEGMENT.test(url)) return listener(request, response);
    const given = JSON.stringify(url.slice(0, SHOWN_CHARS_MAX));
    const expected = 'no segment "." or ".." in its path, percent-encoded or not';
    return endResponse(response, 400, `request target: given ${given}, expected ${expected}`);
  };
}

function endResponse(response: ServerResponse, status: number, message: string): void {
  const text = JSON.stringify({ error: message });
  const length = Buffer.byteLength(text);
  // The connection ends after it, because the request's body is not read.
  response.writeHead(status, { Connection: 'close', 'Content-Type': 'application/json', 'Content-Length': length });
  response.end(text);
}

function endSocket(socket: Duplex, status: number, message: string): void {
  const text = JSON.stringify({ error: message });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

/** Answers at the service's address while its data directory cannot be opened, as on a full disk: alive, and why nothing is served. */
export function createUnavailableServer({ logger, ...address }: Address & { logger: Logger }) {
  let server: HttpServer | null = null;
  let why = '';
  const fetch = ({ url }: Request): Response => {
    const path = new URL(url).pathname.replace(/^\/api\/scan(?=\/)/, '');
    if (path === '/livez') return jsonResponse(200, {});
    return jsonResponse(503, path === '/readyz' ? { ready: false, reasons: [why], degraded: [] } : { error: why });
  };
  const end = async (): Promise<void> => {
    await server?.[Symbol.asyncDispose]();
    server = null;
  };
  return {
    /** Listens from the first call on, and answers with the reason. */
    async tell(reason: string): Promise<void> {
      why = `the data directory cannot be opened (${reason}); it is tried again`;
      if (server !== null) return;
      server = await startHttpServer({ ...address, logger, fetch });
      logger.warn({ url: server.url }, 'answering that the service is unavailable');
    },
    /** Frees the address. */
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Bytes of large answers that may be in the process at a time: a page of contracts may have many MiB, and slow clients hundreds. */
export const ANSWERS_BYTES_MAX = 256 * 2 ** 20;

/** Takes a large answer that is to be written; throws a 503 where too much of others is not written yet. */
export type HoldAnswer = (c: Context, text: string) => void;

export function createAnswerHold(bytesMax: number) {
  /** The bytes of each connection: one that is closed never closes the responses that wait behind another. */
  const writing = new Map<Socket, number>();
  const bytes = (): number => writing.values().reduce((sum, each) => sum + each, 0);
  const hold: HoldAnswer = (c, text) => {
    const { incoming, outgoing }: Partial<HttpBindings> = c.env ?? {};
    if (incoming === undefined || outgoing === undefined || incoming.socket.destroyed) return;
    const { socket } = incoming;
    const others = bytes();
    if (others + text.length > bytesMax)
      throw new HttpFault(
        503,
        `${others} bytes of answers are being written to slow clients, and at most ${bytesMax} may be; try again later`,
      );
    if (!writing.has(socket)) socket.once('close', () => writing.delete(socket));
    const add = (length: number): unknown => writing.set(socket, (writing.get(socket) ?? 0) + length);
    add(text.length);
    outgoing.once('close', () => writing.has(socket) && add(-text.length));
  };
  return { hold, bytes };
}

/**
 * Returns the function that gives a request's client: the peer, or, behind trusted proxies, the last address in
 * X-Forwarded-For that is not one of theirs. What others write there is ignored.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
): (c: Context<{ Bindings: HttpBindings }>) => string {
  const trusted = new Set(trustedProxies.map(plainAddress));
  return (c) => {
    const peer = plainAddress(c.env.incoming.socket.remoteAddress ?? '');
    if (!trusted.has(peer)) return clientOf(peer);
    const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => plainAddress(part.trim()));
    return clientOf(forwarded.findLast((address) => address !== '' && !trusted.has(address)) ?? peer);
  };
}

/** An IPv4 address that came over an IPv6 socket is the same client. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/** Limits for each address count an IPv6 /64 as one: the smallest network that is assigned, of which a machine may use any address. */
function clientOf(address: string): string {
  const [withoutZone = ''] = address.split('%');
  if (!isIPv6(withoutZone)) return address;
  // A URL normalizes an address to its shortest form.
  const [before = '', behind = ''] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): readonly string[] => text.split(':').filter((group) => group !== '');
  const zeros = Array<string>(8 - groups(before).length - groups(behind).length).fill('0');
  return `${[...groups(before), ...zeros, ...groups(behind)].slice(0, 4).join(':')}::/64`;
}
