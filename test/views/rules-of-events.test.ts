import { describe, expect, it } from 'vitest';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, ledgerCases, outcome } from '../support/views/outcome.ts';
import { type Format, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const OTHER_CONTENT = 'expected an id that is not active, or a create equal to the one that made it';

/** Each is followed by an update at 00:11, which seals the snapshot of 00:10. */
const inOneInterval = (_: string, ledger: string, wanted: string): Promise<void> =>
  expectCase(`${ledger} / 00:11 :`, wanted.startsWith('halted') ? wanted : `m0 00:10: ${wanted}`);

const ORDER = ledgerCases(`
a transient contract leaves nothing | 00:01 : +a alice 10 ; -a | nobody
a transient contract among others | 00:01 : +a alice 10 ; +b alice 5 ; -a ; +c bob 1 | alice 5, bob 1
created, archived and created again in one update | 00:01 : +a alice 10 ; -a ; +a alice 10 | alice 10
archived and created again in another | 00:01 : +a alice 10 / 00:02 : -a ; +a bob 20 ; -a ; +a carol 30 | carol 30
a create that is not on the active set | 00:01 : +a alice 10 off ; +b bob 20 | bob 20
an archive that is not on the active set | 00:01 : +a alice 10 / 00:02 : -a off | alice 10
an exercise that consumes nothing | 00:01 : +a alice 10 / 00:02 : -a unused | alice 10
a coin that is only used and never seen | 00:01 : +a alice 10 / 00:02 : -b unused | alice 10
an archive before its create is bad | 00:01 : -a ; +a alice 10 | halted never created or is archived already
an archive of what was archived is bad | 00:01 : +a alice 10 / 00:02 : -a / 00:03 : -a | halted line 3:
an archive of what is not on the active set is bad | 00:01 : +a alice 10 off / 00:02 : -a | halted line 2:
an archive in an update whose end is bad | 00:01 : +a alice 10 / 00:02 : -a ; -a | halted line 2:
`);

describe('rule 7: events in feed order', () => {
  it.each(ORDER)('%s', inOneInterval);
});

const REPEATED = ledgerCases(`
an archive may name another package id than the create | 00:01 : +a alice 10 ; +b bob 20 locked / 00:02 : -a upgraded ; -b upgraded | nobody
and so may a create again | 00:01 : +a alice 10 / 00:02 : +a alice 10 upgraded at 00:01 | alice 10
an unassignment leaves its coin held | 00:01 : +a alice 10 / 00:02 unassignment : -a | alice 10
an unassignment of what is unknown | 00:01 : +a alice 10 / 00:02 unassignment : -b | alice 10
an assignment of what is active | 00:01 : +a alice 10 / 00:02 @s2 assignment : +a alice 10 at 00:01 | alice 10
an assignment of what is not | 00:01 : +a alice 10 / 00:02 @s2 assignment : +b bob 20 | alice 10, bob 20
a coin that leaves, arrives and is spent there | 00:01 : +a alice 10 / 00:02 unassignment : -a / 00:03 @s2 assignment : +a alice 10 at 00:01 / 00:04 @s2 : -a | nobody
a create of an id that was archived | 00:01 : +a alice 10 / 00:02 : -a / 00:03 : +a bob 20 | bob 20
an equal create of an active id | 00:01 : +a alice 10 / 00:02 : +a alice 10 at 00:01 | alice 10
an equal create in one update | 00:01 : +a alice 10 ; +a alice 10 | alice 10
signatories in another order | 00:01 : +a alice 10 / 00:02 : +a alice 10 at 00:01 reordered | alice 10
an equal create of a lock | 00:01 : +a alice 10 locked / 00:02 : +a alice 10 locked at 00:01 | alice 0 + 10 locked
an equal create of a round | 00:01 : +r round 5 ; +a alice 1 / 00:02 : +r round 5 at 00:01 | alice 1
`);

describe('rule 8: a template is its package name and entity', () => {
  it('an archive of another entity than the create is bad', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:02 : -a'), 'ledger-api');
    const locked = lines.map((line, i) => (i === 1 ? line.replace(':Amulet"', ':LockedAmulet"') : line));
    const { halted } = await replayInto(directory.at('data'), [directory.writeLines('feed.ndjson', locked)]);
    expect(halted?.reason).toBe('templateId: given "LockedAmulet", expected that of its create, Amulet');
  });
});

describe('rule 9: reassignments and repeated creates', () => {
  it.each(REPEATED)('%s', inOneInterval);

  it.each([
    ['another owner', '+a alice 10', '+a bob 10 at 00:01'],
    ['another amount', '+a alice 10', '+a alice 11 at 00:01'],
    ['another creation time', '+a alice 10', '+a alice 10 at 00:02'],
    ['a lock', '+a alice 10', '+a alice 10 locked at 00:01'],
    ['a round in its place', '+a alice 10', '+a round 5 at 00:01'],
    ['a coin in place of a round', '+a round 5', '+a alice 10 at 00:01'],
    ['another round number', '+a round 5', '+a round 6 at 00:01'],
    ['a counterfeit in place of a coin', '+a alice 10', '+a alice 10 forged at 00:01'],
    ['a counterfeit in place of a round', '+a round 5', '+a round 5 forged at 00:01'],
    ['a coin in place of a counterfeit', '+x alice 1 ; +a alice 10 forged', '+a alice 10 at 00:01'],
    ['a round in place of a counterfeit', '+x alice 1 ; +a alice 10 forged', '+a round 5 at 00:01'],
  ])('a create of an active id with other content is bad: %s', async (_, first, second) => {
    await expectCase(`00:01 : ${first} / 00:02 : ${second}`, `halted line 2: given "0061", ${OTHER_CONTENT}`);
    await expectCase(`00:01 : ${first} ; ${second}`, `halted line 1: given "0061", ${OTHER_CONTENT}`);
  });

  it('counts equal creates, and the row of the first one stays', async () => {
    using directory = temporaryDirectory();
    const text = '00:01 =first : +a alice 10\n00:02 =again : +a alice 10 at 00:01 upgraded reordered';
    expect((await outcome(text)).counts.createsRepeated).toBe(1);
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
    await replayInto(directory.at('data'), [feed]);
    const { holding, template, ledger_update: updates } = dumpViews(directory.at('data'));
    expect(holding).toHaveLength(1);
    expect(holding?.[0]).toMatch(/ \| 1 \| null$/);
    expect(updates?.[0]).toMatch(/^1 \|.*"first"/);
    expect(template?.[0]).toBe('1 | "package:Splice.Amulet:Amulet" | "splice-amulet"');
  });

  const lock = '00:01 : +a alice 10 locked';

  it.each<[string, Format, (text: string) => string]>([
    ['keys in another order', 'ledger-api', (text) => reversedKeys(text)],
    ['other node, offset and event id', 'ledger-api', (text) => text.replaceAll('"nodeId":0', '"nodeId":9')],
    [
      'Decimals printed otherwise',
      'ledger-api',
      (text) => text.replace('"10.0000000000"', '"1E+1"').replace('"0.1000000000"', '"0.1"'),
    ],
    ['an Int as a number', 'ledger-api', (text) => text.replace('"number":"1"', '"number":1')],
    ['a time with more zeros', 'ledger-api', (text) => text.replace('T23:00:00Z', 'T23:00:00.000000Z')],
    ['an absent optional', 'ledger-api', (text) => text.replace(',"optContext":null', '')],
    [
      'a party named twice',
      'ledger-api',
      (text) => text.replace(/"signatories":\["([^"]*)"/, '"signatories":["$1","$1"'),
    ],
    ['the other format', 'scan', (text) => text],
  ])('an equal create stays equal with %s', async (_, format, change) => {
    using directory = temporaryDirectory();
    const [first = ''] = linesOf(parseLedger(lock), 'ledger-api');
    const [, again = ''] = linesOf(parseLedger(`${lock}\n00:02 : +a alice 10 locked at 00:01`), format);
    const changed = change(again);
    expect(changed === again).toBe(format === 'scan');
    const feed = directory.writeLines('feed.ndjson', [first, changed]);
    const { halted, counts } = await replayInto(directory.at('data'), [feed]);
    expect({ halted, repeated: counts.createsRepeated }).toEqual({ halted: null, repeated: 1 });
  });

  it.each<[string, (text: string) => string]>([
    ['another lock', (text) => text.replace('T23:00:00Z', 'T23:00:00.000001Z')],
    ['other holders', (text) => text.replace('"holders":["DSO', '"holders":["dso')],
    ['an observer', (text) => text.replace('"observers":[]', '"observers":["zoe::1220ab"]')],
    ['another signatory', (text) => text.replace(/"signatories":\[/, '"signatories":["zoe::1220ab",')],
    ['an unknown argument', (text) => text.replace('"lock":', '"memo":1,"lock":')],
    ['another rate', (text) => text.replace('"0.1000000000"', '"0.1000000001"')],
    ['another round', (text) => text.replace('"number":"1"', '"number":"2"')],
  ])('an active id with %s is bad', async (_, change) => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger(`${lock}\n00:02 : +a alice 10 locked at 00:01`), 'ledger-api');
    const changed = lines.map((line, i) => (i === 1 ? change(line) : line));
    expect(changed).not.toEqual(lines);
    const { halted } = await replayInto(directory.at('data'), [directory.writeLines('feed.ndjson', changed)]);
    expect(halted).toMatchObject({ offset: 2, field: 'contractId' });
  });
});

/** The same JSON with the keys of every object the other way round. */
function reversedKeys(text: string): string {
  const reversed = (_: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).reverse());
  };
  return JSON.stringify(JSON.parse(text), reversed);
}

const DSO = partyOf('DSO');
const FORGER = partyOf('forger');

describe('rule 10: counterfeits', () => {
  it.each([
    ['a coin of another dso', '+x mallory 1000 forged'],
    ['a locked coin of another dso', '+x mallory 1000 locked forged'],
    ['a coin of ours that we did not sign', '+x mallory 1000 unsigned'],
    ['a round of another dso', '+x round 1 forged'],
    ['a round of ours that we did not sign', '+x round 1 unsigned'],
  ])('%s is kept out of everything and counted, and its archive is recognised', async (_, create) => {
    const text = `00:01 : +r round 5 ; +a alice 10\n00:02 : ${create}\n00:11 :`;
    const wanted = { halted: null, snapshots: ['m0 00:10: alice 10'], lowestOpenRound: 5n };
    const made = await outcome(text);
    expect(made).toMatchObject(wanted);
    expect(made.counts.counterfeits).toBe(1);
    expect(await outcome(`${text}\n00:12 : -x`)).toMatchObject(wanted);
    expect(await outcome(text.replace(create, `${create} ; -x`))).toMatchObject(wanted);
    expect((await outcome(`${text}\n00:12 : -x\n00:13 : -x`)).halted).toMatch(/^line 5: /);
  });

  it.each(
    ledgerCases(`
may use an id that was archived, and an archived counterfeit frees its id | 00:01 : +a alice 10 / 00:02 : -a / 00:03 : +a mallory 5 forged / 00:04 : -a / 00:05 : +a bob 20 / 00:11 : | m0 00:10: bob 20
created again while active is ignored, whatever it says | 00:01 : +a alice 10 / 00:02 : +x mallory 5 forged / 00:03 : +x mallory 6 forged / 00:04 : -x / 00:11 : | counterfeits 1 & createsRepeated 1
is known in its own migration only | 00:01 : +a alice 10 ; +x mallory 5 forged / 00:02 m1 : -x | halted line 2:
`),
  )('%s', (_, ledger, wanted) => expectCase(ledger, wanted));

  it('is checked by its dso before any other field, and no other field is ever checked', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:02 : +x mallory 5 forged\n00:03 : -x'), 'ledger-api');
    const senseless = lines[1]!
      .replace(/"owner":"[^"]*"/, '"owner":7')
      .replace(/"initialAmount":"[^"]*"/, '"initialAmount":"much"')
      .replace(/"createdAt":"[^"]*","packageName"/, '"createdAt":null,"packageName"')
      .replace(/"signatories":\[[^\]]*\]/, '"signatories":"nobody"');
    expect(senseless).toContain('"owner":7');
    expect(senseless).toContain('"signatories":"nobody"');
    const feed = directory.writeLines('feed.ndjson', [lines[0]!, senseless, lines[2]!]);
    const { halted, counts } = await replayInto(directory.at('data'), [feed]);
    expect({ halted, counterfeits: counts.counterfeits }).toEqual({ halted: null, counterfeits: 1 });
    expect(counts.eventsByKind).toMatchObject({ 'create Amulet': 2, 'create OpenMiningRound': 0 });
    const ours = directory.writeLines('ours.ndjson', [lines[0]!, senseless.replace(FORGER, DSO)]);
    expect((await replayInto(directory.at('other'), [ours])).halted?.field).toContain('signatories');
  });
});

describe('the DSO', () => {
  it.each([
    ['a coin', '00:01 : +a alice 10', DSO],
    ['a round', '00:01 : +r round 5', DSO],
    ['a coin of whoever comes first', '00:01 : +x mallory 10 forged\n00:02 : +a alice 10', FORGER],
    ['no coin that its dso did not sign', '00:01 : +x mallory 1 unsigned forged\n00:02 : +a alice 10', DSO],
    ['no coin that is not on the active set', '00:01 : +x mallory 1 forged off\n00:02 : +a alice 10', DSO],
    ['nothing but coins and rounds', '00:01 :', null],
  ])('is the dso of the first create signed by it: %s', async (_, text, wanted) => {
    expect((await outcome(text)).dso).toBe(wanted);
  });

  it('is not set by a bad update', async () => {
    const text = '00:01 : +x mallory 10 forged ; -nothing\n00:02 : +a alice 10\n00:11 :';
    expect((await outcome(text)).dso).toBeNull();
    const quarantined = await outcome(text, { onBadUpdate: 'quarantine' });
    expect(quarantined).toMatchObject({ dso: DSO, snapshots: ['m0 00:10: alice 10'] });
  });

  it('is the one pinned, whatever comes first', async () => {
    const text = '00:01 : +x mallory 10 forged\n00:02 : +a alice 10\n00:11 :';
    const wanted = { dso: DSO, snapshots: ['m0 00:10: alice 10'] };
    expect(await outcome(text, { dso: DSO })).toMatchObject(wanted);
    expect((await outcome(text)).snapshots).toEqual(['m0 00:10: mallory 10']);
  });
});
