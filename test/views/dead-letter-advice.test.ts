import { describe, expect, it } from 'vitest';
import { FAULT_CODES } from '../../src/ledger/bad-update.ts';
import {
  ADVICE,
  type Advice,
  type AdviceWords,
  commandOn,
  DECIDED,
  LIST,
  nextText,
  plainCommand,
} from '../../src/views/dead-letter-advice.ts';
import {
  DEAD_LETTER_KINDS,
  type DeadLetterCode,
  type DeadLetterFacts,
  type Decision,
} from '../../src/views/store/dead-letter-store.ts';
import { listedCommands } from '../support/program/command.ts';
import { HALTING_DEAD_LETTER } from '../support/views/dead-letter.ts';

const CODES = Object.keys(ADVICE) as DeadLetterCode[];
function deadLetter(code: DeadLetterCode, more: Partial<DeadLetterFacts> = {}): DeadLetterFacts {
  return { ...HALTING_DEAD_LETTER, kind: DEAD_LETTER_KINDS[code], code, ...more };
}

/** Every advice of the table. */
const ALL: readonly Advice[] = [
  ...Object.values(ADVICE).flatMap(({ halted, comesFrom, dropped }) => [
    halted,
    ...Object.values(comesFrom ?? {}).flatMap((advice) => (advice === undefined ? [] : [advice])),
    ...(dropped === undefined ? [] : [dropped]),
  ]),
  ...Object.values(DECIDED),
];

describe('advice', () => {
  it('is there for each code that a message may have, and for no other', () => {
    expect(CODES.sort()).toEqual([...FAULT_CODES, 'create_left_out', 'broken_container'].sort());
  });

  it('names commands that there are, with the arguments that they take', async () => {
    const known = (await listedCommands()).map(({ usage }) => usage);
    const commands = new Set([LIST]);
    const print = (words: string): string => {
      commands.add(words.replace(' 7', ' <ID>'));
      return '';
    };
    for (const code of CODES) nextText(deadLetter(code), print);
    expect(commands.size).toBe(3);
    expect([...commands].filter((command) => !known.includes(command))).toEqual([]);
  });

  it('names commands only where the data directory can be named too', () => {
    const unnamed: AdviceWords = { source: '', retry: '', drop: '' };
    expect(ALL.map((advice) => advice(unnamed)).filter((text) => /holdfast|`/.test(text))).toEqual([]);
  });

  it('ends a halt by dropping the message, whatever is wrong with it', () => {
    for (const code of CODES)
      expect(nextText(deadLetter(code), plainCommand)).toContain('`holdfast dead-letters drop 7`');
  });

  it('has no command that retries where only the start of the bytes is kept, or none', () => {
    const retried = CODES.filter((code) =>
      nextText(deadLetter(code), plainCommand).includes('`holdfast dead-letters retry`'),
    );
    expect(CODES.filter((code) => !retried.includes(code))).toEqual([
      'ahead_of_clock',
      'broken_batch',
      'broken_container',
      'overlong',
      'overtaken',
    ]);
  });

  it('names the data directory as a shell takes it', () => {
    const text = nextText(deadLetter('overlong'), commandOn("/srv/it's"));
    expect(text).toContain("`holdfast dead-letters drop 7 --data '/srv/it'\\''s'`");
  });

  it.each<[DeadLetterCode, Partial<DeadLetterFacts>, string | null]>([
    ['cut_off', { offset: 9 }, 'The line looks cut off: '],
    ['cut_off', { sourceKind: 'topic' }, null],
    ['not_json', {}, 'The file may be no feed: '],
    ['not_a_feed', { offset: 2 }, null],
    ['not_utf8', { sourceKind: 'topic' }, null],
    ['before_first', { offset: 9 }, 'The files came in another order: '],
    ['before_first', { sourceKind: 'topic', source: 'topic t' }, 'topic t begins before what was read first: '],
    ['not_active', { sourceKind: 'topic', offset: 9 }, 'The feed may start in the middle, '],
    ['overtaken', { sourceKind: 'topic' }, 'Its partition was idle for longer than the others wait for it (--kafka-'],
    ['overtaken', { sourceKind: 'network' }, null],
    ['create_left_out', {}, null],
    ['not_active', { decision: 'quarantined' }, null],
  ])('of %s, %o, says after what to do now that %s', (code, more, hint) => {
    const text = nextText(deadLetter(code, more), plainCommand);
    if (hint === null) expect(text).not.toMatch(/\. The |: then /);
    else expect(text).toContain(`. ${hint}`);
  });

  it.each<[Decision, DeadLetterCode, string]>([
    ['quarantined', 'bad_field', 'nothing: the feed continued without it'],
    ['dropped', 'bad_field', 'nothing: it was dropped'],
    ['dropped', 'broken_container', 'nothing: the halt has ended; read standard input again'],
    ['dropped', 'broken_batch', 'nothing: ingest continues behind the batch'],
    ['applied', 'record_time_gap', 'nothing: it was applied at its own place'],
    ['resolved', 'ahead_of_clock', 'nothing: the halt ended by itself'],
  ])('of what is %s (%s) says that nothing is left to do', (decision, code, says) => {
    expect(nextText(deadLetter(code, { decision, source: '-' }), plainCommand)).toContain(says);
  });
});
