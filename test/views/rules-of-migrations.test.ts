import { describe, expect, it } from 'vitest';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, holds, ledgerCases, outcome, ownersAt } from '../support/views/outcome.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews, storedOffset } from '../support/views/views-dump.ts';

const OTHER = 'given "0061", expected an id that is not active, or a create equal to the one that made it';
const UNKNOWN =
  'given "0061", expected the id of a coin or round that is active in migration 1: this Amulet was never created or is archived already';
const IMPORTS = ledgerCases(`
belong to its first snapshot, and their ids may be active in an older one | 00:01 : +a alice 10 ; +b bob 20 / import m1 : +a alice 10 / import m1 : +b bob 20 / 00:03 m1 : -a / 00:11 m1 : / 00:12 : -b | m0 00:10: alice 10, bob 20 & m1 00:10: bob 20
start no grid | import : +a alice 10 / import : +b bob 20 | none
seal nothing | 00:01 : +a alice 10 / import m1 : +a alice 10 / 00:08 : -a | none
are redelivered where their contract is active with equal content, before the first other update | import : +a alice 10 / import : +b bob 20 / import : +a alice 10 / 00:01 : / 00:11 : | m0 00:10: alice 10, bob 20 & updates 4 & redelivered 1 & importsLate 0
are bad with other content, before the first other update | import : +a alice 10 / import : +a alice 11 | halted line 2: ${OTHER}
are skipped and counted apart after the first other update where their contract is known | import : +a alice 10 / import : +b bob 20 / 00:01 : -a / import : +a alice 10 / import : +b bob 20 / 00:11 : -b / import : +b bob 20 / 00:21 : | m0 00:10: bob 20 & m0 00:20: nobody & updates 5 & redelivered 0 & importsLate 3
have several creates in format B, and are redelivered where all of them are there with equal content | import =x : +a alice 10 ; +b bob 20 / import =y : +b bob 20 ; +c carol 30 / import =z : +c carol 30 ; +a alice 10 / import =x : +a alice 10 ; +b bob 20 / 00:01 : -b / 00:11 : | m0 00:10: alice 10, carol 30 & updates 4 & redelivered 2 & createsRepeated 5 & importsLate 0
of several creates are bad where one has other content | import : +a alice 10 / import : +b bob 20 ; +a alice 11 ; +c carol 30 / 00:01 : +d dave 1 / 00:11 : | halted line 2: ${OTHER}
of several creates are skipped whole after the first other update | import : +a alice 10 ; +b bob 20 / 00:01 : -a / import : +a alice 10 ; +b bob 20 / import : +b bob 21 / 00:11 : | m0 00:10: bob 20 & updates 3 & redelivered 0 & createsRepeated 0 & importsLate 2
do not follow rule 1: they may have one update id, and come after a checkpoint | checkpoint : @s1 00:05 / import =x : +a alice 10 / import =x : +b bob 20 / 00:06 : -a / 00:11 : | m0 00:10: bob 20
bring rounds and counterfeits too | import : +r round 7 / import : +x mallory 1000 forged / import : +r round 7 / import : +x mallory 1000 forged / 00:01 : -x ; +a alice 10 / 00:11 : | m0 00:10: alice 10 & lowestOpenRound 7 & redelivered 2 & counterfeits 1
`);
const APART = ledgerCases(`
have rounds of their own: the newest one decides the lowest that is open | 00:01 : +r round 5 ; +s round 6 / 00:02 m1 : +r round 8 / 00:03 m1 : +t round 7 / 00:04 : -r | lowestOpenRound 7
have rounds of their own, also archived | 00:01 : +r round 5 ; +s round 6 / 00:02 m1 : +r round 8 / 00:03 m1 : +t round 7 / 00:04 : -r / 00:05 m1 : -t | lowestOpenRound 8
are kept apart by an archive: an id active in one is unknown in another | 00:01 : +a alice 10 / 00:02 m1 : -a | halted line 2: ${UNKNOWN}
accept later updates when a newer one has begun | 00:01 : +a alice 10 / 00:02 m3 : +b bob 20 / 00:11 : -a / 00:12 m3 : -b / 00:21 : +c carol 30 | m0 00:10: alice 10 & m0 00:20: nobody & m3 00:10: bob 20
`);

describe('rule 5: imports open a migration', () => {
  it.each(IMPORTS)('%s', (_, ledger, wanted) => expectCase(ledger, wanted));

  it('are applied in no part where one of several creates has other content', async () => {
    const text = 'import : +a alice 10 / import : +b bob 20 ; +a alice 11 ; +c carol 30 / 00:01 : +d dave 1 / 00:11 :';
    await expectCase(text, 'm0 00:10: alice 10, dave 1', { onBadUpdate: 'quarantine' });
  });

  it('are of no update, so an item of state names none', async () => {
    using directory = temporaryDirectory();
    for (const format of ['scan', 'ledger-api'] as const) {
      const lines = linesOf(parseLedger('import : +a alice 10\n00:01 : +b bob 20\n00:11 :'), format);
      await replayInto(directory.at(format), [directory.writeLines(`${format}.ndjson`, lines)]);
      using store = openViewsStore(directory.at(format));
      const snapshot = { migrationId: null, recordTime: null, match: 'exact' } as const;
      const owners = ['alice::1220ab', 'bob::1220ab'];
      const page = await store.facts({ kind: 'page', snapshot, owners, after: null, pageSize: 10 });
      expect(page).toMatchObject({ found: 'page', contracts: [{ updateId: null }, { updateId: 'u2' }] });
    }
  });
});

describe('migrations', () => {
  it.each(APART)('%s', (_, ledger, wanted) => expectCase(ledger, wanted));

  it('have no open round where the newest one has none', async () => {
    expect((await outcome('00:01 : +r round 5\nimport m2 : +a alice 10')).lowestOpenRound).toBeNull();
  });
});

describe('rule 11: a feed without migration ids belongs to one migration', () => {
  const lines = linesOf(parseLedger('00:01 m4 : +a alice 10\n00:11 m4 :'), 'ledger-api');

  it('which is stored with the first import already', async () => {
    using directory = temporaryDirectory();
    const imports = directory.writeLines(
      'imports.ndjson',
      linesOf(parseLedger('import m4 : +a alice 10'), 'ledger-api'),
    );
    await replayInto(directory.at('data'), [imports], { migrationId: 4 });
    await expect(replayInto(directory.at('data'), [imports], { migrationId: 5 })).rejects.toThrow('as migration 4');
  });

  it('which is 0 unless given, and free while only a feed with migration ids was read', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const scan = directory.writeLines('scan.ndjson', linesOf(parseLedger('00:00 : +z alice 10'), 'scan'));
    await replayInto(data, [scan], { migrationId: 7 });
    await replayInto(data, [directory.writeLines('feed.ndjson', lines)]);
    await expect(replayInto(data, [scan], { migrationId: 7 })).rejects.toThrow('as migration 0');
    using store = openViewsStore(data);
    expect(await store.facts({ kind: 'snapshots' })).toMatchObject([{ migrationId: 0 }]);
  });

  describe('which is not guessed where the directory has a migration above 0', () => {
    const later = linesOf(parseLedger('00:01 m2 : +a alice 10\n00:12 m2 : +b bob 5'), 'scan');
    const [first = '', second = ''] = lines;
    const checkpoint = linesOf(parseLedger('checkpoint m4 : @s1 00:00'), 'ledger-api')[0]!;
    const filler = Array.from({ length: 3_000 }, () => later[0]!);
    const required = /--migration-id is required: .* of migration 2; give the id of the migration that they belong to$/;

    it.each<[string, (readonly string[])[], (readonly string[])[]]>([
      ['from before', [later], [lines]],
      ['from an earlier file', [], [later, lines]],
      ['and a checkpoint comes first', [later], [[checkpoint, first, second]]],
      ['and the file begins with what is no update', [later], [['{"foo":1}', 'x', first]]],
    ])('%s: refused before anything is applied, and taken once it is given', async (_, before, files) => {
      using directory = temporaryDirectory();
      const data = directory.at('data');
      const write = (part: readonly string[], i: number): string => directory.writeLines(`feed-${i}`, part);
      await replayInto(data, before.map(write));
      const tables = dumpViews(data);
      const paths = files.map(write);
      await expect(replayInto(data, paths, { onBadUpdate: 'quarantine' })).rejects.toThrow(required);
      expect(dumpViews(data)).toEqual(tables);
      expect(storedOffset(data)).toBe(before.length === 0 ? null : later.length + 1);
      const given = { onBadUpdate: 'quarantine', migrationId: 4 } as const;
      expect(await replayInto(data, paths, given)).toMatchObject({ halted: null });
      expect(await replayInto(data, paths, { onBadUpdate: 'quarantine' })).toMatchObject({ halted: null });
    });

    it('and the file shows it only far after its start: refused there, with nothing of migration 0', async () => {
      using directory = temporaryDirectory();
      const data = directory.at('data');
      const feed = directory.writeLines('feed', [...filler, ...lines]);
      await expect(replayInto(data, [feed])).rejects.toThrow(required);
      expect(dumpViews(data).migration!.filter((row) => !row.startsWith('2 '))).toEqual([]);
      expect((await replayInto(data, [feed], { migrationId: 4 })).halted).toBeNull();
    });

    it('but is known once it was read as migration 0', async () => {
      using directory = temporaryDirectory();
      const data = directory.at('data');
      const feed = directory.writeLines('feed', lines.slice(0, 1));
      const rest = directory.writeLines('rest', lines);
      expect((await replayInto(data, [feed, directory.writeLines('later', later), rest])).halted).toBeNull();
      expect((await replayInto(data, [rest])).counts).toMatchObject({ updates: 0, redelivered: 2 });
    });
  });
});

/** Replays a ledger into the directory's views with --seal. */
async function seal(directory: TemporaryDirectory, text: string): Promise<void> {
  const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
  const { halted } = await replayInto(directory.at('data'), [feed], { seal: true });
  expect(halted).toBeNull();
}

/** Record times of all snapshots, with the word `forced` after those that were. */
function sealed(directory: TemporaryDirectory): string[] {
  return dumpViews(directory.at('data')).snapshot!.map((row) => {
    const [migrationId, recordTime, , , , , forced] = row.split(' | ');
    const clock = new Date(Number(recordTime) / 1000).toISOString().slice(11, 19);
    return `m${migrationId} ${clock}${forced === '1' ? ' forced' : ''}`;
  });
}

const SEALED = ledgerCases(`
is at the largest record time applied, and includes what came late with a smaller one | 00:01 : +a alice 10 / 00:12:30 : +b bob 20 / 00:02 @s2 : +c carol 30 | m0 00:10: alice 10 & m0 00:12:30: alice 10, bob 20, carol 30
is the newest snapshot where one is later | 00:01 : +a alice 10 / checkpoint : @s1 00:20 | m0 00:10: alice 10 & m0 00:20: alice 10
is the newest snapshot where one is at that time | 00:01 : +a alice 10 / 00:10 : / checkpoint : @s1 00:10 | m0 00:10: alice 10
is of the newest migration that has an update other than an import | 00:01 : +a alice 10 / 00:05 m1 : +b bob 20 / import m2 : +c carol 30 / 00:07 : -a | m1 00:05: bob 20
is not sealed where nothing but imports was applied | import : +a alice 10 | none
is not sealed where nothing was applied | checkpoint : @s1 00:10 | none
is not sealed in a directory that is halted | 00:01 : +a alice 10 / 00:02 : -b | halted line 2 & none
`);

describe('rule 12: a forced snapshot', () => {
  it.each(SEALED)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, { seal: true }));

  it('is not sealed again while nothing came since, and what came with a smaller time waits for the next', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:05 =b : +b bob 20';
    await seal(directory, first);
    await seal(directory, first);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced']);
    await seal(directory, `${first}\n00:04 @s2 =c : +c carol 30`);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced']);
    await seal(directory, `${first}\n00:04 @s2 =c : +c carol 30\n00:06 =d : -a`);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced', 'm0 00:06:00 forced']);
    using store = openViewsStore(directory.at('data'));
    const snapshots = await store.facts({ kind: 'snapshots' });
    expect(snapshots.map(({ contracts }) => contracts)).toEqual([2, 2]);
  });

  it('is not sealed at a grid time, where the newest is the answer: that one comes with the feed', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:10 =b : +b bob 20';
    await seal(directory, first);
    expect(sealed(directory)).toEqual([]);
    const second = `${first}\n00:10 @s2 =c : +c carol 30\n00:20 =d : -a`;
    await seal(directory, second);
    expect(sealed(directory)).toEqual(['m0 00:10:00']);
    await seal(directory, `${second}\n00:20:01 =e : -b`);
    expect(sealed(directory)).toEqual(['m0 00:10:00', 'm0 00:20:00', 'm0 00:20:01 forced']);
  });

  it('between grid times changes neither the grid nor what the next ones hold', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:15 =b : +b bob 20';
    const all = `${first}\n00:31 =c : +c carol 30 ; -a`;
    await seal(directory, first);
    await seal(directory, all);
    expect(sealed(directory)).toEqual([
      'm0 00:10:00',
      'm0 00:15:00 forced',
      'm0 00:20:00',
      'm0 00:30:00',
      'm0 00:31:00 forced',
    ]);
    const parties = ['alice::1220ab', 'bob::1220ab', 'carol::1220ab'];
    using store = openViewsStore(directory.at('data'));
    const holders: string[] = [];
    for (const snapshot of await store.facts({ kind: 'snapshots' })) {
      const owners = await ownersAt(store, snapshot, parties);
      holders.push(owners.map((owner) => (holds(owner) ? 1 : 0)).join(''));
    }
    expect(holders).toEqual(['100', '110', '110', '110', '011']);
  });
});
