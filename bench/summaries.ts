import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measure } from './measure.ts';
import { median } from './median.ts';
import { type Load, load, type Server, startServer } from './processes.ts';
import { type AskedOwner, ownerOf, questionAt, questionOfNewest } from './summary-question.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SECONDS = 4;
const POLL_MS = 100;
/** Ten minutes: longer than any replay of the default size. */
const POLLS_MAX = 6_000;
/** Of how many contracts the owners are (or the nearest there is), and what is promised for them against the reference. */
const ASKED = [{ contracts: 1 }, { contracts: 10 }, { contracts: 100, least: 10 }, { contracts: 1000, least: 40 }];

/** Asks for summaries over HTTP beside bare routes, of owners of few and many contracts, and while a replay runs. */
export async function benchSummaries(
  folder: string,
  feed: string,
  { rounds, reference }: { rounds: number; reference: string | null },
): Promise<Promised[]> {
  const dataDir = join(folder, 'data');
  console.error('replaying a feed to ask about');
  measure('replay-holdfast', feed, 'worker', dataDir);
  const owners = ASKED.map(({ contracts }) => ownerOf(dataDir, contracts));
  const beside = await benchBeside(dataDir, owners, { rounds, reference });
  const busy = await benchWhileReplaying(join(folder, 'fresh'), feed, owners[0]!);
  return [...beside, busy];
}

async function benchBeside(
  dataDir: string,
  owners: readonly AskedOwner[],
  { rounds, reference }: { rounds: number; reference: string | null },
): Promise<Promised[]> {
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0']);
  const answer = await (await post(`${holdfast.url}/v0/holdings/summary`, owners[0]!.body)).text();
  await using bare = await startServer(['bench/bare-server.ts', answer]);
  if (reference !== null) for (const owner of owners) await sameTotals(holdfast.url, reference, owner);
  const runs = [...runsOf(holdfast, bare, owners), ...(reference === null ? [] : referenceRuns(reference, owners))];
  const loads = new Map<string, Load[]>(runs.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, url, body } of runs) {
      console.error(`summaries, round ${round} of ${rounds}: ${name}`);
      loads.get(name)!.push(load(url, body, SECONDS));
    }
  }
  const rate = (name: string): number => median(loads.get(name)!.map(({ requestsPerSecond }) => requestsPerSecond));
  const p99 = (name: string): number => median(loads.get(name)!.map(({ p99Ms }) => p99Ms));
  const rows = runs.map(({ name }) => [
    name,
    rounded(rate(name)),
    rounded(rate(name) / rate(BARE)),
    rounded(p99(name)),
  ]);
  const heading = `Requests over HTTP, 16 connections, one process (medians of ${rounds} alternating runs of ${SECONDS} s)`;
  printTable(heading, ['', 'requests/s', 'of the bare route', 'p99 ms'], rows);
  const v1 = owners.map((owner) => rate(nameOf('v1', owner)));
  const against = reference === null ? [] : againstReference(owners, rate);
  return [
    {
      what: 'v0 summary of one owner, of the bare route',
      measured: rate(nameOf('v0', owners[0]!)) / rate(BARE),
      least: 0.5,
      unit: 'x',
    },
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
      const { summaries } = (await (await post(url, body)).json()) as { summaries: Record<string, string>[] };
      return ['total_unlocked_coin', 'total_locked_coin'].map((total) => summaries[0]![total]).join(' and ');
    }),
  );
  if (ours !== theirs) throw new Error(`${party} has ${ours}; the reference approach says ${theirs}`);
}

function againstReference(owners: readonly AskedOwner[], rate: (name: string) => number): Promised[] {
  const against = owners.map((owner, at) => ({
    what: `${nameOf('v0', owner)}, to the reference approach`,
    measured: rate(nameOf('v0', owner)) / rate(nameOf('reference', owner)),
    least: ASKED[at]!.least,
    unit: 'x',
  }));
  const rows = against.map(({ what, measured }) => [what, rounded(measured)]);
  printTable('Every contract loaded and added up by the client, with prepared statements', ['', 'x'], rows);
  return against.flatMap(({ least, ...each }) => (least === undefined ? [] : [{ ...each, least }]));
}

function referenceRuns(url: string, owners: readonly AskedOwner[]): { name: string; url: string; body: string }[] {
  return owners.map((owner) => ({ name: nameOf('reference', owner), url: `${url}/summary`, body: owner.body }));
}

const BARE = 'bare route that reads and answers JSON';

function runsOf(
  holdfast: Server,
  bare: Server,
  owners: readonly AskedOwner[],
): { name: string; url: string; body: string }[] {
  const asked = (['v0', 'v1'] as const).flatMap((version) => {
    return owners.map((owner) => {
      return {
        name: nameOf(version, owner),
        url: `${holdfast.url}/${version}/holdings/summary`,
        body: owner.body,
      };
    });
  });
  return [{ name: BARE, url: `${bare.url}/summary`, body: owners[0]!.body }, ...asked];
}

function nameOf(version: string, { contracts }: AskedOwner): string {
  return `${version} summary, owner of ${contracts} contract${contracts === 1 ? '' : 's'}`;
}

/** The same question while the ingest runs flat out, and after it has ended, of one and the same process. */
async function benchWhileReplaying(dataDir: string, feed: string, owner: AskedOwner): Promise<Promised> {
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0', '--file', feed]);
  const url = `${holdfast.url}/v1/holdings/summary`;
  console.error('summaries while a replay runs');
  const { record_time } = (await until(() => post(url, questionOfNewest(owner)))) as { record_time: string };
  const body = questionAt(owner, record_time);
  const busy = load(url, body, SECONDS);
  const { ok: ended } = await fetch(`${holdfast.url}/readyz`);
  if (ended) throw new Error('the replay was over before the questions were: take a larger --events');
  await until(() => fetch(`${holdfast.url}/readyz`));
  const quiet = load(url, body, SECONDS);
  const rows = [
    ['while a replay runs', rounded(busy.requestsPerSecond), rounded(busy.p99Ms)],
    ['quiet', rounded(quiet.requestsPerSecond), rounded(quiet.p99Ms)],
  ];
  printTable('v1 summaries beside the ingest', ['', 'requests/s', 'p99 ms'], rows);
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

function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
}
