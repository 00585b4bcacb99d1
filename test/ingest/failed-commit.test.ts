import { describe, expect, it } from 'vitest';
import { FILE_KIND, openFileSource } from '../../src/feed/file/file-source.ts';
import type { Feed } from '../../src/ingest/feed-thread.ts';
import { runLoop } from '../../src/ingest/loop.ts';
import { mayPass } from '../../src/machine-errors.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { startFileThread } from '../support/views/file-thread.ts';
import { openInlineFeed } from '../support/views/inline-feed.ts';
import { CLOCK_US, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

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
  using writer = new ViewsWriter(dataDir, { ...OPTIONS, onBadUpdate: 'quarantine' });
  let failures = 0;
  const halted = await runLoop(writer, feed, {
    source: { name, kind: FILE_KIND },
    signal: new AbortController().signal,
    onAhead: 'stop',
    batchEventsMax: 10 + random.below(200),
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
    const wanted = dumpViews(directory.at('undisturbed'));
    const inline = openInlineFeed(openFileSource(feed, { chunkBytes: 5_000 }), { migrationId: 0 });
    await using thread = startFileThread(feed);
    for (const [name, source] of Object.entries({ inline, thread })) {
      const dataDir = directory.at(name);
      expect(await replayOnFullDisk(source, { dataDir, name, random })).toBeGreaterThan(0);
      expect(dumpViews(dataDir)).toEqual(wanted);
      const { quarantined, counts } = await replayInto(dataDir, [feed], { onBadUpdate: 'quarantine' });
      expect({ quarantined, decided: counts.decided }).toEqual({
        quarantined: 0,
        decided: undisturbed.quarantined + undisturbed.counts.decided,
      });
    }
  });
});
