import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtReplayMb } from './built-replay.ts';
import { measure } from './measure.ts';
import { makeBenchFeed } from './replay.ts';
import type { ReplayReport } from './replay-holdfast.ts';
import type { StoredReadsReport } from './stored-reads.ts';
import { type Promised, printTable, rounded } from './table.ts';

interface Grown {
  readonly events: number;
  /** Of the writing thread, for an event. */
  readonly cpuUs: number;
  /** Written to disk for an event, in the last fifth of the replay. */
  readonly lateBytes: number;
  readonly sizeBytes: number;
  /** Of `holdfast replay`; of a replay from a pipe, of the measured process, which writes in its main thread. */
  readonly rssMb: number;
}

interface Sizes {
  readonly smallEvents: number;
  readonly middleEvents: number;
  readonly largeEvents: number;
  /** From a pipe: no disk has room for such a feed beside the views. Null: not measured. */
  readonly hugeEvents: number | null;
}

/** As a service has them that follows a busy feed. */
const SMALL_BATCH_EVENTS = 20_000;

/** Replays feeds of several sizes: what an event costs may not follow the number of those before it. */
export function benchGrowth(folder: string, { smallEvents, middleEvents, largeEvents, hugeEvents }: Sizes): Promised[] {
  const [small, middle, large] = [smallEvents, middleEvents, largeEvents].map((events) => replayOf(folder, events));
  const lastEvents = hugeEvents ?? largeEvents;
  using kept = mkdtempDisposableSync(join(tmpdir(), 'holdfast-bench-'));
  const huge = replayFromPipe(lastEvents, { kept: kept.path, batchEvents: null });
  console.error(`reads of the views of ${lastEvents} events`);
  const reads = measure<StoredReadsReport>('stored-reads', kept.path);
  const inSmallBatches = replayFromPipe(lastEvents, { kept: null, batchEvents: SMALL_BATCH_EVENTS });
  const grown = [small!, middle!, large!, ...(hugeEvents === null ? [] : [huge]), inSmallBatches];
  print(grown, reads, lastEvents);
  return [
    most('cost per event, last to small', huge.cpuUs / small!.cpuUs, 1.8, 'x'),
    most('cost per event, middle to small', middle!.cpuUs / small!.cpuUs, 1.25, 'x'),
    most('written to disk in the last fifth of the last replay', huge.lateBytes, 1_000, 'bytes an event'),
    most('the same to that of the large one', huge.lateBytes / large!.lateBytes, 1.25, 'x'),
    most(`the same with ${SMALL_BATCH_EVENTS} events a batch`, inSmallBatches.lateBytes, 2_000, 'bytes an event'),
    most('size of views.db of the last replay', huge.sizeBytes, 185, 'bytes an event'),
    most('resident memory of the large replay', large!.rssMb, 450, 'MiB'),
    most('resident memory of the last replay', huge.rssMb, 550, 'MiB'),
    most('totals of an owner, CPU of the newest snapshot', reads.totalsUs, 8, 'us'),
    most('expired coins of an owner', reads.expiredUs, 100, 'us'),
    most('page of an owner', reads.pageUs, 120, 'us'),
  ];
}

function most(what: string, measured: number, most: number, unit: string): Promised {
  return { what, measured, most, unit };
}

function print(grown: readonly Grown[], reads: StoredReadsReport, lastEvents: number): void {
  const columns = [
    'events',
    'CPU us/event, writing thread',
    'written bytes/event, last fifth',
    'size/event',
    'RSS MiB',
  ];
  const rows = grown.map(({ events, cpuUs, lateBytes, sizeBytes, rssMb }) => [
    String(events),
    ...[cpuUs, lateBytes, sizeBytes, rssMb].map(rounded),
  ]);
  printTable(
    `Growth: holdfast with a decode worker; the last row with ${SMALL_BATCH_EVENTS} events a batch`,
    columns,
    rows,
  );
  const { owners, totalsUs, expiredUs, pageUs, historyUs, topMs } = reads;
  printTable(
    `Reads of the newest of the snapshots of ${lastEvents} events, ${owners} owners, CPU`,
    ['totals us', 'expired coins us', 'page us', '144 points us', 'all by amount ms'],
    [[totalsUs, expiredUs, pageUs, historyUs, topMs].map(rounded)],
  );
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

/** `kept`: where the views are left. */
function replayFromPipe(
  events: number,
  { kept, batchEvents }: { readonly kept: string | null; readonly batchEvents: number | null },
): Grown {
  console.error(`replay of ${events} events from a pipe: holdfast, decode worker`);
  const [feed, replay] = ['write-feed', 'replay-holdfast'].map((name) => join(import.meta.dirname, `${name}.ts`));
  const command = `"$0" "$1" "$2" | "$0" "$3" - worker "$4" ${batchEvents ?? ''}`;
  const args = ['-c', command, process.execPath, feed!, String(events), replay!, kept ?? ''];
  const output = execFileSync('sh', args, { encoding: 'utf8' });
  return grownOf(JSON.parse(output.trim().split('\n').at(-1)!) as ReplayReport);
}

function grownOf({ events, threadCpuMs, bytes, lateBytes, rssMb }: ReplayReport): Grown {
  return { events, cpuUs: (threadCpuMs * 1000) / events, lateBytes, sizeBytes: bytes / events, rssMb };
}
