import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStream, openStream } from '../../test/support/http/event-stream.ts';
import { sendRequest } from '../../test/support/http/send-request.ts';
import { createRandom, type Random } from '../../test/support/ledger/random.ts';
import { snapshotAt } from './ledger.ts';
import { answerReports, partSettings } from './part.ts';
import { ownersOfFeed } from './questions.ts';
import { Tally } from './tally.ts';

export interface WatchersSettings {
  readonly seed: number;
  readonly url: string;
}

/** Fewer than one address may have, because the bad requests open some too. */
const STREAMS = 10;
const STREAM_OWNERS_MAX = 20;
const STREAM_MS_MAX = 60_000;
const SCRAPE_MS = 1_000;
const PAGE_MS = 2_000;
const PAGES = ['/', '/snapshots', '/owners/nobody'];

const { seed, url } = partSettings<WatchersSettings>();
const owners = ownersOfFeed(seed);
const agent = new Agent({ keepAlive: true, maxSockets: 2 });
const tally = new Tally();
let finishing = false;

async function get(group: string, target: string): Promise<string> {
  const before = performance.now();
  const answer = await sendRequest(url, agent, { method: 'GET', target, headers: {}, body: null });
  tally.answered(group, answer.status, performance.now() - before);
  if (answer.status !== 200) tally.fault(`${target}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer.text;
}

/** As Prometheus does; a counter never falls. */
async function scrape(): Promise<void> {
  let before = new Map<string, number>();
  for (; !finishing; await sleep(SCRAPE_MS)) {
    const text = await get('metrics', '/metrics');
    const counts = new Map([...text.matchAll(/^(holdfast_\w+_total\S*|holdfast_\w+_count\S*) (\S+)$/gm)].map(countOf));
    for (const [name, count] of before)
      if (!((counts.get(name) ?? Number.NaN) >= count)) tally.fault(`${name} was ${count} and is ${counts.get(name)}`);
    before = counts;
  }
}

function countOf([, name, value]: RegExpExecArray): readonly [string, number] {
  return [name!, Number(value)];
}

/** The pages of the dashboard with all that they load. */
async function browse(): Promise<void> {
  for (; !finishing; await sleep(PAGE_MS)) {
    for (const path of PAGES) {
      const page = await get('dashboard', path);
      for (const [, asset] of page.matchAll(/(?:src|href)="[./]*(assets\/[^"]+)"/g))
        await get('dashboard', `/${asset}`);
    }
  }
}

/** Follows some owners, goes away at any moment, and comes back with the id of the last event. */
async function follow(random: Random): Promise<void> {
  const asked = Array.from({ length: random.below(STREAM_OWNERS_MAX) }, () => random.pick(owners).party);
  let last: string | null = null;
  while (!finishing) {
    const before = performance.now();
    using stream: EventStream = await openStream(url, { owners: asked, ...(last !== null && { lastEventId: last }) });
    tally.answered('stream', stream.status, performance.now() - before);
    if (stream.status !== 200) tally.fault(`a stream was answered with ${stream.status}`);
    let isCut = false;
    void stream.ended.then(() => {
      isCut = true;
    });
    const until = performance.now() + random.below(STREAM_MS_MAX);
    while (performance.now() < until && !finishing && !isCut) await sleep(100);
    if (isCut) tally.fault(`a stream was ended: ${stream.text.slice(-200)}`);
    last = checked(stream, last) ?? last;
  }
}

/** The id of its last snapshot: each comes once, and where none is skipped they are all there. */
function checked(stream: EventStream, last: string | null): string | null {
  let before = last;
  for (const { name, id, data } of stream.named('snapshot', 'reset')) {
    if (before !== null && name === 'snapshot') {
      const step = placeOf(id!) - placeOf(before);
      const isNext = data.skipped === true ? step > 1 : step === 1;
      if (!isNext) tally.fault(`a stream went from ${before} to ${id}, skipped: ${String(data.skipped)}`);
    }
    before = id;
  }
  return before;
}

function placeOf(id: string): number {
  return snapshotAt(Date.parse(id.split(' ')[1]!));
}

const running = Promise.all([
  scrape(),
  browse(),
  ...Array.from({ length: STREAMS }, (_, number) => follow(createRandom(seed + number))),
]);
running.catch((error: unknown) => tally.fault(`a watcher ended: ${String(error)}`));

answerReports({
  report: () => tally.report(),
  async finish() {
    finishing = true;
    await running.catch(() => {});
    agent.destroy();
  },
});
