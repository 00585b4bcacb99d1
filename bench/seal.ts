import { closeSync, fsyncSync, mkdirSync, mkdtempDisposableSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_KIND } from '../src/feed/file/file-source.ts';
import { ViewsWriter } from '../src/views/write/writer.ts';
import { fileBatches } from '../test/support/views/inline-feed.ts';
import { median } from './median.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';

/** What sealing costs, on its own and as a part of a replay. */
export interface SealReport {
  readonly forced: number;
  readonly longestMs: number;
  readonly earlyMs: number;
  readonly lateMs: number;
  /** Snapshots of the feed's own grid, events in each, and what each of them added to the work of the writing thread. */
  readonly sealed: number;
  readonly eventsEach: number;
  readonly addedMs: number;
}

const EVENTS_EACH = 7_000;
const EVENTS_OF_A_BATCH = 50_000;
const DAY_US = 86_400_000_000;

/** Applies a feed, with `onChunk` after each chunk; returns how many snapshots there are in the end. */
async function replay(
  path: string,
  { dataDir, periodUs }: { dataDir: string; periodUs: number | null },
  onChunk: (writer: ViewsWriter) => void,
): Promise<number> {
  mkdirSync(dataDir);
  using writer = new ViewsWriter(dataDir, { ...REPLAY_OPTIONS, snapshotPeriodUs: periodUs });
  writer.beginSource({ name: path, kind: FILE_KIND });
  for await (const chunk of fileBatches(path)) {
    if (!writer.apply(chunk).done) throw new Error('the replay halted');
    onChunk(writer);
  }
  writer.commit();
  return writer.db.prepare<[], number>('SELECT count(*) FROM snapshot').pluck().get()!;
}

/** Seals a snapshot by force after every 7,000 events, with everything before it on disk already: the times, milliseconds. */
async function sealAgainAndAgain(path: string, dataDir: string): Promise<number[]> {
  const times: number[] = [];
  let sealedAt = 0;
  await replay(path, { dataDir, periodUs: null }, (writer) => {
    if (sealedAt + EVENTS_EACH > writer.counts.events + writer.pendingEvents) return;
    writer.commit();
    syncLog(dataDir);
    sealedAt = writer.counts.events;
    const started = performance.now();
    writer.force({ maySeal: true });
    times.push(performance.now() - started);
  });
  return times;
}

/** A commit of the views leaves it to the system when they reach the disk. */
function syncLog(dataDir: string): void {
  const log = openSync(join(dataDir, 'views.db-wal'), 'r+');
  fsyncSync(log);
  closeSync(log);
}

/** A replay as it is, with a snapshot every so often. */
async function replayOnce(
  path: string,
  dataDir: string,
  periodUs: number | null,
): Promise<{ sealed: number; cpuMs: number; events: number }> {
  const before = process.threadCpuUsage();
  let events = 0;
  const sealed = await replay(path, { dataDir, periodUs }, (writer) => {
    if (writer.pendingEvents >= EVENTS_OF_A_BATCH) writer.commit();
    events = writer.counts.events + writer.pendingEvents;
  });
  const { user, system } = process.threadCpuUsage(before);
  return { sealed, cpuMs: (user + system) / 1000, events };
}

using folder = mkdtempDisposableSync(join(tmpdir(), 'holdfast-seal-'));
const path = process.argv[2]!;
const times = await sealAgainAndAgain(path, join(folder.path, 'forced'));
const rare = await replayOnce(path, join(folder.path, 'rare'), DAY_US);
const often = await replayOnce(path, join(folder.path, 'often'), null);
const tenth = Math.ceil(times.length / 10);
const sealed = often.sealed - rare.sealed;
const report: SealReport = {
  forced: times.length,
  longestMs: Math.max(...times),
  earlyMs: median(times.slice(0, tenth)),
  lateMs: median(times.slice(-tenth)),
  sealed,
  eventsEach: often.events / sealed,
  addedMs: (often.cpuMs - rare.cpuMs) / sealed,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
