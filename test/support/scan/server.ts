import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Answer, type Answers, createAnswers, type Holdings } from './answers.ts';

/**
 * What a Scan, or what is in front of it, does in place of an answer: a status with a body and headers, half of the answer,
 * one that claims to be gzip, one that is no JSON, none at all, a closed connection, an answer without end, or one made of the
 * right one.
 */
export type Fault =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'cut'
  | 'no gzip'
  | 'no json'
  | 'silent'
  | 'closed'
  | 'endless'
  | ((body: Readonly<Record<string, unknown>>, answer: Answer) => Answer);

export interface Asked {
  /** Below `/api/scan`, with its query. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A Scan over lines of format A, on a real socket, by the rules of its wire. */
export interface FakeScan extends AsyncDisposable {
  readonly url: string;
  /** The requests in order. */
  readonly asked: readonly Asked[];
  readonly lines: string[];
  add(...lines: readonly string[]): void;
  change(holdings: Partial<Holdings>): void;
  /** From now on answers paths that begin so with this, so many times or until it is called with null. */
  fail(path: string, fault: Fault | null, times?: number): void;
}

export interface FakeScanOptions extends Partial<Holdings> {
  readonly lines?: readonly string[];
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly port?: number;
}

const PREFIX = '/api/scan';

export async function startFakeScan({
  lines: first = [],
  tls,
  port = 0,
  ...given
}: FakeScanOptions = {}): Promise<FakeScan> {
  const lines = [...first];
  const asked: Asked[] = [];
  const faults = new Map<string, { fault: Fault; left: number }>();
  let holdings: Holdings = {
    dso: 'DSO::1220dd',
    migrationId: null,
    isBackfilled: true,
    version: '0.8.3',
    acs: ['v1', 'v2'],
    snapshots: [],
    pageSizeMax: 1000,
    pageSizeInTime: Infinity,
    pageCap: Infinity,
    firstRow: 61_329_000,
    wrongBy: { summary: 0, supply: 0 },
    ...given,
  };
  const answers = createAnswers(
    () => holdings,
    () => lines,
  );

  function faultOf(path: string): Fault | null {
    for (const [prefix, state] of faults) {
      if (!path.startsWith(prefix) || state.left === 0) continue;
      state.left -= 1;
      return state.fault;
    }
    return null;
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://any');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
    const isBelow = url.pathname.startsWith(`${PREFIX}/`);
    const path = isBelow ? url.pathname.slice(PREFIX.length) : url.pathname;
    asked.push({ path: path + url.search, body });
    const right = routed(`${request.method} ${path}`, { answers, holdings, body, query: url.searchParams });
    const fault = faultOf(path);
    const made = typeof fault === 'function' ? { answer: fault(body, right), fault: null } : { answer: right, fault };
    send(request, response, made);
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
    asked,
    lines,
    add: (...more) => void lines.push(...more),
    change(changes) {
      holdings = { ...holdings, ...changes };
    },
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

function routed(
  route: string,
  {
    answers,
    holdings,
    body,
    query,
  }: { answers: Answers; holdings: Holdings; body: Record<string, unknown>; query: URLSearchParams },
): Answer {
  const unknown: Answer = { status: 404, body: { error: 'The requested resource could not be found.' } };
  switch (route) {
    case 'POST /v2/updates':
      if (holdings.isBackfilled) return answers.updates(body);
      return { status: 503, body: { error: 'This scan instance has not yet replicated all data from its peers.' } };
    case 'POST /v1/state/acs':
      return holdings.acs.includes('v1') ? answers.acs(body, 'v1') : unknown;
    case 'POST /v2/state/acs':
      return holdings.acs.includes('v2') ? answers.acs(body, 'v2') : unknown;
    case 'POST /v1/holdings/summary':
      return answers.summary(body);
    case 'GET /v0/state/acs/snapshot-timestamp':
      return answers.snapshotTimestamp(query);
    case 'GET /v0/backfilling/status':
      return { status: 200, body: { complete: holdings.isBackfilled } };
    case 'GET /v0/dso-party-id':
      return { status: 200, body: { dso_party_id: holdings.dso } };
    case 'GET /v0/migrations/last':
      return { status: 200, body: { migration_id: answers.migrationId() } };
    case 'GET /registry/metadata/v1/instruments/Amulet':
      return answers.instrument();
    case 'GET /version':
      return { status: 200, body: { version: holdings.version, commit_ts: '2026-10-01T00:00:00Z' } };
    default:
      return unknown;
  }
}

function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { answer, fault }: { answer: Answer; fault: Exclude<Fault, (...args: never) => unknown> | null },
): void {
  if (fault === 'silent') return;
  if (fault === 'closed') {
    response.destroy();
    return;
  }
  if (fault === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536))) {}
    };
    response.on('drain', more);
    more();
    return;
  }
  const given = fault !== null && typeof fault === 'object' ? { headers: {}, ...fault } : { headers: {}, ...answer };
  const bytes = fault === 'no json' ? Buffer.from('<html>') : bytesOf(given.body);
  const isGzip = /\bgzip\b/.test(String(headers['accept-encoding']));
  const sent = isGzip && fault !== 'no gzip' ? gzipSync(bytes) : bytes;
  response.writeHead(given.status, {
    'content-type': typeof given.body === 'string' ? 'text/plain' : 'application/json',
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    'content-length': sent.length,
    ...given.headers,
  });
  if (fault !== 'cut') {
    response.end(sent);
    return;
  }
  response.write(sent.subarray(0, sent.length >> 1), () => response.destroy());
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
