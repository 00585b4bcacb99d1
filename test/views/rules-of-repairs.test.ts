import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../support/ledger/history.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, ledgerCases, outcome } from '../support/views/outcome.ts';
import { type Format, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

/** An operator's repairs have the time of the update before them, and only format B has them (docs/rules.md, rule 1). */
const IN_B = { formats: ['ledger-api', 'acs-delta'] } as const;
const LAST_TIME = '2025-02-12T00:01:00Z';

const SHARED = ledgerCases(`
another update is new, and so are a third and a fourth | 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =c : -a / 00:01 =d : +d dave 5 / 00:11 : | m0 00:10: bob 20, dave 5 & updates 5 & redelivered 0
each of them again is a redelivery, and once the time has passed all are, known or not | 00:01 =a : +a alice 10 / 00:01 =b : +b bob 20 / 00:01 =a : +a alice 10 / 00:01 =c : +c carol 30 / 00:01 =b : +b bob 20 / 00:01 =c : +c carol 30 / 00:02 =d : -c / 00:01 =a : +a alice 10 / 00:01 =unknown : +x xavier 1 / 00:11 : | m0 00:10: alice 10, bob 20 & updates 5 & redelivered 5
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

describe('a ledger written in both formats', () => {
  const item = (text: string): HistoryItem => parseLedger(text)[0]!;
  const ALICE = item('00:01 =a : +a alice 10');
  const BOB = item('00:01 =b : +b bob 20');

  async function replayed(...lines: readonly (readonly [HistoryItem, Format])[]) {
    using directory = temporaryDirectory();
    const feed = directory.writeLines(
      'feed.ndjson',
      lines.flatMap(([each, format]) => linesOf([each], format)),
    );
    const { halted, counts } = await replayInto(directory.at('data'), [feed]);
    return { reason: halted?.reason ?? null, counts, ids: dumpViews(directory.at('data')).last_update };
  }

  it('takes a repair after an update of format A, and each of the two again in either format', async () => {
    const { reason, counts, ids } = await replayed(
      [ALICE, 'scan'],
      [BOB, 'ledger-api'],
      [ALICE, 'ledger-api'],
      [BOB, 'scan'],
    );
    expect({ reason, ids }).toEqual({ reason: null, ids: ['0 | "s1" | "a"', '0 | "s1" | "b"'] });
    expect(counts).toMatchObject({ updates: 2, redelivered: 2 });
  });

  it('halts at another update of format A, whatever the format of those before it', async () => {
    const { reason } = await replayed([ALICE, 'ledger-api'], [BOB, 'scan']);
    expect(reason).toBe(
      `record_time: given "${LAST_TIME}", expected a time after ${LAST_TIME}, that of update a of this synchronizer`,
    );
  });
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
