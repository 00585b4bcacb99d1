import { describe, expect, it } from 'vitest';
import { importMarker } from '../../demo/active-contracts.ts';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import type { ReplayResult } from '../../src/ingest/replay-files.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { expectCase, ledgerCases, outcome } from '../support/views/outcome.ts';
import { type Format, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const NEVER_APPLIED =
  /the update is skipped as a redelivery, .*, and (it (archives a contract that is active, so it was|did not have) |one of them is missing)/;

const DISORDER = ledgerCases(`
an archive of what is active in the same interval | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 : -a
an archive of what is active, that purges it | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 unassignment within : -a
an archive of what is active among other events | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 : +d dave 1 ; +e eve 1 ; -d ; -a
an archive of what is active, that is locked | 00:01 : +a alice 10 locked / 00:03 : +b bob 1 | 00:02 : -a
an archive of what is active, that is a round | 00:01 : +a alice 10 ; +r round 5 / 00:03 : +b bob 1 | 00:02 : -r
an archive of what is active, that was imported | import : +a alice 10 at 00:00 / 00:01 : +b bob 1 / 00:03 : +c carol 1 | 00:02 : -a
another amount | 00:01 =a : +a alice 10 / 00:03 : +b bob 1 | 00:01 =a : +a alice 11
another owner | 00:01 =a : +a alice 10 / 00:13 : +b bob 1 | 00:01 =a : +a bob 10
a lock | 00:01 =a : +a alice 10 / 00:03 : | 00:01 =a : +a alice 10 locked
another id of its coin | 00:01 =a : +a alice 10 / 00:03 : | 00:01 =a : +b alice 10
one create less | 00:01 =a : +a alice 10 ; +b bob 1 / 00:03 : | 00:01 =a : +a alice 10
one create more | 00:01 =a : +a alice 10 / 00:03 : | 00:01 =a : +a alice 10 ; +b bob 1
none of its archives | 00:01 : +a alice 10 / 00:02 =b : -a ; +b bob 1 / 00:03 : | 00:02 =b : +b bob 1
another archive | 00:01 : +a alice 10 ; +b bob 1 / 00:02 =b : -a / 00:13 : -b / 00:14 : | 00:02 =b : -b
an archive of what it created | 00:01 =a : +a alice 10 / 00:03 : | 00:01 =a : +a alice 10 ; -a
no archive of what it created | 00:01 =a : +a alice 10 ; -a / 00:03 : | 00:01 =a : +a alice 10
an archive before what it created | 00:01 : +a alice 10 / 00:02 =b : -a ; +a bob 5 / 00:03 : | 00:02 =b : +a bob 5
another id | 00:01 =a : +a alice 10 / 00:03 : | 00:01 =x : +a alice 10
another time | 00:01 =a : +a alice 10 / 00:03 : | 00:02 =a : +a alice 10
another synchronizer | 00:02 =a : +a alice 10 / 00:01 @s2 : / 00:13 @s2 : / 00:14 : | 00:02 @s2 =a : +a alice 10
only itself in common: it was never applied | 00:01 : +a alice 10 / 00:13 : | 00:02 =x : +x xavier 1
`);
const KNOWN = ledgerCases(`
is not active any more | 00:01 =a : +a alice 10 / 00:02 =b : -a / 00:03 =c : +c carol 1
was created and archived by itself | 00:01 =a : +a alice 10 / 00:02 =b : +b bob 1 ; -b / 00:03 =c : +c carol 1
it creates again itself | 00:01 =a : +a alice 10 / 00:02 =b : -a ; +a bob 20 / 00:03 =c : +c carol 1
was created again later | 00:01 =a : +a alice 10 / 00:02 =b : -a / 00:03 =c : +a bob 20
was created again as another kind | 00:01 =a : +a alice 10 / 00:02 =b : -a / 00:03 =c : +a bob 20 locked
was created again in a later interval | 00:01 =a : +a alice 10 / 00:02 =b : -a / 00:13 =c assignment within : +a alice 10 at 00:01 / 00:14 =d :
was imported again by a repair | 00:01 =a : +a alice 10 / 00:12 =b unassignment within : -a / 00:13 =c assignment within : +a alice 10 at 00:01 / 00:14 =d :
was created again behind an archive on another synchronizer | 00:05 =a : +a alice 10 / 00:06 =b : -a / 00:02 @s2 =c : +a alice 20 / 00:07 =d :
does not count | 00:01 =a : +a alice 10 ; +x mallory 9 forged / 00:02 =b : -x / 00:03 =c : +x mallory 9 forged
went to another synchronizer before | 00:01 =a : +a alice 10 / 00:02 =b unassignment : -a / 00:03 @s2 =c assignment : +a alice 10 at 00:01 / 00:14 @s2 =d : -a / 00:24 =e :
was created by an update of two synchronizers | 00:01 =a : +a alice 10 / 00:01 @s2 =a : +b bob 1 / 00:12 =b : -a ; -b
was locked and unlocked | 00:01 =a : +a alice 10 / 00:02 =b : -a ; +b alice 10 locked / 00:03 =c : -b ; +c alice 10 / 00:14 =d :
passed through between others | 00:01 =a : +a alice 10 / 00:02 =b : +p bob 1 ; -a ; -p ; +b bob 9 / 00:14 =c : -b
`);

const FORMATS: readonly (readonly Format[])[] = [
  ['scan', 'acs-delta'],
  ['ledger-api', 'scan'],
  ['acs-delta', 'ledger-api'],
];

describe('rule 1: an update that is behind the last one of its synchronizer', () => {
  // In one file, or in a second one with or without what was applied before: each in a third of the cases.
  it.each(DISORDER.map((each, i) => [...each, i % 3] as const))(
    'is disorder where it has %s, and what was applied has not',
    async (_, known, late, way) => {
      const before = known.replaceAll(' / ', '\n');
      const texts = [`${before}\n${late}\n00:31 :`, [before, `${late}\n00:31 :`], [before, `${before}\n${late}`]];
      const formats = late.includes('within') ? FORMATS[1]! : FORMATS[way]!;
      expect((await outcome(texts[way]!, { formats })).halted).toMatch(NEVER_APPLIED);
    },
  );

  it.each(KNOWN.map(([name, ledger], i) => [name, ledger, i % 3] as const))(
    'is a redelivery where the contract %s',
    async (_, ledger, way) => {
      const text = ledger.replaceAll(' / ', '\n');
      const again = [`${text}\n${text}`, [text, text], [text, `${text}\n00:31 :`]][way]!;
      expect(await outcome(again)).toMatchObject({ halted: null, counts: { redelivered: text.split('\n').length } });
    },
  );

  it('is a redelivery at the last time too, where a repair of that time imported the contract again', async () => {
    const text = `
      00:01 =a : +a alice 10
      00:02 =b unassignment within : -a
      00:02 =c assignment within : +a alice 10 at 00:01`;
    for (const again of [`${text}${text}`, [text, text]])
      expect(await outcome(again, { formats: ['ledger-api', 'acs-delta'] })).toMatchObject({
        halted: null,
        counts: { redelivered: 3 },
      });
  });

  it('is a redelivery behind a forced snapshot, and where the DSO was pinned since', async () => {
    using directory = temporaryDirectory();
    const text = '00:01 =a : +a alice 10 ; +x mallory 1 forged\n00:02 =b : +b bob 1 ; -a\n00:13 =c :';
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
    const data = directory.at('data');
    await replayInto(data, [feed], { seal: true });
    const again = await replayInto(data, [feed], { seal: true, dso: partyOf('DSO') });
    expect(again).toMatchObject({ halted: null, counts: { updates: 0, redelivered: 3 } });
  });

  it('is bad again where it was left out, and comes in another form: that is another decision', async () => {
    using directory = temporaryDirectory();
    const items = parseLedger('00:01 =a : +a alice 10\n00:02 =b : +b bob 1 ; -nothing\n00:03 =c :');
    const [data, onBadUpdate] = [directory.at('data'), 'quarantine' as const];
    const quarantined: number[] = [];
    for (const format of ['scan', 'scan', 'acs-delta', 'acs-delta'] as const) {
      const feed = directory.writeLines('feed.ndjson', linesOf(items, format));
      quarantined.push((await replayInto(data, [feed], { onBadUpdate })).quarantined);
    }
    expect(quarantined).toEqual([1, 0, 1, 0]);
  });

  it('stops there whatever the batch size, as another update, with nothing of it applied', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:03 : +b bob 1\n00:02 : +c carol 1 ; -a'), 'scan');
    const feed = directory.writeLines('feed.ndjson', lines);
    for (const [i, batchEventsMax] of [1, 100].entries()) {
      const { halted, counts } = await replayInto(directory.at(`data ${i}`), [feed], { batchEventsMax });
      expect(halted).toMatchObject({ code: 'disorder', kind: 'update', offset: 3, field: 'contract_id' });
      expect(counts).toMatchObject({ updates: 2, redelivered: 0 });
    }
  });
});

describe('rule 5: an import that comes after its migration has begun', () => {
  const BEGUN = '00:01 m1 =a : +a alice 10\n00:11 m1 =b : -a ; +b alice 10\n00:21 m1 =c :';
  const CUTS = [{ chunkBytes: 64, batchEventsMax: 1 }, { chunkBytes: 2 ** 20 }];

  /** What the last of several replays into one directory says, of which each is a command. */
  async function lastReplay(...texts: readonly string[]): Promise<Pick<ReplayResult, 'halted' | 'counts'>> {
    const results = [];
    for (const cuts of CUTS) {
      using directory = temporaryDirectory();
      let result: ReplayResult | null = null;
      for (const text of texts) {
        const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
        result = await replayInto(directory.at('data'), [feed], cuts);
      }
      results.push({ halted: result!.halted && { ...result!.halted, source: '' }, counts: result!.counts });
    }
    expect(results[0]).toEqual(results[1]);
    return results[0]!;
  }

  it.each([
    ['of a coin whose owner has none', ['+x xavier 1']],
    ['behind others that do not count', ['+r round 5', '+y mallory 9 forged', '+x xavier 1']],
    ['behind what was applied', ['+a alice 10', '+b alice 10', '+x alice 1']],
  ])('is bad where it was never applied: %s', async (_, creates) => {
    const imports = creates.map((create) => `import m1 : ${create}`).join('\n');
    const { halted, counts } = await lastReplay(BEGUN, `${imports}\n${BEGUN}\n00:31 m1 =d :`);
    expect(halted).toMatchObject({ offset: creates.length, code: 'before_first', given: '"0078"', kind: 'update' });
    expect(halted!.expected).toContain('a contract that is known in migration 1, which has begun');
    expect(counts.importsLate).toBe(creates.length - 1);
  });

  it('is bad in the Ledger API form, where it has several creates of which none is known', async () => {
    using directory = temporaryDirectory();
    const texts = ['00:01 =a : +a alice 10\n00:11 =b :', 'import : +x xavier 1 ; +y yves 2\n00:21 =c :'];
    const files = texts.map((text, i) => directory.writeLines(`${i}.ndjson`, linesOf(parseLedger(text), 'ledger-api')));
    await replayInto(directory.at('data'), [files[0]!]);
    const { halted } = await replayInto(directory.at('data'), [files[1]!]);
    expect(halted).toMatchObject({ offset: 1, code: 'before_first', field: 'contractId', given: '"0078"' });
  });

  it.each([
    ['are active', ['+a alice 10', '+b bob 5'], '+c carol 1', ''],
    ['are archived', ['+a alice 10', '+b bob 5'], '+c carol 1', '-a ; -b'],
    ['were archived before the first snapshot', ['+a alice 10', '+b bob 5'], '-a ; -b', ''],
    [
      'were partly archived before the first snapshot',
      ['+a alice 10', '+b bob 5', '+r round 5', '+x mallory 9 forged'],
      '-a ; -r ; -x',
      '',
    ],
  ])('is skipped and counted where a feed is read twice whose imports %s', async (_, creates, first, second) => {
    const imports = creates.map((create) => `import m1 : ${create}\n`).join('');
    const text = `${imports}00:01 m1 =u : ${first}\n00:11 m1 =v : ${second}\n00:21 m1 =w :`;
    for (const replays of [[text, text], [`${text}\n${text}`], [text, `${text}\n00:31 m1 =x :`]])
      expect(await lastReplay(...replays)).toMatchObject({ halted: null, counts: { importsLate: creates.length } });
  });

  it('is skipped where it comes again in a partition that was idle, and its coin is archived', () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('import : +a alice 10\n00:01 : -a\n00:11 :\nimport : +b bob 1'), 'scan');
    using writer = new ViewsWriter(directory.path, WRITER_OPTIONS);
    writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
    writer.followSource({
      identity: 'it',
      resumeTokens: new Map([
        ['0', '0'],
        ['1', '0'],
      ]),
    });
    const message = (lane: string, offset: number, line: string) =>
      decodeAlone({ lane, offset, bytes: Buffer.from(line) });
    for (const [i, line] of lines.slice(0, 3).entries()) writer.apply(message('0', i, line));
    expect(writer.apply(message('1', 0, lines[0]!))).toEqual({ done: true });
    expect(writer.apply(message('1', 1, lines[3]!))).toMatchObject({ halted: { code: 'overtaken' } });
    expect(writer.counts.importsLate).toBe(1);
  });

  it('is skipped in a migration that began with a seed, which does not say what was active before', async () => {
    using directory = temporaryDirectory();
    const mark = importMarker(1, '2025-02-12T00:05:00Z');
    const all = linesOf(parseLedger('import m1 : +x xavier 1\n00:01 m1 : -x\n00:11 m1 : +a alice 10'), 'scan');
    await replayInto(directory.at('data'), [directory.writeLines('first.ndjson', [mark, all[2]!])]);
    const whole = directory.writeLines('whole.ndjson', all);
    expect(await replayInto(directory.at('data'), [whole])).toMatchObject({
      halted: null,
      counts: { importsLate: 1, redelivered: 2 },
    });
  });
});

/** An operator's repairs have the time of the update before them, and only format B has them (docs/rules.md, rule 1). */
const IN_B = { formats: ['ledger-api', 'acs-delta'] } as const;
const LAST_TIME = '2025-02-12T00:01:00Z';

const SHARED = ledgerCases(`
another update is new, and so are a third and a fourth | 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =c : -a / 00:01 =d : +d dave 5 / 00:11 : | m0 00:10: bob 20, dave 5 & updates 5 & redelivered 0
each of them again is a redelivery, and once the time has passed one that changes nothing is, too | 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =a : +a alice 10 / 00:01 =c : +c carol 30 / 00:01 =b : +b bob 20 / 00:01 =c : +c carol 30 / 00:02 =d : -c / 00:01 =a : +a alice 10 / 00:01 =unknown : +x xavier 1 ; -x / 00:11 : | m0 00:10: alice 10, bob 20 & updates 5 & redelivered 5
their ids are kept from one file to the next, and those of an earlier time are not | 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 // 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =c : +c carol 30 // 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =c : +c carol 30 / 00:05 =a : +d dave 40 / 00:05 =b : +e eve 50 / 00:11 : | m0 00:10: alice 10, bob 20, carol 30, dave 40, eve 50 & updates 6 & redelivered 5
they belong to their own synchronizer alone | 00:01 =a : +a alice 10 / 00:01 @s2 =b : +b bob 20 / 00:01 @s2 =a : +c carol 30 / 00:11 : | m0 00:10: alice 10, bob 20, carol 30
another update is new where a checkpoint has passed that time, and counts as of the time reached | 00:01 =a : +a alice 10 / checkpoint : @s1 00:10 / 00:01 =b : -a ; +b bob 20 / 00:21 : | m0 00:10: alice 10 & m0 00:20: bob 20
they may be reassignments within one synchronizer | 00:01 =a : +a alice 10 / 00:01 =b unassignment within : -a / 00:01 =c assignment within : +b bob 20 / 00:01 =b unassignment within : -a / 00:11 : | m0 00:10: bob 20 & updates 4 & redelivered 1
an unassignment of what is not active is bad, as every archive is | 00:01 : +a alice 10 / 00:02 unassignment within : -b | halted line 2: given "0062", expected the id of a coin or round that is active
`);

describe('rule 1: at the time of the last update applied', () => {
  it.each(SHARED)('in format B: %s', (_, ledger, wanted) => expectCase(ledger, wanted, IN_B));

  it('another update is disorder in format A', async () => {
    const text = '00:01 =a : +a alice 10\n00:01 =b : +b bob 20\n00:11 : -a';
    const halted = `line 2: given "${LAST_TIME}", expected a time after ${LAST_TIME}, that of update a of this synchronizer`;
    expect(await outcome(text, { formats: ['scan'] })).toMatchObject({ snapshots: [], halted });
  });

  it('a bad one is not remembered: dropped from a file, it comes again as bad, and the next one is new', async () => {
    const text = '00:01 =a : +a alice 10\n00:01 =b : -nothing\n00:01 =c : +c carol 30\n00:01 =b : +b bob 20\n00:11 :';
    const { snapshots } = await outcome(text, { ...IN_B, onBadUpdate: 'quarantine' });
    expect(snapshots).toEqual(['m0 00:10: alice 10, bob 20, carol 30']);
  });
});

it('rule 1: another update of format A at the last time is disorder, whatever the format of those before it', async () => {
  using directory = temporaryDirectory();
  const [first, second] = parseLedger('00:01 =a : +a alice 10\n00:01 =b : +b bob 20');
  const lines = [...linesOf([first!], 'ledger-api'), ...linesOf([second!], 'scan')];
  const { halted } = await replayInto(directory.at('data'), [directory.writeLines('feed.ndjson', lines)]);
  expect(halted?.reason).toContain(
    `record_time: given "${LAST_TIME}", expected a time after ${LAST_TIME}, that of update a`,
  );
});

describe('a party move of thousands of updates at one time', () => {
  const COUNT = 3_000;

  it('is taken whole, in batches of any size, and taken again it is redelivered', async () => {
    using directory = temporaryDirectory();
    const move = Array.from({ length: COUNT }, (_, i) => `00:01 =move${i} : +m${i} alice 1`);
    const lines = linesOf(parseLedger(`00:01 =a : +a alice 10\n${move.join('\n')}`), 'ledger-api');
    const feed = directory.writeLines('feed.ndjson', lines);
    const dumps = [];
    for (const batchEventsMax of [1_000, 1_000_000]) {
      const data = directory.at(`by ${batchEventsMax}`);
      const first = await replayInto(data, [feed], { batchEventsMax, chunkBytes: 100_000 });
      expect(first).toMatchObject({ halted: null, counts: { updates: COUNT + 1, redelivered: 0 } });
      const again = await replayInto(data, [feed], { batchEventsMax });
      expect(again).toMatchObject({ halted: null, counts: { updates: 0, redelivered: COUNT + 1 } });
      dumps.push(dumpViews(data));
    }
    expect(dumps[0]!.last_update).toHaveLength(COUNT + 1);
    expect(dumps[1]).toEqual(dumps[0]);
    const late = directory.writeLines('late.ndjson', linesOf(parseLedger('00:02 : +b bob 1'), 'ledger-api'));
    await replayInto(directory.at('by 1000'), [late]);
    expect(dumpViews(directory.at('by 1000')).last_update).toHaveLength(1);
  });
});

const WITHIN = ledgerCases(`
an unassignment archives its coin | 00:01 : +a alice 10 / 00:02 unassignment within : -a / 00:11 : | m0 00:10: nobody
of a locked one | 00:01 : +a alice 10 locked ; +b bob 1 / 00:02 unassignment within : -a / 00:11 : | m0 00:10: bob 1
under another package id | 00:01 : +a alice 10 / 00:02 unassignment within : -a upgraded / 00:11 : | m0 00:10: nobody
an assignment creates | 00:01 : / 00:02 assignment within : +a alice 10 / 00:11 : | m0 00:10: alice 10
an equal one is ignored | 00:01 : +a alice 10 / 00:02 assignment within : +a alice 10 at 00:01 / 00:11 : | m0 00:10: alice 10
a contract may be purged and imported again | 00:01 : +a alice 10 / 00:02 unassignment within : -a / 00:03 assignment within : +a bob 20 / 00:11 : | m0 00:10: bob 20
an unassignment archives a round, and a counterfeit | 00:01 : +a alice 1 ; +r round 5 ; +s round 6 ; +x mallory 9 forged / 00:02 unassignment within : -r / 00:03 unassignment within : -x / 00:04 : +x bob 2 / 00:11 : | m0 00:10: alice 1, bob 2 & lowestOpenRound 6
an assignment of an active id with other content is bad | 00:01 : +a alice 10 / 00:02 assignment within : +a alice 11 at 00:01 | halted expected an id that is not active, or a create equal to the one that made it
`);

describe('rule 9: reassignments within one synchronizer', () => {
  it.each(WITHIN)('%s', (_, ledger, wanted) => expectCase(ledger, wanted));

  it('in format A, where it names no template, that is ignored and counted; and moves time', async () => {
    const text = `
      00:01 : +a alice 10
      00:02 unassignment within : -b
      00:03 unassignment within : -a
      00:04 unassignment within : -a
      00:11 unassignment within : -b`;
    expect(await outcome(text, { formats: ['scan'] })).toMatchObject({ halted: null, snapshots: ['m0 00:10: nobody'] });
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
    const { counts } = await replayInto(directory.at('data'), [feed]);
    expect(counts).toMatchObject({ updates: 5, events: 2, ignored: { 'purge of an inactive contract': 3 } });
  });

  it('in format B one of another template is ignored as such', async () => {
    using directory = temporaryDirectory();
    const [first = '', second = ''] = linesOf(
      parseLedger('00:01 : +a alice 10\n00:02 unassignment within : -b'),
      'ledger-api',
    );
    const feed = directory.writeLines('feed.ndjson', [first, second.replaceAll(':Amulet"', ':ValidatorRight"')]);
    const { halted, counts } = await replayInto(directory.at('data'), [feed]);
    expect({ halted, ignored: counts.ignored }).toEqual({ halted: null, ignored: { 'other template': 1 } });
  });
});
