import { execFileSync } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './median.ts';
import { ownCpuMs } from './process-cpu.ts';
import { type Server, startServer } from './processes.ts';
import { type Promised, printTable, rounded } from './table.ts';

const MAIN = join(import.meta.dirname, '../dist/main.js');
const STREAMS = 500;
/** As many as one address may have. */
const STREAMS_OF_ONE = 20;
const POLL_MS = 50;

/** One ingest, from the first byte of its feed to its last snapshot. */
interface Ingest {
  readonly wallMs: number;
  /** Of the threads that ingest, and of the one that answers. */
  readonly ingestCpuMs: number;
  readonly answerCpuMs: number;
  /** What each stream was sent, on average. */
  readonly snapshots: number;
}

/** A service ingests a feed without streams and with as many as may be, one after the other, again and again. */
export async function benchStreams(
  folder: string,
  feed: string,
  { rounds }: { readonly rounds: number },
): Promise<Promised[]> {
  const runs = new Map<number, Ingest[]>([0, STREAMS].map((streams) => [streams, []]));
  for (let round = 1; round <= rounds; round++) {
    // The one that comes first finds a colder machine: each is first in turn.
    for (const streams of round % 2 === 1 ? [0, STREAMS] : [STREAMS, 0]) {
      console.error(`streams, round ${round} of ${rounds}: ${streams}`);
      runs.get(streams)!.push(await ingest(folder, feed, streams));
    }
  }
  const of = (streams: number, figure: keyof Ingest): number => median(runs.get(streams)!.map((run) => run[figure]));
  const figures = ['wallMs', 'ingestCpuMs', 'answerCpuMs', 'snapshots'] as const;
  printTable(
    'Streams: an ingest of the feed dense in coins',
    ['streams', 'seconds', 'CPU seconds, ingest', 'CPU seconds, event loop', 'snapshots a stream'],
    [0, STREAMS].map((streams) => [
      String(streams),
      ...figures.map((figure) => rounded(figure === 'snapshots' ? of(streams, figure) : of(streams, figure) / 1000)),
    ]),
  );
  const ratio = of(STREAMS, 'ingestCpuMs') / of(0, 'ingestCpuMs');
  return [{ what: `CPU of an ingest, with ${STREAMS} streams to none`, measured: ratio, most: 1.05, unit: 'x' }];
}

async function ingest(folder: string, feed: string, streams: number): Promise<Ingest> {
  const [data, pipe] = [join(folder, 'streams-data'), join(folder, 'streams-feed')];
  execFileSync('mkfifo', [pipe]);
  try {
    const server = await startServer([MAIN, 'serve', '--data', data, '--file', pipe, '--port', '0']);
    await using _ = server;
    const clients = await Promise.all(Array.from({ length: streams }, (_, i) => openStream(server, i)));
    const before = cpuMs(server);
    const started = performance.now();
    await using file = await open(pipe, 'w');
    await pipeline(createReadStream(feed), file.createWriteStream());
    await untilCaughtUp(server);
    const wallMs = performance.now() - started;
    const after = cpuMs(server);
    const snapshots = clients.map(({ events }) => events()).reduce((sum, each) => sum + each, 0) / streams;
    for (const { socket } of clients) socket.destroy();
    return {
      wallMs,
      ingestCpuMs: after.others - before.others,
      answerCpuMs: after.main - before.main,
      snapshots: streams === 0 ? 0 : snapshots,
    };
  } finally {
    rmSync(data, { recursive: true });
    rmSync(pipe);
  }
}

/** A client that reads as fast as it can. */
function openStream({ url }: Server, number: number): Promise<{ socket: Socket; events: () => number }> {
  const { hostname: host, port } = new URL(url);
  const localAddress = `127.0.0.${2 + Math.floor(number / STREAMS_OF_ONE)}`;
  return new Promise((resolve, reject) => {
    let events = 0;
    const socket = connect({ host, port: Number(port), localAddress }, () =>
      socket.write(`GET /holdfast/v1/stream HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    );
    socket.on('data', (part) => {
      events += part.toString('latin1').split('event: snapshot\n').length - 1;
      resolve({ socket, events: () => events });
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
