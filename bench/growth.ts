import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { builtReplayMb } from './built-replay.ts';
import { measure } from './measure.ts';
import { makeBenchFeed } from './replay.ts';
import type { ReplayReport } from './replay-holdfast.ts';
import { type Promised, printTable, rounded } from './table.ts';

interface Grown {
  readonly events: number;
  /** Of the writing thread, for an event. */
  readonly cpuUs: number;
  /** Written to disk for an event: over the whole replay, and over its last fifth. */
  readonly writtenBytes: number;
  readonly lateBytes: number;
  readonly sizeBytes: number;
  /** Of `holdfast replay`; null where that was not run. */
  readonly rssMb: number | null;
}

/**
 * Replays a small and a large feed: neither the cost per event nor the memory may follow the active set. `huge`: one more, from a
 * pipe, which no promise is about; null for none.
 */
export function benchGrowth(
  folder: string,
  sizes: { smallEvents: number; largeEvents: number; hugeEvents: number | null },
): Promised[] {
  const [small, large] = [sizes.smallEvents, sizes.largeEvents].map((events) => replayOf(folder, events));
  const grown = [small!, large!, ...(sizes.hugeEvents === null ? [] : [replayFromPipe(sizes.hugeEvents)])];
  const rows = grown.map(({ events, cpuUs, writtenBytes, lateBytes, sizeBytes, rssMb }) => {
    const figures = [cpuUs, writtenBytes, lateBytes, sizeBytes].map(rounded);
    return [String(events), ...figures, rssMb === null ? '' : rounded(rssMb)];
  });
  printTable(
    'Growth: holdfast with a decode worker',
    [
      'events',
      'CPU us/event, writing thread',
      'written bytes/event',
      'in the last fifth',
      'size/event',
      'MiB of holdfast replay',
    ],
    rows,
  );
  return [
    { what: 'cost per event, large to small', measured: large!.cpuUs / small!.cpuUs, most: 2.5, unit: 'x' },
    {
      what: 'written to disk at the end of the large replay',
      measured: large!.lateBytes,
      most: 4_000,
      unit: 'bytes an event',
    },
    { what: 'resident memory of the large replay', measured: large!.rssMb!, most: 450, unit: 'MiB' },
  ];
}

function replayOf(folder: string, events: number): Grown {
  const feed = makeBenchFeed(folder, events);
  console.error(`replay of ${events} events: holdfast, decode worker`);
  const report = measure<ReplayReport>('replay-holdfast', feed, 'worker');
  console.error(`replay of ${events} events: memory of the installed program`);
  const rssMb = builtReplayMb(feed);
  rmSync(feed);
  return { ...grownOf(report), rssMb };
}

/** No disk has room for such a feed beside the views. */
function replayFromPipe(events: number): Grown {
  console.error(`replay of ${events} events from a pipe: holdfast, decode worker`);
  const [feed, replay] = ['write-feed', 'replay-holdfast'].map((name) => join(import.meta.dirname, `${name}.ts`));
  const output = execFileSync(
    'sh',
    ['-c', '"$0" "$1" "$2" | "$0" "$3" - worker', process.execPath, feed!, String(events), replay!],
    {
      encoding: 'utf8',
    },
  );
  return { ...grownOf(JSON.parse(output.trim().split('\n').at(-1)!) as ReplayReport), rssMb: null };
}

function grownOf({ events, threadCpuMs, bytes, writtenBytes, lateBytes }: ReplayReport): Omit<Grown, 'rssMb'> {
  const each = { writtenBytes: writtenBytes / events, sizeBytes: bytes / events, lateBytes };
  return { events, cpuUs: (threadCpuMs * 1000) / events, ...each };
}
