import { expect, it } from 'vitest';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileChunks } from '../support/views/file-chunks.ts';
import { type Cuts, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

/** A dozen of these fill a dictionary of 8 MiB. */
const NAME_CHARS = 700_000;
const FILLERS = 27;

/**
 * An update delivered again, which changes nothing: but it now creates a coin whose template has a long name of its own, and
 * that name goes into the dictionary.
 */
function filler(delivered: string, number: number): string {
  const create = {
    event_type: 'created_event',
    event_id: 'again:0',
    contract_id: '00a9a1',
    template_id: `${'f'.repeat(NAME_CHARS)}${number}:Splice.Amulet:Amulet`,
    package_name: 'splice-amulet',
    create_arguments: {
      dso: 'DSO::1220',
      owner: `filler-${number}::1220`,
      amount: { initialAmount: '1.0', createdAt: { number: '1' }, ratePerRound: { rate: '0.1' } },
    },
    created_at: '2025-02-14T15:00:00Z',
    signatories: ['DSO::1220', `filler-${number}::1220`],
    observers: [],
  };
  const again = { root_event_ids: ['again:0'], events_by_id: { 'again:0': create } };
  return JSON.stringify({ ...(JSON.parse(delivered) as object), ...again });
}

/** How many dictionaries the chunks of a file have, one after the other. */
async function dictionariesOf(path: string): Promise<number> {
  const lists = new Set<readonly string[]>();
  for await (const { names } of fileChunks(path)) lists.add(names);
  return lists.size;
}

it('dictionaries that fill up again and again change no row', async () => {
  using directory = temporaryDirectory();
  const lines = linesOf(randomLedger(oddLedger(9_001, { updates: 300, migrations: 2 })), 'scan');
  const first = lines.findIndex((line) => line.includes('"events_by_id"') && !line.includes('"0001-01-01T'));
  const every = Math.floor((lines.length - first) / FILLERS);
  const filled = lines.flatMap((line, i) =>
    i > first && (i - first) % every === 0 ? [line, filler(lines[first]!, i)] : [line],
  );
  const [usual, full] = [directory.writeLines('usual.ndjson', lines), directory.writeLines('full.ndjson', filled)];
  expect(await dictionariesOf(usual)).toBe(1);
  expect(await dictionariesOf(full)).toBeGreaterThan(2);
  await replayInto(directory.at('usual'), [usual]);
  const expected = dumpViews(directory.at('usual'));
  expect(expected.spent!.length).toBeGreaterThan(20);
  const cuts: Cuts[] = [{ decodeWorkers: null }, { batchEventsMax: 7 }, { chunkBytes: 10_000, batchEventsMax: 50 }];
  for (const cut of cuts) {
    const data = directory.at(JSON.stringify(cut).replaceAll(/\W+/g, '-'));
    const { halted, counts } = await replayInto(data, [full], cut);
    expect(halted).toBeNull();
    expect(counts.redelivered).toBeGreaterThanOrEqual(FILLERS);
    expect(dumpViews(data)).toEqual(expected);
  }
});
