import { describe, expect, it } from 'vitest';
import { expectSound } from '../support/ledger/fault-feed.ts';
import { type HistoryItem, importsOfOne } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Cuts, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpRows, dumpViews, epochFacts } from '../support/views/views-dump.ts';

const LEDGERS = soakCount(3);
/** Those of a participant have tokens. */
const FORMATS = ['scan', 'ledger-api', 'participant'] as const;
const seeds = Array.from({ length: LEDGERS }, (_, seed) => seed);

interface Ledger {
  readonly items: readonly HistoryItem[];
  readonly lines: readonly string[];
  /** The newest, which alone has repairs: what is written in the Ledger API's form is of it. */
  readonly migrationId: number;
}

function ledgerOf(seed: number): Ledger {
  const format = FORMATS[seed % 3]!;
  const migrations = format === 'scan' ? 2 : 1;
  const imports = { carriedOver: migrations === 1 ? 40 : 0, importCreatesMax: 5 };
  const shares = { repair: 0.15, token: format === 'participant' ? 0.5 : 0 };
  const changes = { updates: 200, migrations, synchronizers: 2 + (seed % 3), ...imports, shares };
  const items = [...randomLedger(oddLedger(seed + 1_000, changes))];
  const migrationId = Math.max(...items.map((item) => item.migrationId));
  return { items, lines: linesOf(items, format), migrationId };
}

type Dump = ReturnType<typeof dumpViews>;

/** Files, each a list of lines, and how they are read. */
type Feed = Cuts & { readonly files: readonly (readonly string[])[] };

/** The tables after a replay of these files into a new directory. */
async function replayedTables(directory: TemporaryDirectory, name: string, { files, ...cuts }: Feed): Promise<Dump> {
  const paths = files.map((lines, i) => directory.writeLines(`${name}-${i}.ndjson`, lines));
  const { halted } = await replayInto(directory.at(name), paths, cuts);
  expect(halted).toBeNull();
  return dumpViews(directory.at(name));
}

describe.each(seeds)('the tables of random ledger %i are the same', (seed) => {
  const { items, lines, migrationId } = ledgerOf(seed);
  const tablesAfter = (directory: TemporaryDirectory, name: string, feed: Feed): Promise<Dump> =>
    replayedTables(directory, name, { ...feed, migrationId });
  const random = createRandom(seed + 77);

  it('in batches and chunks of any size, and decoded in a thread of their own', async () => {
    using directory = temporaryDirectory();
    const whole = await tablesAfter(directory, 'whole', { files: [lines], chunkBytes: 2 ** 20 });
    expect(whole.snapshot!.length).toBeGreaterThan(20);
    expect(whole.spent!.length).toBeGreaterThan(20);
    const cuts: Cuts[] = [
      { decodeWorkers: null, batchEventsMax: 100 },
      { chunkBytes: 700, batchEventsMax: 1 },
      { chunkBytes: 700, batchEventsMax: 50_000 },
      { chunkBytes: 20_000, batchEventsMax: 7 },
    ];
    for (const cut of cuts) {
      const name = JSON.stringify(cut).replaceAll(/\W+/g, '-');
      expect(await tablesAfter(directory, name, { files: [lines], ...cut }), name).toEqual(whole);
    }
    // Which epoch a row is in depends on where batches end; nothing else does.
    const rows = dumpRows(directory.at('whole'));
    for (const epochEvents of [7, 50, 300]) {
      const name = `epochs of ${epochEvents}`;
      await tablesAfter(directory, name, {
        files: [lines],
        chunkBytes: 20_000,
        batchEventsMax: 7,
        epochEvents,
        ownersMax: 10,
      });
      expect(dumpRows(directory.at(name)), name).toEqual(rows);
      const { closed, gone, cleared } = epochFacts(directory.at(name));
      expect(Math.min(closed, gone, cleared), name).toBeGreaterThan(0);
    }
  });

  it('interrupted between batches again and again, and resumed, in small epochs', async () => {
    using directory = temporaryDirectory();
    await tablesAfter(directory, 'once', { files: [lines] });
    const feed = directory.at('once-0.ndjson');
    let stops = 0;
    for (let going = true; going; ) {
      const stop = new AbortController();
      // Every start reads the file from its beginning, so each is given more commits than the one before.
      let left = 1 + stops * 6 + random.below(2);
      await replayInto(directory.at('resumed'), [feed], {
        chunkBytes: 1_000 + random.below(10_000),
        batchEventsMax: 1 + random.below(20),
        epochEvents: 5 + random.below(40),
        migrationId,
        signal: stop.signal,
        onProgress: () => {
          left -= 1;
          if (left === 0) stop.abort();
        },
      });
      going = stop.signal.aborted;
      if (going) stops += 1;
    }
    expect(stops).toBeGreaterThan(3);
    const [resumed, once] = ['resumed', 'once'].map((name) => dumpRows(directory.at(name)));
    expect(resumed).toEqual(once);
    await expectSound(directory.at('resumed'));
  });

  it('among thousands of lines that are ignored', async () => {
    using directory = temporaryDirectory();
    const once = await tablesAfter(directory, 'once', { files: [lines] });
    // More messages, and more bytes, than one chunk may have.
    const null9 = Array<string>(9).fill('null');
    const long = JSON.stringify({ update: { TopologyTransaction: { value: { padding: 'x'.repeat(20_000) } } } });
    const among = lines.flatMap((line, i) => (i % 4 === 0 ? [line, long, ...null9] : [line, ...null9]));
    expect(among.length).toBeGreaterThan(2_000);
    expect(await tablesAfter(directory, 'among', { files: [among], decodeWorkers: null })).toEqual(once);
  });

  if (seed % 3 === 1)
    it('written in either format and either shape of the second, where all have words for it', async () => {
      using directory = temporaryDirectory();
      const all = items.filter((item) => item.kind === 'update' && item.migrationId === migrationId);
      expect(all.filter((item) => importsOfOne(item).length > 1).length).toBeGreaterThan(3);
      expect(all.filter((item) => 'sharesTime' in item).length).toBeGreaterThan(5);
      const cut = { chunkBytes: 10_000 };
      const scan = await tablesAfter(directory, 'scan', { files: [linesOf(all, 'scan')], ...cut });
      for (const other of ['ledger-api', 'acs-delta'] as const) {
        const written = linesOf(all, other);
        expect(written.length).toBe(all.length);
        expect(await tablesAfter(directory, other, { files: [written], ...cut }), other).toEqual(scan);
        const half = Math.floor(all.length / 2);
        const changing = [linesOf(all.slice(0, half), 'scan'), linesOf(all.slice(half), other)];
        expect(await tablesAfter(directory, `scan, then ${other}`, { files: changing, ...cut })).toEqual(scan);
      }
    });
});
