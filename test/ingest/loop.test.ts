import { describe, expect, it } from 'vitest';
import { FILE_KIND, openFileSource } from '../../src/feed/file/file-source.ts';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import type { Source, SourceStart } from '../../src/feed/source.ts';
import type { Feed } from '../../src/ingest/feed-thread.ts';
import { runLoop } from '../../src/ingest/loop.ts';
import { mayPass } from '../../src/machine-errors.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { startFileThread } from '../support/views/file-thread.ts';
import { openInlineFeed } from '../support/views/inline-feed.ts';
import { CLOCK_US, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpRows, epochFacts } from '../support/views/views-dump.ts';

const WRITER = {
  onBadUpdate: 'halt',
  snapshotPeriodUs: null,
  dso: null,
  migrationId: null,
  recordTimeAheadMaxUs: 0,
  recordTimeGapMaxUs: 400 * 86_400_000_000,
  now: () => Date.now() * 1000,
} as const;

const LOOP = {
  signal: new AbortController().signal,
  onAhead: 'stop',
  persist: async <T>(step: () => T) => step(),
  onCommit: () => {},
  onHalt: () => {},
} as const;

it('handles other events, however fast chunks come', async () => {
  using directory = temporaryDirectory();
  const lines = Array.from({ length: 12_000 }, (_, at) => emptyUpdate('s', at));
  await using file = openInlineFeed(openFileSource(directory.writeLines('feed.ndjson', lines)), { migrationId: 0 });
  const chunks: Awaited<ReturnType<Feed['next']>>[] = [];
  for (let next = await file.next(10_000); next !== 'end'; next = await file.next(10_000)) {
    if (next !== 'idle') chunks.push(next);
  }
  const all = chunks.length;
  expect(all).toBeGreaterThan(2);
  const feed: Feed = Object.create(file, {
    ready: { get: () => chunks.length > 0 },
    next: { value: async () => chunks.shift() ?? 'end' },
  });
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  using writer = new ViewsWriter(directory.path, WRITER);
  const options = { ...LOOP, source: { name: 'feed', kind: FILE_KIND }, signal: stop.signal };
  expect(await runLoop(writer, feed, options)).toBeNull();
  expect(chunks.length).toBeGreaterThan(0);
  expect(writer.counts.updates).toBeGreaterThan(0);
});

it('says what is stored, also where a new partition of the topic is what stores it', async () => {
  using directory = temporaryDirectory();
  const [applied, stop] = [Promise.withResolvers<void>(), new AbortController()];
  const startOf = (partitions: number): SourceStart => {
    return { identity: 'any', resumeTokens: new Map(Array.from({ length: partitions }, (_, at) => [String(at), '0'])) };
  };
  let partitions = 1;
  const stored: [string, string][][] = [];
  const source: Source = {
    async *batches(signal) {
      yield startOf(1);
      yield [{ lane: '0', offset: 0, bytes: Buffer.from(emptyUpdate('s', 1)) }];
      // Asked for more, the message is with the writer, which has not committed it yet.
      await applied.promise;
      partitions = 2;
      yield startOf(2);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    progress: () => ({ read: 0, total: null }),
    stored(resumeTokens) {
      stored.push([...resumeTokens]);
      if (resumeTokens.size === 2) stop.abort('stored');
    },
  };
  await using feed = openInlineFeed(source, { migrationId: 0 });
  using writer = new ViewsWriter(directory.path, WRITER);
  const beside: Feed = Object.create(feed, {
    applied: { value: () => applied.resolve() },
    // As of a feed that has more, which keeps what was applied from being committed.
    ready: { get: () => partitions === 1 },
  });
  const late = setTimeout(() => stop.abort('late'), 60_000);
  await runLoop(writer, beside, {
    ...LOOP,
    source: { name: 'topic t', kind: TOPIC_KIND },
    signal: stop.signal,
  });
  clearTimeout(late);
  expect(stop.signal.reason).toBe('stored');
  expect(stored.find((offsets) => offsets.length === 2)).toEqual([
    ['0', '1'],
    ['1', '0'],
  ]);
});

it('keeps what it applied before a source is refused', async () => {
  using directory = temporaryDirectory();
  const file = directory.writeLines('files.ndjson', [emptyUpdate('s', 1), emptyUpdate('z', 2)]);
  await replayInto(directory.path, [file]);
  using writer = new ViewsWriter(directory.path, WRITER);
  const source: Source = {
    async *batches() {
      yield { identity: 'any', resumeTokens: new Map([['0', '0']]) };
      const lines = [emptyUpdate('s', 1), emptyUpdate('s', 3), emptyUpdate('z', 4)];
      yield lines.map((line, offset) => ({ lane: '0', offset, bytes: Buffer.from(line) }));
    },
    progress: () => ({ read: 0, total: null }),
  };
  await using feed = openInlineFeed(source, { migrationId: 0 });
  const reading = runLoop(writer, feed, { ...LOOP, source: { name: 'topic t', kind: TOPIC_KIND } });
  await expect(reading).rejects.toThrow(/^possible gap: the files end at .* for synchronizer z, and topic t starts at/);
  expect(writer.counts).toMatchObject({ updates: 1, redelivered: 1 });
  expect(writer.storedSource.lanes.get('0')!.resumeToken).toBe('2');
});

const LEDGERS = soakCount(2);
const ROOM_FOR_ALL = 1_000_000;

const OPTIONS = {
  snapshotPeriodUs: TEN_MINUTES_US,
  dso: null,
  migrationId: null,
  recordTimeGapMaxUs: Infinity,
  recordTimeAheadMaxUs: Infinity,
  now: () => CLOCK_US,
};

/** Replays a feed into views whose disk is full every other time, at whatever statement needs the next page. */
async function replayOnFullDisk(
  feed: Feed,
  { dataDir, name, random }: { dataDir: string; name: string; random: Random },
): Promise<number> {
  makeDataDirectory(dataDir);
  using writer = new ViewsWriter(dataDir, { ...OPTIONS, onBadUpdate: 'quarantine', epochEvents: 30 });
  let failures = 0;
  const halted = await runLoop(writer, feed, {
    source: { name, kind: FILE_KIND },
    signal: new AbortController().signal,
    onAhead: 'stop',
    batchEventsMax: 10 + random.below(50),
    async persist(step) {
      const pages = writer.db.pragma('page_count', { simple: true }) as number;
      if (failures === 0) writer.db.pragma(`max_page_count = ${pages}`);
      else if (random.chance(0.5)) writer.db.pragma(`max_page_count = ${pages + random.below(3)}`);
      for (;;) {
        try {
          return step();
        } catch (error) {
          if (!mayPass(error, 'running')) throw error;
          failures += 1;
          writer.db.pragma(`max_page_count = ${random.chance(0.3) ? pages + random.below(3) : ROOM_FOR_ALL}`);
        }
      }
    },
    onCommit: () => {},
    onHalt: () => {},
  });
  expect(halted).toBeNull();
  return failures;
}

describe.each(Array.from({ length: LEDGERS }, (_, seed) => seed))('a full disk, tried again (seed %i)', (seed) => {
  it('changes nothing in the views, whatever statement it hits', async () => {
    using directory = temporaryDirectory();
    const random = createRandom(seed);
    const lines = linesOf(randomLedger(oddLedger(seed + 3_000, { migrations: 2, updates: 200 })), 'scan');
    const badOf = (line: string): string => `${line.slice(0, -1)},"migration_id":"bad"}`;
    // The second time the bad one is known, and left out by what was decided.
    const bad = lines.flatMap((line) => (random.chance(0.02) ? [badOf(line), badOf(line)] : [line]));
    const feed = directory.writeLines('feed.ndjson', bad);
    const undisturbed = await replayInto(directory.at('undisturbed'), [feed], { onBadUpdate: 'quarantine' });
    const wanted = dumpRows(directory.at('undisturbed'));
    const inline = openInlineFeed(openFileSource(feed, { chunkBytes: 5_000 }), { migrationId: 0 });
    await using thread = startFileThread(feed);
    for (const [name, source] of Object.entries({ inline, thread })) {
      const dataDir = directory.at(name);
      expect(await replayOnFullDisk(source, { dataDir, name, random })).toBeGreaterThan(0);
      expect(dumpRows(dataDir)).toEqual(wanted);
      expect(epochFacts(dataDir).cleared).toBeGreaterThan(0);
      const { quarantined, counts } = await replayInto(dataDir, [feed], { onBadUpdate: 'quarantine' });
      expect({ quarantined, decided: counts.decided }).toEqual({
        quarantined: 0,
        decided: undisturbed.quarantined + undisturbed.counts.decided,
      });
    }
  });
});
