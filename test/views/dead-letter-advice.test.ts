import { describe, expect, it } from 'vitest';
import { FAULT_CODES } from '../../src/ledger/bad-update.ts';
import { ADVICE, commandOn, LIST, nextText, plainCommand } from '../../src/views/dead-letter-advice.ts';
import {
  DEAD_LETTER_KINDS,
  type DeadLetterCode,
  type DeadLetterFacts,
  type Decision,
} from '../../src/views/store/dead-letter-store.ts';
import { listedCommands } from '../support/program/command.ts';
import { HALTING_DEAD_LETTER } from '../support/views/dead-letter.ts';

const CODES = Object.keys(ADVICE) as DeadLetterCode[];
const next = (code: DeadLetterCode, more: Partial<DeadLetterFacts> = {}, print = plainCommand): string =>
  nextText({ ...HALTING_DEAD_LETTER, kind: DEAD_LETTER_KINDS[code], code, ...more }, print);

describe('what to do about a dead letter', () => {
  it('is known for each code that a message may have, and for no other', () => {
    expect(CODES.sort()).toEqual([...FAULT_CODES, 'create_left_out', 'broken_container'].sort());
  });

  it('names commands that there are, and drops the message whatever is wrong with it', async () => {
    const known = (await listedCommands()).map(({ usage }) => usage);
    const commands = new Set([LIST]);
    for (const code of CODES) {
      const text = next(code, {}, (words) => {
        commands.add(words.replace(' 7', ' <ID>'));
        return `\`${words}\``;
      });
      expect(text).toContain('`dead-letters drop 7`');
    }
    expect(commands.size).toBe(3);
    expect([...commands].filter((command) => !known.includes(command))).toEqual([]);
  });

  it('is no retry where only the start of the bytes is kept, or none', () => {
    expect(CODES.filter((code) => !next(code).includes('`holdfast dead-letters retry`'))).toEqual([
      'ahead_of_clock',
      'broken_batch',
      'broken_container',
      'overlong',
      'overtaken',
    ]);
  });

  it('names the data directory as a shell takes it', () => {
    const text = next('overlong', {}, commandOn("/srv/it's"));
    expect(text).toContain("`holdfast dead-letters drop 7 --data '/srv/it'\\''s'`");
  });

  it.each<[DeadLetterCode, Partial<DeadLetterFacts>, string | null]>([
    ['cut_off', { offset: 9 }, 'The line looks cut off: '],
    ['cut_off', { sourceKind: 'topic' }, null],
    ['not_json', {}, 'The file may be no feed: '],
    ['not_a_feed', { offset: 2 }, null],
    ['before_first', { offset: 9 }, 'The files came in another order: '],
    ['before_first', { sourceKind: 'topic', source: 'topic t' }, 'topic t begins before what was read first: '],
    ['not_active', { sourceKind: 'topic', offset: 9 }, 'The feed may start in the middle, '],
    ['overtaken', { sourceKind: 'topic' }, 'Its partition was idle for longer than the others wait for it (--kafka-'],
    ['create_left_out', {}, null],
    ['not_active', { decision: 'quarantined' }, null],
  ])('of %s, %o, has the usual cause %s', (code, more, hint) => {
    if (hint === null) expect(next(code, more)).not.toMatch(/\. The |: then /);
    else expect(next(code, more)).toContain(`. ${hint}`);
  });

  it.each<[Decision, DeadLetterCode, string]>([
    ['quarantined', 'bad_field', 'nothing: the feed continued without it'],
    ['dropped', 'bad_field', 'nothing: it was dropped'],
    ['dropped', 'broken_container', 'nothing: the halt has ended; read standard input again'],
    ['dropped', 'broken_batch', 'nothing: ingest continues behind the batch'],
    ['applied', 'record_time_gap', 'nothing: it was applied at its location'],
    ['resolved', 'ahead_of_clock', 'nothing: the halt ended by itself'],
  ])('that is %s (%s) is nothing', (decision, code, says) => {
    expect(next(code, { decision, source: '-' })).toContain(says);
  });
});
