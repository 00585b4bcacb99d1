import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DigestReport } from './digest.ts';
import { writeMainnetFeed } from './mainnet/feed.ts';
import { alternate, measure } from './measure.ts';
import type { RunReport } from './run-report.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SEED = 1;
const RUNS = {
  'decode floor: utf8 + JSON.parse': (feed: string) => measure('decode-floor', feed),
  'holdfast, one thread': (feed: string) => measure('replay-holdfast', feed, 'inline'),
  'holdfast, 1 decode thread': (feed: string) => measure('replay-holdfast', feed, '1'),
  'holdfast, 2 decode threads': (feed: string) => measure('replay-holdfast', feed, '2'),
  'holdfast, 3 decode threads': (feed: string) => measure('replay-holdfast', feed, '3'),
};
type Run = keyof typeof RUNS;

/**
 * Replays a feed of MainNet's shape, where nearly all of the work is to find what concerns us, next to its decode floor.
 * Loading the program takes a fifth of so short a replay and nothing of a year's: what the first update takes on its own
 * is measured as well, and taken off.
 */
export function benchMainnet(folder: string, { updates, rounds }: { updates: number; rounds: number }): Promised[] {
  console.error(`making a feed of MainNet's shape of ${updates} updates`);
  const whole = join(folder, 'mainnet.ndjson');
  const first = join(folder, 'mainnet-first.ndjson');
  const bytes = writeMainnetFeed(whole, { seed: SEED, updates }) - writeMainnetFeed(first, { seed: SEED, updates: 1 });
  const names = Object.keys(RUNS) as Run[];
  const runs = names.flatMap((run): [string, () => RunReport][] => [
    [run, () => RUNS[run](whole)],
    [`${run}, the first update`, () => RUNS[run](first)],
  ]);
  const medians = alternate("MainNet's shape", Object.fromEntries(runs), rounds);
  const digestMs = measure<DigestReport>('digest', whole).cpuMs;
  for (const feed of [whole, first]) rmSync(feed);

  const costs = Object.fromEntries(
    names.map((run) => [run, costOf(medians[run]!, medians[`${run}, the first update`]!, updates - 1)]),
  ) as Record<Run, Cost>;
  const floor = costs['decode floor: utf8 + JSON.parse'];
  const rows = Object.entries(costs).map(([run, { wallUs, cpuUs, threadCpuUs, startMs, rssMb }]) => {
    const speed = [bytes / (updates - 1) / wallUs, wallUs, floor.wallUs / wallUs];
    return [run, ...[...speed, cpuUs, cpuUs / floor.cpuUs, threadCpuUs, startMs, rssMb].map(rounded)];
  });
  const size = `${updates} updates of MainNet's shape, ${rounded(bytes / (updates - 1) / 1000)} kB each`;
  const heading = `Replay of ${size}, on ${availableParallelism()} cores (medians of ${rounds} alternating runs)`;
  const columns = [
    '',
    'MB/s',
    'us/update',
    'x floor',
    'CPU us/update',
    'CPU x floor',
    'main thread',
    'start ms',
    'RSS MB',
  ];
  printTable(heading, columns, rows);

  const { wallUs, cpuUs } = costs['holdfast, 1 decode thread'];
  const what = "replay of MainNet's shape";
  return [
    { what: `${what}, to the decode floor`, measured: floor.wallUs / wallUs, least: 1.5, unit: 'x' },
    { what: `${what}, CPU to the floor's`, measured: cpuUs / floor.cpuUs, most: 0.85, unit: 'x' },
    {
      what: 'digests, of the CPU of that replay',
      measured: (100 * digestMs * 1000) / (cpuUs * (updates - 1)),
      most: 5,
      unit: '%',
    },
  ];
}

/** What an update takes, start-up apart. */
interface Cost {
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly threadCpuUs: number;
  readonly startMs: number;
  readonly rssMb: number;
}

function costOf(whole: RunReport, first: RunReport, updates: number): Cost {
  const each = (figure: 'wallMs' | 'cpuMs' | 'threadCpuMs'): number =>
    ((whole[figure] - first[figure]) * 1000) / updates;
  return {
    wallUs: each('wallMs'),
    cpuUs: each('cpuMs'),
    threadCpuUs: each('threadCpuMs'),
    startMs: first.wallMs,
    rssMb: whole.rssMb,
  };
}
