import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Asking, alternateLoads, CONNECTIONS, type Loads, load, post, printLoads, rateTo } from './loads.ts';
import { measure } from './measure.ts';
import { type Server, startServer } from './processes.ts';
import { type AskedOwner, ownerOf, questionAt, questionOfNewest } from './summary-question.ts';
import { type Promised, printTable, rounded } from './table.ts';

const POLL_MS = 100;
/** Ten minutes: longer than any replay of the default size. */
const POLLS_MAX = 6_000;
/** Of how many contracts the owners are (or the nearest there is), and what is promised for them against the reference. */
const ASKED = [{ contracts: 1 }, { contracts: 10 }, { contracts: 100, least: 10 }, { contracts: 1000, least: 40 }];

/** Requests summaries over HTTP next to bare routes, of owners of few and many contracts, and while a replay runs. */
export async function benchSummaries(
  folder: string,
  feed: string,
  { rounds, reference }: { rounds: number; reference: Server | null },
): Promise<Promised[]> {
  const dataDir = join(folder, 'data');
  console.error('replaying a feed to ask about');
  measure('replay-holdfast', feed, 'worker', dataDir);
  const owners = ASKED.map(({ contracts }) => ownerOf(dataDir, contracts));
  const beside = await benchBeside(dataDir, owners, { rounds, reference });
  const shared = await benchSharedPort(dataDir, owners[0]!, rounds);
  const busy = await benchWhileReplaying(join(folder, 'fresh'), feed, owners[0]!);
  return [...beside, shared, busy];
}

async function benchBeside(
  dataDir: string,
  owners: readonly AskedOwner[],
  { rounds, reference }: { rounds: number; reference: Server | null },
): Promise<Promised[]> {
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0']);
  const answer = await (await ask(`${holdfast.url}/v0/holdings/summary`, owners[0]!.body)).text();
  await using bare = await startServer(['bench/bare-server.ts', answer]);
  if (reference !== null) for (const owner of owners) await sameTotals(holdfast.url, reference.url, owner);
  const asked = [...askings(holdfast, bare, owners), ...(reference === null ? [] : toReference(reference, owners))];
  const loads = alternateLoads('summaries', asked, rounds);
  printLoads(
    'Summaries over HTTP, one process',
    loads,
    asked.map(({ name }) => name),
  );
  const v1 = owners.map((owner) => loads(nameOf('v1', owner)).requestsPerSecond);
  const against = reference === null ? [] : againstReference(owners, loads);
  const ofBare = (
    [
      ['v0', 0.4],
      ['v1', 0.45],
    ] as const
  ).map(([version, least]) => ({
    what: `${version} summary of one owner, of the bare route`,
    measured: rateTo(loads, nameOf(version, owners[0]!), BARE),
    least,
    unit: 'x',
  }));
  return [
    ...ofBare,
    {
      what: 'v1 summary, slowest of 1 to 1000 contracts to the fastest',
      measured: Math.min(...v1) / Math.max(...v1),
      least: 0.8,
      unit: 'x',
    },
    ...against,
  ];
}

/** A reference that answers something else is no measure. Its round is another, so its fees are, too. */
async function sameTotals(holdfast: string, reference: string, { party, body }: AskedOwner): Promise<void> {
  const [ours, theirs] = await Promise.all(
    [`${holdfast}/v0/holdings/summary`, `${reference}/summary`].map(async (url) => {
      const { summaries } = (await (await ask(url, body)).json()) as { summaries: Record<string, string>[] };
      return ['total_unlocked_coin', 'total_locked_coin'].map((total) => summaries[0]![total]).join(' and ');
    }),
  );
  if (ours !== theirs) throw new Error(`${party} has ${ours}; the reference approach says ${theirs}`);
}

function againstReference(owners: readonly AskedOwner[], loads: Loads): Promised[] {
  const against = owners.map((owner, at) => ({
    what: `${nameOf('v0', owner)}, to the reference approach`,
    measured: rateTo(loads, nameOf('v0', owner), nameOf('reference', owner)),
    least: ASKED[at]!.least,
    unit: 'x',
  }));
  const rows = against.map(({ what, measured }) => [what, rounded(measured)]);
  printTable('Every contract loaded and added up by the client, with prepared statements', ['', 'x'], rows);
  return against.flatMap(({ least, ...each }) => (least === undefined ? [] : [{ ...each, least }]));
}

function toReference(reference: Server, owners: readonly AskedOwner[]): Asking[] {
  const url = `${reference.url}/summary`;
  return owners.map((owner) => ({
    name: nameOf('reference', owner),
    url,
    request: post(owner.body),
    servers: [reference],
  }));
}

const BARE = 'bare route that reads and answers JSON';

function askings(holdfast: Server, bare: Server, owners: readonly AskedOwner[]): Asking[] {
  const asked = (['v0', 'v1'] as const).flatMap((version) => {
    return owners.map((owner) => ({
      name: nameOf(version, owner),
      url: `${holdfast.url}/${version}/holdings/summary`,
      request: post(owner.body),
      servers: [holdfast],
    }));
  });
  return [{ name: BARE, url: `${bare.url}/summary`, request: post(owners[0]!.body), servers: [bare] }, ...asked];
}

function nameOf(version: string, { contracts }: AskedOwner): string {
  return `${version} summary, owner of ${contracts} contract${contracts === 1 ? '' : 's'}`;
}

/**
 * What a request costs two processes that share a port, to one that has a port of its own: each as busy as the one. With half as
 * many connections each, a process finds fewer requests in a turn of its event loop, and each turn has its own cost.
 */
async function benchSharedPort(dataDir: string, owner: AskedOwner, rounds: number): Promise<Promised> {
  const reading = (port: string): Promise<Server> =>
    startServer(['dist/main.js', 'serve', '--data', dataDir, '--read-only', '--reuse-port', '--port', port]);
  await using one = await reading('0');
  await using first = await reading('0');
  await using second = await reading(new URL(first.url).port);
  const path = '/v1/holdings/summary';
  const alone = 'one process';
  const both = `two processes on one port, ${2 * CONNECTIONS} connections`;
  const shared = 'two processes on one port';
  const request = post(owner.body);
  const all = [
    { name: alone, url: one.url + path, request, servers: [one] },
    { name: both, url: first.url + path, request, servers: [first, second], connections: 2 * CONNECTIONS },
    { name: shared, url: first.url + path, request, servers: [first, second] },
  ];
  const loads = alternateLoads('read-only processes', all, rounds);
  printLoads('v1 summaries of serve --read-only --reuse-port', loads, [alone, both, shared]);
  const measured = loads(both).cpuUsPerRequest / loads(alone).cpuUsPerRequest;
  return {
    what: 'CPU of a request of two read-only processes, each as busy as one, to one',
    measured,
    most: 1.1,
    unit: 'x',
  };
}

/** The same question while the ingest runs flat out, and after it has ended, of one and the same process. */
async function benchWhileReplaying(dataDir: string, feed: string, owner: AskedOwner): Promise<Promised> {
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0', '--file', feed]);
  const url = `${holdfast.url}/v1/holdings/summary`;
  console.error('summaries while a replay runs');
  const { record_time } = (await until(() => ask(url, questionOfNewest(owner)))) as { record_time: string };
  const body = questionAt(owner, record_time);
  const asked = { url, request: post(body), servers: [holdfast] };
  const busy = load(asked);
  const { ok: ended } = await fetch(`${holdfast.url}/readyz`);
  if (ended) throw new Error('the replay was over before the questions were: take a larger --events');
  await until(() => fetch(`${holdfast.url}/readyz`));
  const quiet = load(asked);
  const rows = [
    ['while a replay runs', rounded(busy.requestsPerSecond), rounded(busy.p99Ms)],
    ['quiet', rounded(quiet.requestsPerSecond), rounded(quiet.p99Ms)],
  ];
  printTable('v1 summaries during the ingest', ['', 'requests/s', 'p99 ms'], rows);
  return { what: 'p99 while a replay runs, to the quiet one', measured: busy.p99Ms / quiet.p99Ms, most: 3, unit: 'x' };
}

/** Asks until the answer is good, and returns it. */
async function until(ask: () => Promise<Response>): Promise<unknown> {
  for (let left = POLLS_MAX; left > 0; left--) {
    const response = await ask();
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    await sleep(POLL_MS);
  }
  throw new Error('the service did not come to answer');
}

function ask(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
}
