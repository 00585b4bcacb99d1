import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FuzzedRequest } from '../../test/support/http/fuzz-requests.ts';
import { type Answer, isAtLimit, sendRequest } from '../../test/support/http/send-request.ts';
import { createRandom } from '../../test/support/ledger/random.ts';
import { snapshotAt } from './ledger.ts';
import { answerReports, partSettings } from './part.ts';
import { drawQuestion, groupOf, ownersOfFeed, type Question } from './questions.ts';
import { Tally, type TallyReport } from './tally.ts';

export interface ReadersReport extends TallyReport {
  /** Answers that were compared with what the same question was answered before. */
  readonly compared: number;
}

export interface ReadersSettings {
  readonly seed: number;
  readonly url: string;
  /** A server that does nothing: how long it takes is the machine's doing, and ours who ask. */
  readonly bareUrl: string;
}

const READERS = 6;
const PAUSE_MS = 15;
const NEWEST_EVERY_MS = 500;
/** Questions that are repeated until the end; a new one takes the place of a random one. */
const REMEMBERED_MAX = 2_000;
const AGAIN_SHARE = 0.4;
const BARE_SHARE = 0.1;
const NEWEST = '/v0/state/acs/snapshot-timestamp?before=2199-01-01T00:00:00Z&migration_id=0';

interface Remembered {
  readonly question: Question;
  readonly digest: string;
}

const { seed, url, bareUrl } = partSettings<ReadersSettings>();
const owners = ownersOfFeed(seed);
const agent = new Agent({ keepAlive: true, maxSockets: READERS + 2 });
const tally = new Tally();
const remembered: Remembered[] = [];
let compared = 0;
let newestMs = Number.NaN;
let finishing = false;

async function ask(question: Question): Promise<string | null> {
  const { path: target, body } = question;
  const group = groupOf(question, newestMs);
  const answer = await timed(group, url, requestOf(question));
  if (answer === null || isAtLimit(answer)) return null;
  if (answer.status !== 200) tally.fault(`${target} ${body}: ${answer.status} ${answer.text}`);
  return answer.status === 200 ? createHash('sha256').update(answer.text).digest('base64') : null;
}

function requestOf({ path: target, body }: Question): FuzzedRequest {
  if (body === null) return { method: 'GET', target, headers: {}, body };
  const bytes = Buffer.from(body);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) };
  return { method: 'POST', target, headers, body: bytes };
}

/** Null, and a fault, where nothing came back. */
async function timed(group: string, server: string, given: FuzzedRequest): Promise<Answer | null> {
  const before = performance.now();
  try {
    const answer = await sendRequest(server, agent, given);
    tally.answered(group, answer.status, performance.now() - before);
    return answer;
  } catch (error) {
    tally.fault(`${given.target} ${given.body}: ${String(error)}`);
    return null;
  }
}

async function askAgain({ question, digest }: Remembered): Promise<void> {
  const again = await ask(question);
  if (again === null) return;
  compared++;
  if (again !== digest) tally.fault(`another answer than before: ${question.path} ${question.body}`);
}

async function read(number: number): Promise<void> {
  const random = createRandom(seed + number);
  for (; !finishing; await sleep(PAUSE_MS)) {
    if (!(snapshotAt(newestMs) >= 0)) continue;
    if (random.chance(BARE_SHARE))
      await timed('bare', bareUrl, { method: 'GET', target: '/hello', headers: {}, body: null });
    if (remembered.length > 0 && random.chance(AGAIN_SHARE)) {
      await askAgain(random.pick(remembered));
      continue;
    }
    const question = drawQuestion(random, owners, newestMs);
    const digest = await ask(question);
    if (digest === null) continue;
    if (remembered.length < REMEMBERED_MAX) remembered.push({ question, digest });
    else if (random.chance(0.05)) remembered[random.below(REMEMBERED_MAX)] = { question, digest };
  }
}

/** Learns the newest snapshot. */
async function follow(): Promise<void> {
  for (; !finishing; await sleep(NEWEST_EVERY_MS)) {
    const newest = await timed('newest', url, { method: 'GET', target: NEWEST, headers: {}, body: null });
    if (newest?.status === 200) newestMs = Date.parse((JSON.parse(newest.text) as { record_time: string }).record_time);
  }
}

const running = Promise.all([follow(), ...Array.from({ length: READERS }, (_, number) => read(number))]);

answerReports({
  report: (): ReadersReport => {
    const report = { ...tally.report(), compared };
    compared = 0;
    return report;
  },
  /** Every remembered question is repeated a last time. */
  async finish() {
    finishing = true;
    await running;
    for (const each of remembered) await askAgain(each);
    agent.destroy();
  },
});
