import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../src/ingest/replay-files.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { seedMark } from '../support/scan/active-contracts.ts';
import { ledgerCases, outcome } from '../support/views/outcome.ts';
import { type Format, linesOf, replayInto } from '../support/views/replayed.ts';

const NEVER_APPLIED =
  /the update is skipped as a redelivery, .*, and it archives a contract that is active, so it was /;

const DISORDER = ledgerCases(`
in the same interval | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 : -a
created half a second before | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:01:00.5 : -a
on one of two synchronizers in an interval | 00:01 @s2 : / 00:12 : +a alice 10 / 00:16 : +b bob 1 | 00:14 : -a
in a later interval | 00:01 : +a alice 10 / 00:11 : +b bob 1 / 00:23 : +c carol 1 | 00:22 : -a
that purges it | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 unassignment within : -a
among other events | 00:01 : +a alice 10 / 00:03 : +b bob 1 | 00:02 : +d dave 1 ; +e eve 1 ; -d ; -a
that is locked | 00:01 : +a alice 10 locked / 00:03 : +b bob 1 | 00:02 : -a
that is a round | 00:01 : +a alice 10 ; +r round 5 / 00:03 : +b bob 1 | 00:02 : -r
that was imported | import : +a alice 10 at 00:00 / 00:01 : +b bob 1 / 00:03 : +c carol 1 | 00:02 : -a
on one of two synchronizers | 00:01 : +a alice 10 / 00:11 @s2 : / 00:23 : +c carol 1 | 00:22 : -a
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
`);

describe('rule 1: an update that is behind the last one of its synchronizer', () => {
  it.each(DISORDER)('is disorder where it archives a contract that is active: %s', async (_, known, late) => {
    const before = known.replaceAll(' / ', '\n');
    for (const text of [`${before}\n${late}\n00:31 :`, [before, `${late}\n00:31 :`], [before, `${before}\n${late}`]]) {
      const formats: readonly Format[] = late.includes('within') ? ['scan', 'ledger-api'] : ['scan', 'acs-delta'];
      const { halted } = await outcome(text, { formats });
      expect(halted).toMatch(NEVER_APPLIED);
    }
  });

  it.each(KNOWN)('is a redelivery where the contract %s', async (_, ledger) => {
    const text = ledger.replaceAll(' / ', '\n');
    const updates = text.split('\n').length;
    for (const again of [`${text}\n${text}`, [text, text], [text, `${text}\n00:31 :`]]) {
      const { halted, counts } = await outcome(again);
      expect(halted).toBeNull();
      expect(counts.redelivered).toBe(updates);
    }
  });

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
    ['behind one that may have been applied', ['+z alice 2', '+x xavier 1']],
  ])('is bad where nothing of its file before it is known: %s', async (_, creates) => {
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

  it.each([
    ['one before it is known', 'import m1 : +b alice 10\nimport m1 : +x xavier 1\n00:31 m1 =d :', 2],
    ['an update before it is', `${BEGUN}\nimport m1 : +x xavier 1\n00:31 m1 =d :`, 1],
  ])('is skipped in a file of which %s, whatever it is itself', async (_, text, importsLate) => {
    expect(await lastReplay(BEGUN, text)).toMatchObject({ halted: null, counts: { importsLate } });
  });

  it('is skipped in a migration that began with a seed, which does not say what was active before', async () => {
    using directory = temporaryDirectory();
    const mark = seedMark(1, '2025-02-12T00:05:00Z');
    const all = linesOf(parseLedger('import m1 : +x xavier 1\n00:01 m1 : -x\n00:11 m1 : +a alice 10'), 'scan');
    await replayInto(directory.at('data'), [directory.writeLines('first.ndjson', [mark, all[2]!])]);
    const whole = directory.writeLines('whole.ndjson', all);
    expect(await replayInto(directory.at('data'), [whole])).toMatchObject({
      halted: null,
      counts: { importsLate: 1, redelivered: 2 },
    });
  });
});
