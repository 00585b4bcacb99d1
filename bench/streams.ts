import { execFileSync } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseLedger, partyOf } from '../test/support/ledger/parse-ledger.ts';
import { linesOf as linesOfItems } from '../test/support/views/replayed.ts';
import { linesOf } from './lines.ts';
import { median } from './median.ts';
import { ownCpuMs } from './process-cpu.ts';
import { type Server, startServer } from './processes.ts';
import { type Promised, printTable, rounded } from './table.ts';

const MAIN = join(import.meta.dirname, '../dist/main.js');
const STREAMS = 500;
/** As many as one address may have. */
const STREAMS_OF_ONE = 20;
const POLL_MS = 50;
/** Of each stream of movements, as many as one may have; those that are in the feed are of the first so many there. */
const OWNERS_OF_ONE = 1_000;
const OWNERS = 50_000;
/** Deposits, one after the other, of which each is waited for. */
const DEPOSITS = 500;

/** One ingest, from the first byte of its feed to its last snapshot. */
interface Ingest {
  readonly wallMs: number;
  /** Of the threads that ingest, and of the one that answers. */
  readonly ingestCpuMs: number;
  readonly answerCpuMs: number;
  /** What each stream was sent, on average. */
  readonly snapshots: number;
  readonly movements: number;
}

/** Null: none are open. */
type Events = 'snapshots' | 'movements' | null;

/** A service ingests a feed without streams and with as many as may be, one after the other, again and again; and deposits in them. */
export async function benchStreams(
  folder: string,
  feed: string,
  { rounds }: { readonly rounds: number },
): Promise<Promised[]> {
  const kinds: readonly Events[] = [null, 'snapshots', 'movements'];
  const owners = ownersIn(feed);
  const runs = new Map<Events, Ingest[]>(kinds.map((kind) => [kind, []]));
  for (let round = 1; round <= rounds; round++) {
    // The one that comes first finds a colder machine: each is first in turn.
    for (const at of kinds.keys()) {
      const events = kinds[(at + round) % kinds.length]!;
      console.error(`streams, round ${round} of ${rounds}: ${events}`);
      runs.get(events)!.push(await ingest(folder, feed, { events, owners }));
    }
  }
  const of = (events: Events, figure: keyof Ingest): number => median(runs.get(events)!.map((run) => run[figure]));
  printTable(
    `Streams: an ingest of the feed dense in coins, without and with ${STREAMS} streams of snapshots, and of movements of ${OWNERS_OF_ONE} owners`,
    ['events', 'seconds', 'CPU seconds, ingest', 'CPU seconds, event loop', 'snapshots a stream', 'movements a stream'],
    kinds.map((events) => [
      String(events),
      ...(['wallMs', 'ingestCpuMs', 'answerCpuMs'] as const).map((figure) => rounded(of(events, figure) / 1000)),
      ...(['snapshots', 'movements'] as const).map((figure) => rounded(of(events, figure))),
    ]),
  );
  const ratio = (events: Events): number => of(events, 'ingestCpuMs') / of(null, 'ingestCpuMs');
  const delays = new Map<number, readonly number[]>();
  for (const streams of [1, STREAMS]) delays.set(streams, await depositDelays(folder, streams));
  const rows = [...delays].map(([streams, ms]) => [
    String(streams),
    rounded(median(ms)),
    rounded(ms[Math.floor(ms.length * 0.99)]!),
  ]);
  printTable('Streams: from a deposit in the pipe to its event', ['streams', 'median ms', 'p99 ms'], rows);
  return [
    { what: `CPU of an ingest, with ${STREAMS} streams to none`, measured: ratio('snapshots'), most: 1.05, unit: 'x' },
    {
      what: `CPU of an ingest, with ${STREAMS} streams of movements`,
      measured: ratio('movements'),
      most: 1.05,
      unit: 'x',
    },
    { what: `p99 of a deposit, ${STREAMS} streams`, measured: Number(rows[1]![2]), most: 1_000, unit: 'ms' },
  ];
}

/** The first owners in a feed. */
function ownersIn(feed: string): readonly string[] {
  const owners = new Set<string>();
  for (const line of linesOf(feed)) {
    for (const [, owner] of line.toString().matchAll(/"owner":"([^"]+)"/g)) owners.add(owner!);
    if (owners.size >= OWNERS) break;
  }
  return [...owners];
}

/** Ascending. A client for each owner; a deposit is of another one each time, and written when the one before was seen. */
async function depositDelays(folder: string, streams: number): Promise<readonly number[]> {
  const [data, pipe] = [join(folder, 'deposit-data'), join(folder, 'deposit-feed')];
  execFileSync('mkfifo', [pipe]);
  try {
    const server = await startServer([MAIN, 'serve', '--data', data, '--file', pipe, '--port', '0']);
    await using _ = server;
    await using file = await open(pipe, 'w');
    const clients = await Promise.all(
      Array.from({ length: streams }, (_, i) =>
        openStream(server, i, { owners: [partyOf(`o${i}`)], events: 'movements' }),
      ),
    );
    const delays: number[] = [];
    for (let i = 0; i < DEPOSITS; i++) {
      const time = `01:${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`;
      const deposit = linesOfItems(parseLedger(`${time} =u${i} : +c${i} o${i % streams} 1`), 'scan');
      const client = clients[i % streams]!;
      const seen = client.count('movement') + 1;
      const startMs = performance.now();
      await file.write(`${deposit.join('\n')}\n`);
      while (client.count('movement') < seen) await client.next();
      delays.push(performance.now() - startMs);
    }
    for (const { socket } of clients) socket.destroy();
    return delays.sort((a, b) => a - b);
  } finally {
    rmSync(data, { recursive: true });
    rmSync(pipe);
  }
}

async function ingest(
  folder: string,
  feed: string,
  { events, owners }: { events: Events; owners: readonly string[] },
): Promise<Ingest> {
  const [data, pipe] = [join(folder, 'streams-data'), join(folder, 'streams-feed')];
  execFileSync('mkfifo', [pipe]);
  try {
    const server = await startServer([MAIN, 'serve', '--data', data, '--file', pipe, '--port', '0']);
    await using _ = server;
    // Each owner of the feed is of one stream, and the others are of nobody: so each movement is sent once.
    const ownersOf = (i: number): readonly string[] => {
      const own = owners.filter((_, at) => at % STREAMS === i).slice(0, OWNERS_OF_ONE);
      return [...own, ...Array.from({ length: OWNERS_OF_ONE - own.length }, (_, at) => partyOf(`nobody-${i}-${at}`))];
    };
    const clients = await Promise.all(
      Array.from({ length: events === null ? 0 : STREAMS }, (_, i) =>
        openStream(server, i, events === 'movements' ? { owners: ownersOf(i), events } : {}),
      ),
    );
    const before = cpuMs(server);
    const started = performance.now();
    await using file = await open(pipe, 'w');
    await pipeline(createReadStream(feed), file.createWriteStream());
    await untilCaughtUp(server);
    const wallMs = performance.now() - started;
    const after = cpuMs(server);
    const sent = (name: string): number =>
      clients.reduce((sum, { count }) => sum + count(name), 0) / Math.max(1, clients.length);
    for (const { socket } of clients) socket.destroy();
    return {
      wallMs,
      ingestCpuMs: after.others - before.others,
      answerCpuMs: after.main - before.main,
      snapshots: sent('snapshot'),
      movements: sent('movement'),
    };
  } finally {
    rmSync(data, { recursive: true });
    rmSync(pipe);
  }
}

/** A client that reads as fast as it can, and counts events. */
function openStream({ url }: Server, number: number, body: object) {
  const { hostname: host, port } = new URL(url);
  const localAddress = `127.0.0.${2 + Math.floor(number / STREAMS_OF_ONE)}`;
  const text = JSON.stringify(body);
  const head = `POST /holdfast/v1/stream HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
  const counts = new Map<string, number>();
  let news = Promise.withResolvers<void>();
  const client = (socket: Socket) => ({
    socket,
    count: (name: string): number => counts.get(name) ?? 0,
    /** Resolves when more has come. */
    next: (): Promise<void> => news.promise,
  });
  return new Promise<ReturnType<typeof client>>((resolve, reject) => {
    const socket = connect({ host, port: Number(port), localAddress }, () => socket.write(head + text));
    socket.on('data', (part) => {
      for (const [, name] of part.toString('latin1').matchAll(/^event: (\w+)$/gm))
        counts.set(name!, (counts.get(name!) ?? 0) + 1);
      news.resolve();
      news = Promise.withResolvers();
      resolve(client(socket));
    });
    socket.on('error', reject);
  });
}

async function untilCaughtUp({ url }: Server): Promise<void> {
  for (;;) {
    const { phase } = (await (await fetch(`${url}/status`)).json()) as { phase: string };
    if (phase === 'caught_up') return;
    if (phase !== 'starting' && phase !== 'reading') throw new Error(`the ingest is ${phase}`);
    await sleep(POLL_MS);
  }
}

/** User and system time so far: of the process's first thread, and of all others (Linux). */
function cpuMs({ pid }: Server): { readonly main: number; readonly others: number } {
  const main = ownCpuMs(pid, 'first thread');
  return { main, others: ownCpuMs(pid) - main };
}
