import { describe, expect, it } from 'vitest';
import type { IngestStatus } from '../../src/ingest/status.ts';
import { type Ingest, startIngest } from '../../src/ingest/writer-thread.ts';
import { makeDataDirectory } from '../../src/views/database.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/replayed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { told } from '../support/told-ledger.ts';

const CLOSE_MS = 2_000;
const clock = (): number => Date.now() * 1000;

/** Starts ingest of one file in its thread; `reached` waits for a phase, from the start on. */
async function ingest(
  dataDir: string,
  file: string,
): Promise<Ingest & { reached(phase: IngestStatus['phase']): Promise<IngestStatus> }> {
  makeDataDirectory(dataDir);
  const statuses: IngestStatus[] = [];
  let change = Promise.withResolvers<void>();
  const settings = {
    dataDir,
    files: [file],
    kafka: null,
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

/** A feed of which the last update is ahead of the clock for a moment. */
function soon(): string[] {
  const [first = '', last = ''] = linesOf(told('00:01 : +a alice 10\n00:11 : -a'), 'scan');
  const at = (line: string, ms: number): string =>
    line.replace(/"record_time":"[^"]*"/, `"record_time":"${new Date(ms).toISOString()}"`);
  return [at(first, Date.now() - 60_000), at(last, Date.now() + CLOSE_MS)];
}

describe('the thread that writes', () => {
  it('waits for the clock where an update is ahead of it, and goes on by itself', async () => {
    using directory = temporaryDirectory();
    await using started = await ingest(directory.at('data'), directory.writeLines('feed.ndjson', soon()));
    expect(await started.reached('caught_up')).toMatchObject({
      halted: null,
      counts: { updates: 2 },
      deadLetters: { resolved: 1 },
    });
  });

  it('waits for the clock also where it finds the directory halted so', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', soon());
    const { halted } = await replayInto(directory.at('data'), [feed], { now: clock, recordTimeAheadMaxUs: 0 });
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
    const feed = directory.writeLines('feed.ndjson', soon());
    const { halted } = await replayInto(directory.at('data'), [feed], { now: clock, recordTimeAheadMaxUs: 0 });
    const started = await ingest(directory.at('data'), feed);
    expect((await started.reached('waiting_for_clock')).halted?.deadLetter).toBe(halted?.id);
    await started[Symbol.asyncDispose]();
    expect(started.status.phase).toBe('stopped');
  });
});
