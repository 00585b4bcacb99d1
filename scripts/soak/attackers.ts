import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fuzzedRequest, operationsOf } from '../../test/support/http/fuzz-requests.ts';
import { type HostileCase, readCases } from '../../test/support/http/hostile-cases.ts';
import { exchange, parseAnswer, rawRequest } from '../../test/support/http/raw-request.ts';
import { sendRequest, violation } from '../../test/support/http/send-request.ts';
import { createRandom, type Random } from '../../test/support/ledger/random.ts';
import { readStory } from './ledger.ts';
import { answerReports, partSettings } from './part.ts';
import { Tally } from './tally.ts';

export interface AttackersSettings {
  readonly seed: number;
  readonly url: string;
  /** Of an administrator of the ledger area. */
  readonly token: string;
}

const TABLES = ['fields.txt', 'bodies.txt', 'queries.txt', 'routes.txt', 'headers.txt', 'protocol.txt'];
const PAUSE_MS = 20;
const FUZZERS = 3;
const TABLE_READERS = 2;
/** A keep-alive connection may be closed at the moment of a request's sending; no fault of anybody's. */
const CLOSED_UNDERWAY = new Set(['ECONNRESET', 'EPIPE']);
const PIPELINED = 20;

const { seed, url, token } = partSettings<AttackersSettings>();
const port = Number(new URL(url).port);
const tally = new Tally();
let finishing = false;

/** While the feed is read the service is not ready; and the tables are for one without users' area and dashboard. */
const isOther = ({ request: { target }, status }: HostileCase): boolean =>
  (target === '/readyz' && status === 200) || target.startsWith('/v2') || target === '/';

function tableCases(): HostileCase[] {
  const { owner_party_ids, snapshots } = readStory();
  const { migration_id, record_time } = snapshots[0]!;
  const good = { migration_id, record_time, owner_party_ids, page_size: 10 };
  return TABLES.flatMap((name) => readCases(name, good)).filter((given) => !isOther(given));
}

/** Goes through the tables, again and again; each answer has the status that its line says. */
async function sendTables(random: Random, cases: readonly HostileCase[]): Promise<void> {
  for (; !finishing; await sleep(PAUSE_MS)) {
    const given = random.pick(cases);
    const before = performance.now();
    const text = await exchange(port, rawRequest(given.request));
    try {
      const answer = parseAnswer(text);
      tally.answered('table', answer.status, performance.now() - before);
      if (answer.status !== given.status) tally.fault(`${answer.status} ${answer.body} instead of ${given.line}`);
    } catch (error) {
      tally.fault(`${given.line}: ${String(error)}`);
    }
  }
}

/** Requests generated from the OpenAPI documents, most of them about holdings. */
async function fuzz(random: Random): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const holdings = operationsOf('openapi-holdings.json').filter(({ path }) => path !== '/readyz');
  const ledger = operationsOf('openapi-ledger.json');
  for (; !finishing; await sleep(PAUSE_MS)) {
    const authorization = random.chance(0.1) ? `Bearer ${token}` : '';
    const given = fuzzedRequest(random.pick(authorization === '' ? holdings : ledger), authorization, random);
    const about = `${given.method} ${given.target} ${given.body?.toString().slice(0, 500)}`;
    const before = performance.now();
    try {
      const answer = await sendRequest(url, agent, given);
      tally.answered('fuzz', answer.status, performance.now() - before);
      const wrong = violation(given, answer);
      if (wrong !== null) tally.fault(`${wrong}: ${about}: ${answer.text}`);
    } catch (error) {
      if (!CLOSED_UNDERWAY.has((error as NodeJS.ErrnoException).code ?? '')) tally.fault(`${about}: ${String(error)}`);
    }
  }
  agent.destroy();
}

/** Goes away in the midst of requests and answers, or sends many requests before it takes the first answer. */
async function interrupt(random: Random, cases: readonly HostileCase[]): Promise<void> {
  for (; !finishing; await sleep(PAUSE_MS * 5)) {
    const bytes = rawRequest(random.pick(cases).request);
    const pipelined = 'GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(PIPELINED);
    const sent = random.chance(0.5) ? pipelined : bytes.slice(0, random.below(bytes.length));
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(sent, 'latin1'));
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      setTimeout(() => socket.destroy(), random.below(200));
    });
    tally.answered('interrupted', 'interrupted', 0);
  }
}

const cases = tableCases();
const randomOf = (number: number): Random => createRandom(seed + number);
const running = Promise.all([
  interrupt(randomOf(0), cases),
  ...Array.from({ length: TABLE_READERS }, (_, number) => sendTables(randomOf(10 + number), cases)),
  ...Array.from({ length: FUZZERS }, (_, number) => fuzz(randomOf(20 + number))),
]);

answerReports({
  report: () => tally.report(),
  async finish() {
    finishing = true;
    await running;
  },
});
