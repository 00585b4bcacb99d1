import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import {
  type Answer,
  type FakeServer,
  type FakeServerOptions,
  type Fault,
  jsonBytes,
  startFakeServer,
  tokenOf,
} from '../../../demo/local-server.ts';
import { createAnswers, type Participant } from './answers.ts';
import { ERRORS } from './errors.ts';
import { TEMPLATES } from './participant-ledger.ts';
import { type StreamFault, serveStream } from './streams.ts';

/** A participant's JSON Ledger API over lines of format B, on a real socket, by the rules of its wire. */
export interface FakeParticipant extends Omit<FakeServer, 'server' | 'faultOf'> {
  readonly lines: string[];
  add(...lines: readonly string[]): void;
  change(participant: Partial<Participant>): void;
  /** The next streams do these, one each. */
  failStreams(...faults: readonly StreamFault[]): void;
}

export interface FakeParticipantOptions extends Partial<Participant>, FakeServerOptions {
  readonly lines?: readonly string[];
  /** How long after its begin, and after new updates, a stream has a checkpoint. */
  readonly checkpointMs?: number;
}

export async function startFakeParticipant({
  lines: first = [],
  tls,
  port,
  checkpointMs = 30,
  ...given
}: FakeParticipantOptions = {}): Promise<FakeParticipant> {
  const lines = [...first];
  let streamFaults: readonly StreamFault[] = [];
  const added = new Set<() => void>();
  let participant: Participant = {
    participantId: 'participant1::1220ab',
    localParties: [],
    token: null,
    readAs: null,
    prunedUpTo: 0,
    minor: 5,
    templates: TEMPLATES,
    partiesPage: 3,
    contractsPage: 10,
    ...given,
  };
  const answers = createAnswers(
    () => participant,
    () => lines,
  );
  const refused = (token: string | null): Answer | null =>
    participant.token !== null && token !== participant.token ? ERRORS.unauthenticated : null;

  const fake = await startFakeServer(
    { ...(tls && { tls }), ...(port && { port }) },
    (route, { token, body, query }) => {
      const refusal = refused(token);
      if (refusal !== null) return refusal;
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
    },
  );
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'daml.ws.auth' });
  fake.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { pathname: path } = new URL(request.url!, 'http://any');
    const token = tokenOf(request);
    const fault = fake.faultOf(path) ?? refused(token);
    if (fault !== null) return refuseUpgrade(socket, fault);
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.once('message', (data: Buffer) => {
        const body = JSON.parse(data.toString()) as Record<string, unknown>;
        fake.asked.push({ path, token, body });
        const [ofStream = null, ...others] = streamFaults;
        streamFaults = others;
        const isExpired = (): boolean => refused(token) !== null;
        void serveStream(client, { body, answers, added, checkpointMs, fault: ofStream, isExpired });
      });
    });
  });
  return {
    ...fake,
    lines,
    add(...more) {
      lines.push(...more);
      for (const tell of added) tell();
    },
    change(changes) {
      participant = { ...participant, ...changes };
    },
    failStreams(...faults) {
      streamFaults = faults;
    },
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      await fake[Symbol.asyncDispose]();
    },
  };
}

/** Answers without an upgrade. */
function refuseUpgrade(socket: Duplex, fault: Fault): void {
  if (typeof fault !== 'object') return void (fault === 'silent' || socket.destroy());
  const body = jsonBytes(fault.body);
  const headers = Object.entries({ connection: 'close', 'content-length': body.length, ...fault.headers });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${fault.status} Refused\r\n${head}\r\n`), body]));
}
