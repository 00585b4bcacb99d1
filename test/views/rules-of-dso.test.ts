import { describe, expect, it } from 'vitest';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, ledgerCases, outcome } from '../support/views/outcome.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

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
