import { describe, expect, it } from 'vitest';
import { activeContracts, importMarker, seedImports, seedOf } from '../../demo/active-contracts.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { openForReading } from '../../src/views/store/database.ts';
import { reachedOf } from '../../src/views/write/source-start.ts';
import { loadState } from '../../src/views/write/state.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const directory = freshDirectory();

const LEDGER = linesOf(
  parseLedger(`
    00:01 : +a alice 10 ; +b bob 5
    00:04 : +c carol 7 locked ; -b
    00:10 : +d dave 3
    00:12 : -a ; +e erin 2
    00:21 : +f fred 1
    00:31 :`),
  'scan',
);
const DAY = '2025-03-01T';
const timeOf = (line: string): string => (JSON.parse(line) as { record_time: string }).record_time;

/** What a seed at a time consists of: the imports, and all of the ledger's lines after it. */
function seedAt(clock: string): { imports: string[]; mark: string; behind: string[]; before: string[] } {
  const recordTime = `${timeOf(LEDGER[0]!).slice(0, DAY.length)}${clock}:00.000000Z`;
  const contracts = activeContracts(LEDGER, { migrationId: 0, recordTime });
  return {
    imports: seedImports(contracts, 0),
    mark: importMarker(0, recordTime),
    behind: LEDGER.filter((line) => timeOf(line) > recordTime),
    before: LEDGER.filter((line) => timeOf(line) <= recordTime),
  };
}

/** Replays lines into a directory; its snapshots as times and supplies, and what is said of the replay. */
async function replayed(name: string, lines: readonly string[]): Promise<Replayed> {
  const { counts, halted } = await replayInto(directory.at(name), [directory.writeLines(`${name}.ndjson`, [...lines])]);
  using store = openViewsStore(directory.at(name));
  const found = await store.facts({ kind: 'snapshots' });
  return {
    halted: halted === null ? null : `${halted.code} ${halted.field}`,
    snapshots: found.map(({ recordTime, contracts, unlocked, locked }) =>
      [new Date(recordTime / 1000).toISOString().slice(11, 16), contracts, unlocked, locked].join(' '),
    ),
    counts: { updates: counts.updates, redelivered: counts.redelivered, importsLate: counts.importsLate },
  };
}

interface Replayed {
  readonly halted: string | null;
  readonly snapshots: readonly string[];
  readonly counts: { readonly updates: number; readonly redelivered: number; readonly importsLate: number };
}

const verified = (name: string): ReturnType<typeof holdfast> => holdfast('verify', '--data', directory.at(name));

describe('a seed', () => {
  it('on the grid is the first snapshot, and those after it are the snapshots of the whole feed', async () => {
    const whole = await replayed('whole', LEDGER);
    const { imports, mark, behind } = seedAt('00:10');
    const seeded = await replayed('seeded', [...imports, mark, ...behind]);
    expect(whole.snapshots).toHaveLength(3);
    expect(seeded).toMatchObject({ halted: null, snapshots: whole.snapshots });
    expect((await verified('seeded')).stdout).toMatch(/^equal: /);
  });

  it('between grid times is followed by the next one', async () => {
    const whole = await replayed('whole', LEDGER);
    const { imports, mark, behind } = seedAt('00:11');
    const seeded = await replayed('seeded', [...imports, mark, ...behind]);
    expect(seeded).toMatchObject({ halted: null, snapshots: whole.snapshots.slice(1) });
    expect((await verified('seeded')).stdout).toMatch(/^equal: /);
  });

  it('covers the updates up to its time, and is skipped in a migration that has begun', async () => {
    const { imports, mark, behind, before } = seedAt('00:10');
    const once = await replayed('once', [...imports, mark, ...behind]);
    const again = await replayed('again', [...imports, mark, mark, ...before, ...behind, ...imports, mark]);
    expect(again).toEqual({
      ...once,
      counts: { ...once.counts, redelivered: before.length, importsLate: imports.length + 2 },
    });
  });

  it('covers nothing behind it: what was never applied there is disorder', async () => {
    const { imports, mark, behind } = seedAt('00:10');
    const [before, after] = linesOf(parseLedger('00:09 =x : +x xavier 1\n00:22 =y : +y yves 1'), 'scan');
    const feed = [...imports, mark, ...behind];
    expect(await replayed('covered', [...feed, before!])).toMatchObject({ halted: null, counts: { redelivered: 1 } });
    expect(await replayed('behind', [...feed, after!])).toMatchObject({ halted: 'disorder contract_id' });
  });

  it('in a migration that began with updates is skipped, and bad where it has what was not read', async () => {
    const text = '00:01 : +a alice 10\n00:12 : +b bob 5\n00:14 : -b\n00:23 : +c carol 1\n00:31 :';
    const lines = linesOf(parseLedger(text), 'scan');
    const seedFrom = (clock: string): string[] =>
      seedOf(lines, { recordTime: `${timeOf(lines[0]!).slice(0, 11)}${clock}:00.000000Z` });
    await replayed('begun', lines);
    // Of what was created and archived within an interval nothing is stored.
    expect(await replayed('begun', seedFrom('00:13'))).toMatchObject({ halted: null, counts: { importsLate: 3 } });
    await replayed('behind', lines.slice(0, 3));
    expect(await replayed('behind', seedFrom('00:24'))).toMatchObject({ halted: 'before_first contract_id' });
  });

  it('covers of a synchronizer that its mark names what is up to the time named', async () => {
    const { imports, behind } = seedAt('00:10');
    const recordTime = timeOf(behind[1]!);
    const mark = importMarker(0, recordTime, { s1: timeOf(behind[0]!).replace('12:', '11:') });
    const seeded = await replayed('seeded', [...imports, mark, ...behind]);
    expect(seeded).toMatchObject({ halted: null, counts: { redelivered: 0 } });
    const later = seedAt('00:21').imports;
    const other = await replayed('other', [...later, importMarker(0, recordTime), ...behind]);
    expect(other).toMatchObject({ halted: null, counts: { redelivered: 2 } });
    const unlike = await replayed('unlike', [...imports, importMarker(0, recordTime), ...behind]);
    expect(unlike).toMatchObject({ halted: 'disorder contract_id', counts: { redelivered: 0 } });
  });

  it('in a migration that has begun is skipped and counted, also a later one', async () => {
    const { imports, mark, behind } = seedAt('00:10');
    const later = seedAt('00:20');
    const both = [...imports, mark, ...later.imports, later.mark, ...behind];
    const { counts, halted } = await replayed('both', both);
    expect({ counts, halted }).toMatchObject({ halted: null, counts: { importsLate: later.imports.length + 1 } });
    await replayed('one', [...imports, mark, ...behind]);
    expect(dumpViews(directory.at('both'))).toEqual(dumpViews(directory.at('one')));
  });

  it('that is of an earlier time on one synchronizer lets its later updates count, and a source begins there', async () => {
    const { imports, mark } = seedAt('00:10');
    const recordTime = (JSON.parse(mark) as { seed: { record_time: string } }).seed.record_time;
    const earlier = importMarker(0, recordTime, { s2: recordTime.replace('00:10', '00:06') });
    const [update] = linesOf(parseLedger('00:08 @s2 : +g greta 4'), 'scan');
    await replayed('seed', [...imports, earlier]);
    const db = openForReading(directory.at('seed'));
    const reached = reachedOf(loadState(db));
    db.close();
    expect(reached).toEqual({ migrationId: 0, recordTime: Date.parse(timeOf(update!)) * 1000 - 120_000_000 });
    expect(await replayed('seeded', [...imports, earlier, update!])).toMatchObject({
      counts: { updates: 4, redelivered: 0 },
    });
    expect((await verified('seeded')).stdout).toMatch(/^equal: /);
  });

  it('without its mark is half a seed: nothing is sealed, and an update after it halts', async () => {
    const { imports, mark, behind } = seedAt('00:10');
    const half = await replayed('half', imports);
    expect(half).toMatchObject({ halted: null, snapshots: [] });
    expect((await verified('half')).stdout).toMatch(/^equal: /);
    expect(await replayed('halted', [...imports, ...behind])).toMatchObject({
      halted: 'half_seed record_time',
      snapshots: [],
    });
    const ofParticipant = linesOf(parseLedger('00:12 : +e erin 2'), 'acs-delta');
    expect(await replayed('of-participant', [...imports, ...ofParticipant])).toMatchObject({
      halted: 'half_seed recordTime',
    });
    expect(await replayed('half', [...imports, mark])).toMatchObject({
      halted: null,
      snapshots: [expect.stringMatching(/^00:10 3 /)],
    });
  });

  it('has the updates that created its contracts, where they are known', async () => {
    const { imports, mark } = seedAt('00:10');
    const first = imports[0]!.replace(/"created_in_update_id":"[^"]*",/, '');
    await replayed('seeded', [first, ...imports.slice(1), mark]);
    const made = dumpViews(directory.at('seeded')).holding!.map((row) => row.split(' | ').at(-2));
    expect(made).toEqual(['null', '"u2"', '"u3"']);
  });

  it('of a participant covers its updates by their offsets, whatever their times', async () => {
    const { imports, mark } = seedAt('00:10');
    const { seed } = JSON.parse(mark) as { seed: object };
    const marked = JSON.stringify({ seed: { ...seed, offset: 3 } });
    const [third, fourth] = linesOf(parseLedger('00:10 : +d dave 3\n00:10 : +e erin 2'), 'acs-delta');
    const at = (line: string, offset: number | null): string =>
      line.replace(/"offset":\d+,"syn/, `"offset":${offset},"syn`);
    const repaired = await replayed('repaired', [...imports, marked, at(third!, 3), at(fourth!, 4)]);
    expect(repaired).toMatchObject({ halted: null, counts: { redelivered: 1 } });
    expect(repaired.counts.updates).toBe(imports.length + 1);
    expect(await replayed('none', [...imports, marked, at(fourth!, null)])).toMatchObject({
      halted: 'bad_field offset',
    });
  });

  it.each([
    ['migration_id', '"0"', 'seed.migration_id'],
    ['record_time', '"0001-01-01T00:00:00Z"', 'seed.record_time'],
    ['offset', '"7"', 'seed.offset'],
    [
      'synchronizer_times',
      '[{"synchronizerId":"s1","recordTime":"2200-01-01T00:00:00Z"}]',
      'seed.synchronizer_times[0].recordTime',
    ],
  ])('whose mark has %s %s is bad', async (key, value, field) => {
    const { imports, mark } = seedAt('00:10');
    const { seed } = JSON.parse(mark) as { seed: object };
    const bad = JSON.stringify({ seed: { ...seed, [key]: JSON.parse(value) as unknown } });
    expect(await replayed('bad', [...imports, bad])).toMatchObject({ halted: `bad_field ${field}` });
  });
});
