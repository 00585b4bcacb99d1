import { join } from 'node:path';
import { realLedger } from '../test/support/ledger/options.ts';
import { builtReplayMb } from './built-replay.ts';
import type { DigestReport } from './digest.ts';
import { makeFeed } from './make-feed.ts';
import { alternate, measure } from './measure.ts';
import { median } from './median.ts';
import type { RunReport } from './run-report.ts';
import type { SealReport } from './seal.ts';
import { type Promised, printTable, rounded } from './table.ts';

type Run = 'decode floor: utf8 + JSON.parse' | 'plain store' | 'holdfast, one thread' | 'holdfast, decode worker';

/** Replays one feed with everything in turn. */
export function benchReplay(feed: string, { events, rounds }: { events: number; rounds: number }): Promised[] {
  const runs: Record<Run, () => RunReport> = {
    'decode floor: utf8 + JSON.parse': () => measure('decode-floor', feed),
    'plain store': () => measure('plain-store', feed),
    'holdfast, one thread': () => measure('replay-holdfast', feed, 'inline'),
    'holdfast, decode worker': () => measure('replay-holdfast', feed, 'worker'),
  };
  const medians = alternate('replay', runs, rounds);
  printReplay(medians, events, rounds);
  const digests = median(Array.from({ length: rounds }, () => measure<DigestReport>('digest', feed).cpuMs));
  console.error('replay: memory of the installed program');
  return [
    ...replayPromises(medians, events),
    {
      what: 'digests, of the CPU of a coin-dense replay with a decode worker',
      measured: (100 * digests) / medians['holdfast, decode worker'].cpuMs,
      most: 10,
      unit: '%',
    },
    { what: 'resident memory of holdfast replay', measured: builtReplayMb(feed), most: 450, unit: 'MiB' },
  ];
}

/** What sealing takes on its own, and what it adds to a replay. */
export function benchSealing(feed: string): Promised[] {
  console.error('sealing a snapshot after every 7,000 events');
  const report = measure<SealReport>('seal', feed);
  const { longestMs, addedMs, eventsEach } = report;
  const forced = [report.forced, longestMs, report.earlyMs, report.lateMs].map(rounded);
  const columns = ['snapshots', 'longest ms', 'first tenth, median ms', 'last tenth, median ms'];
  printTable('Sealing by force after every 7,000 events, what came before it on disk', columns, [forced]);
  const grid = [report.sealed, eventsEach, addedMs].map(rounded);
  printTable(
    'A replay that seals, next to one that does not',
    ['snapshots', 'events each', 'CPU ms of each, writing thread'],
    [grid],
  );
  return [
    { what: 'sealing a snapshot of 7,000 events, longest', measured: longestMs, most: 20, unit: 'ms' },
    { what: 'what a snapshot adds to a replay', measured: addedMs, most: 20, unit: 'ms' },
  ];
}

/** Writes a feed of so many events and returns its path. */
export function makeBenchFeed(folder: string, events: number): string {
  const path = join(folder, `${events}.ndjson`);
  console.error(`making a feed of ${events} events`);
  const { bytes, updates } = makeFeed(path, realLedger({ seed: 1, events }), events);
  console.error(`${updates} updates, ${rounded(bytes / 1e6)} MB, ${rounded(bytes / events)} bytes an event`);
  return path;
}

function printReplay(medians: Record<Run, RunReport>, events: number, rounds: number): void {
  const floor = medians['decode floor: utf8 + JSON.parse'].wallMs;
  const plain = medians['plain store'].wallMs;
  const rows = Object.entries(medians).map(([run, report]) => [
    run,
    rounded(events / report.wallMs),
    rounded(floor / report.wallMs),
    rounded(plain / report.wallMs),
    rounded((report.cpuMs * 1000) / events),
    rounded((report.threadCpuMs * 1000) / events),
    rounded(report.rssMb),
    rounded(report.bytes / events),
  ]);
  const columns = [
    '',
    'k events/s',
    'of the floor',
    'x plain store',
    'CPU us/event',
    'main thread',
    'RSS MB',
    'bytes/event',
  ];
  printTable(`Replay of ${events} events from a file (medians of ${rounds} alternating runs)`, columns, rows);
}

function replayPromises(medians: Record<Run, RunReport>, events: number): Promised[] {
  const wall = (run: Run): number => medians[run].wallMs;
  const worker = wall('holdfast, decode worker');
  const [floor, plain] = [wall('decode floor: utf8 + JSON.parse'), wall('plain store')];
  const { bytes } = medians['holdfast, decode worker'];
  return [
    { what: 'replay with a decode worker, of the decode floor', measured: floor / worker, least: 0.27, unit: 'x' },
    { what: 'replay with a decode worker, to the plain store', measured: plain / worker, least: 1.4, unit: 'x' },
    { what: 'size of views.db', measured: bytes / events, most: 185, unit: 'bytes an event' },
  ];
}
