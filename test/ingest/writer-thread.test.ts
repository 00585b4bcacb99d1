import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { IngestStatus } from '../../src/ingest/ingest-status.ts';
import { type Ingest, startIngest } from '../../src/ingest/writer-thread.ts';
import { Refusal } from '../../src/refusal.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import type { HistoryItem, HistoryUpdate } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { oracle } from '../support/ledger/oracle.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { openFiles } from '../support/program/open-files.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { differences } from '../support/views/compare-views.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

/** Each is worked out from the start of the ledger. */
const FORCED_MAX = 5;
const SOON_MS = 1_000;
const LATER_MS = 600_000;
const HOUR_MS = 3_600_000;
/** However long a test is kept waiting, what is ahead of our clock is ahead of this one. */
const hourAgo = (): number => (Date.now() - HOUR_MS) * 1000;

/** Starts ingest of files in its thread; `reached` waits for a phase, from the start on. */
async function ingest(
  dataDir: string,
  ...files: readonly string[]
): Promise<Ingest & { reached(phase: IngestStatus['phase']): Promise<IngestStatus> }> {
  makeDataDirectory(dataDir);
  const statuses: IngestStatus[] = [];
  let change = Promise.withResolvers<void>();
  const settings = {
    dataDir,
    files,
    sources: [],
    decodeWorkers: null,
    onBadUpdate: 'halt',
    snapshotPeriodUs: TEN_MINUTES_US,
    dso: null,
    migrationId: null,
    recordTimeAheadMaxUs: 0,
    recordTimeGapMaxUs: 400 * 86_400_000_000,
  } as const;
  const started = await startIngest(settings, (status) => {
    statuses.push(status);
    change.resolve();
    change = Promise.withResolvers();
  });
  return Object.assign(Object.create(started) as Ingest, {
    async reached(phase: IngestStatus['phase']) {
      for (;;) {
        const found = statuses.find((status) => status.phase === phase);
        if (found !== undefined) return found;
        await change.promise;
      }
    },
  });
}

function isUpdate(item: HistoryItem): item is HistoryUpdate {
  return item.kind === 'update';
}

/** A feed of which the last update is ahead of the clock for that long. */
function aheadFor(milliseconds: number): string[] {
  const [first = '', last = ''] = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : -a'), 'scan');
  const at = (line: string, ms: number): string =>
    line.replace(/"record_time":"[^"]*"/, `"record_time":"${new Date(ms).toISOString()}"`);
  return [at(first, Date.now() - 2 * HOUR_MS), at(last, Date.now() + milliseconds)];
}

describe('the thread that writes', () => {
  it('waits for the clock where an update is ahead of it, and continues by itself', async () => {
    using directory = temporaryDirectory();
    await using started = await ingest(directory.at('data'), directory.writeLines('feed.ndjson', aheadFor(SOON_MS)));
    expect(await started.reached('caught_up')).toMatchObject({
      halted: null,
      counts: { updates: 2 },
    });
  });

  it('waits for the clock also where it finds the directory halted so', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', aheadFor(SOON_MS));
    const { halted } = await replayInto(directory.at('data'), [feed], { now: hourAgo, recordTimeAheadMaxUs: 0 });
    expect(halted?.kind).toBe('ahead');
    await using started = await ingest(directory.at('data'), feed);
    expect(await started.reached('caught_up')).toMatchObject({
      halted: null,
      counts: { updates: 1 },
      deadLetters: { resolved: 1 },
    });
  });

  it('stops while it waits for the clock, and is halted so still', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', aheadFor(LATER_MS));
    const { halted } = await replayInto(directory.at('data'), [feed], { now: hourAgo, recordTimeAheadMaxUs: 0 });
    const started = await ingest(directory.at('data'), feed);
    expect((await started.reached('waiting_for_clock')).halted?.id).toBe(halted?.id);
    await started[Symbol.asyncDispose]();
    expect(started.status.phase).toBe('stopped');
  });

  it('seals between batches on request while it reads, and changes no other snapshot', async () => {
    using directory = temporaryDirectory();
    const items = [...randomLedger(oddLedger(77, { synchronizers: 1, updates: 240 }))].filter(isUpdate);
    const lines = linesOf(items, 'scan');
    const files = Array.from({ length: 8 }, (_, i) => {
      return directory.writeLines(`part-${i}.ndjson`, lines.slice(i * 36, (i + 1) * 36));
    });
    await using started = await ingest(directory.at('data'), ...files);
    const times = new Set<number>();
    do {
      const forced = await started.force({ maySeal: true });
      if (forced.kind === 'snapshot') times.add(forced.recordTime);
    } while (times.size < FORCED_MAX && started.status.phase !== 'caught_up');
    await started.reached('caught_up');
    expect(started.status.counts.updates).toBe(items.length);
    const { snapshots, ...expected } = oracle(items, { periodMicros: TEN_MINUTES_US });
    const between = [...times].filter((time) => snapshots.every(({ recordTime }) => recordTime !== time));
    const forced = between.map((time) => {
      const applied = items.slice(0, items.findIndex(({ recordTime }) => recordTime === time) + 1);
      return oracle(applied, { periodMicros: TEN_MINUTES_US }).forced!;
    });
    expect(forced.length).toBeGreaterThan(0);
    const all = [...snapshots, ...forced].sort((a, b) => a.recordTime - b.recordTime);
    expect(differences(directory.at('data'), { ...expected, snapshots: all }).slice(0, 10)).toEqual([]);
  });
});

describe('the thread that writes, once it has failed', () => {
  it('says why, and does not answer requests as if it could still write', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger('00:01 : +a alice 10'), 'scan'));
    await using started = await ingest(directory.at('data'), feed, directory.path);
    const failure = await started.ended.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Refusal);
    expect(failure).toMatchObject({ name: 'Refusal', message: expect.stringContaining(directory.path) });
    await expect(started.force({ maySeal: true })).rejects.toThrow('not open');
  });
});

describe('a named pipe', () => {
  it('is closed once, whatever its number refers to when the thread that read it ends', async () => {
    using directory = temporaryDirectory();
    const path = directory.namedPipe('pipe');
    await using service = await ingest(directory.at('views'), path);
    while (!openFiles('self').has(path)) await sleep(5);
    const number = openFiles('self').get(path)!;
    const taken = [];
    // Every smaller number is taken, so that the next one to be free is that of the pipe.
    do taken.push(openSync('/dev/null', 'r'));
    while (taken.at(-1)! < number);
    const writer = openSync(path, 'w');
    writeSync(writer, `${[...linesOf(randomLedger(oddLedger(31, { updates: 50 })), 'scan')].join('\n')}\n`);
    closeSync(writer);
    while (taken.at(-1) !== number) {
      closeSync(taken.pop()!);
      taken.push(openSync('/dev/null', 'r'));
    }
    await service.reached('caught_up');
    await service[Symbol.asyncDispose]();
    for (const fd of taken) expect(fstatSync(fd).isCharacterDevice()).toBe(true);
    for (const fd of taken) closeSync(fd);
  });
});
