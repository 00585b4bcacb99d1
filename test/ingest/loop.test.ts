import { expect, it } from 'vitest';
import type { Chunk } from '../../src/chunk/chunk.ts';
import { openFileSource } from '../../src/feed/file/source.ts';
import type { Feed } from '../../src/ingest/feed-thread.ts';
import { openInlineFeed } from '../../src/ingest/inline-feed.ts';
import { runLoop } from '../../src/ingest/loop.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const WRITER = {
  onBadUpdate: 'halt',
  snapshotPeriodUs: null,
  dso: null,
  migrationId: null,
  recordTimeAheadMaxUs: 0,
  recordTimeGapMaxUs: 400 * 86_400_000_000,
  now: () => Date.now() * 1000,
} as const;

it('hears what happens beside it, however fast chunks come', async () => {
  using directory = temporaryDirectory();
  const lines = Array.from({ length: 12_000 }, (_, at) => emptyUpdate('s', at));
  await using file = openInlineFeed(openFileSource(directory.writeLines('feed.ndjson', lines)), { migrationId: 0 });
  const chunks: Chunk[] = [];
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
  const options = {
    ...WRITER,
    source: { name: 'feed', topic: false },
    signal: stop.signal,
    onAhead: 'stop',
    persist: async <T>(step: () => T) => step(),
    onCommit: () => {},
    onHalt: () => {},
  } as const;
  expect(await runLoop(writer, feed, options)).toBeNull();
  expect(chunks.length).toBeGreaterThan(0);
  expect(writer.counts.updates).toBeGreaterThan(0);
});
