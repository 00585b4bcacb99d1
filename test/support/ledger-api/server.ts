import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Answer, createAnswers, EVERY_TEMPLATE, type Participant } from './answers.ts';
import { ERRORS } from './errors.ts';
import { type StreamFault, serveStream } from './streams.ts';

/** In place of an answer: a status with a body and headers, or none at all. */
export type Fault =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'silent'
  | 'closed';

export interface Asked {
  readonly path: string;
  readonly token: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A participant's JSON Ledger API over lines of format B, on a real socket, by the rules of its wire. */
export interface FakeParticipant extends AsyncDisposable {
  readonly url: string;
  /** The requests in order, those of streams included. */
  readonly asked: readonly Asked[];
  readonly lines: string[];
  add(...lines: readonly string[]): void;
  change(participant: Partial<Participant>): void;
  /** From now on answers paths that begin so with this, so many times or until it is called with null. */
  fail(path: string, fault: Fault | null, times?: number): void;
  /** The next streams do these, one each. */
  failStreams(...faults: readonly StreamFault[]): void;
  /** How much was given to open streams and is not sent yet. */
  bufferedBytes(): number;
}

export interface FakeParticipantOptions extends Partial<Participant> {
  readonly lines?: readonly string[];
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly port?: number;
  /** How long after its begin, and after new updates, a stream has a checkpoint. */
  readonly checkpointMs?: number;
}

export async function startFakeParticipant({
  lines: first = [],
  tls,
  port = 0,
  checkpointMs = 30,
  ...given
}: FakeParticipantOptions = {}): Promise<FakeParticipant> {
  const lines = [...first];
  const asked: Asked[] = [];
  const faults = new Map<string, { fault: Fault; left: number }>();
  let streamFaults: readonly StreamFault[] = [];
  const added = new Set<() => void>();
  let participant: Participant = {
    participantId: 'participant1::1220ab',
    localParties: [],
    token: null,
    readAs: null,
    prunedUpTo: 0,
    minor: 5,
    templates: EVERY_TEMPLATE,
    partiesPage: 3,
    contractsPage: 10,
    ...given,
  };
  const answers = createAnswers(
    () => participant,
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

  function tokenOf({ headers }: IncomingMessage): string | null {
    return headers.authorization?.replace(/^Bearer /, '') ?? null;
  }

  function unlawful(request: IncomingMessage): Answer | null {
    return participant.token !== null && tokenOf(request) !== participant.token ? ERRORS.unauthenticated : null;
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://any');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
    asked.push({ path: pathname, token: tokenOf(request), body });
    const fault = faultOf(pathname);
    if (fault === 'silent') return;
    if (fault === 'closed') return void response.destroy();
    send(response, fault ?? unlawful(request) ?? routed(`${request.method} ${pathname}`, searchParams, body));
  }

  function routed(route: string, query: URLSearchParams, body: Record<string, unknown>): Answer {
    switch (route) {
      case 'GET /v2/parties/participant-id':
        return { status: 200, body: { participantId: participant.participantId } };
      case 'GET /v2/parties':
        return answers.parties(query);
      case 'GET /v2/state/ledger-end':
        return answers.ledgerEnd();
      case 'GET /v2/state/latest-pruned-offsets':
        return answers.prunedOffsets();
      case 'POST /v2/state/active-contracts-page':
        return answers.contractsPage(body);
      default:
        return { status: 404, body: 'The requested resource could not be found.' };
    }
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // A client that goes away is no fault of the server.
    respond(request, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'daml.ws.auth' });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { pathname: path } = new URL(request.url!, 'http://any');
    const fault = faultOf(path);
    if (fault === 'silent') return;
    const refused = fault === 'closed' ? null : (fault ?? unlawful(request));
    if (refused !== null || fault === 'closed') return void refuseUpgrade(socket, refused);
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.once('message', (data: Buffer) => {
        const body = JSON.parse(data.toString()) as Record<string, unknown>;
        asked.push({ path, token: tokenOf(request), body });
        const [ofStream = null, ...others] = streamFaults;
        streamFaults = others;
        const isExpired = (): boolean => unlawful(request) !== null;
        void serveStream(client, { path, body, answers, added, checkpointMs, fault: ofStream, isExpired });
      });
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${(server.address() as AddressInfo).port}`,
    asked,
    lines,
    add(...more) {
      lines.push(...more);
      for (const tell of added) tell();
    },
    change(changes) {
      participant = { ...participant, ...changes };
    },
    fail(path, fault, times = Infinity) {
      if (fault === null) faults.delete(path);
      else faults.set(path, { fault, left: times });
    },
    failStreams(...given) {
      streamFaults = given;
    },
    bufferedBytes: () => [...sockets.clients].reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0),
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function send(
  response: ServerResponse,
  { status, body, ...rest }: Answer & { headers?: Readonly<Record<string, string>> },
): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...rest.headers });
  response.end(isText ? body : JSON.stringify(body));
}

/** An answer without an upgrade; null: not even that. */
function refuseUpgrade(
  socket: Duplex,
  refused: (Answer & { headers?: Readonly<Record<string, string>> }) | null,
): void {
  if (refused === null) return void socket.destroy();
  const body = typeof refused.body === 'string' ? refused.body : JSON.stringify(refused.body);
  const headers = Object.entries({
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    ...refused.headers,
  });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${refused.status} Refused\r\n${head}\r\n${body}`);
}
