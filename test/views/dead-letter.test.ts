import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { createStatusReporter, type IngestStatus, type StatusReporter } from '../../src/ingest/ingest-status.ts';
import { FAULT_CODES } from '../../src/ledger/bad-update.ts';
import { ADVICE, commandOn, LIST, nextText, plainCommand } from '../../src/views/dead-letter-advice.ts';
import {
  type DeadLetterCode,
  type DeadLetterFacts,
  type Decision,
  kindOf,
  openDeadLetters,
} from '../../src/views/store/dead-letter-store.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { clockTime, parseLedger } from '../support/ledger/parse-ledger.ts';
import { listedCommands } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

/** The second message of a file, which a field makes bad and which halts the ingest. */
const HALTING_DEAD_LETTER: DeadLetterFacts = {
  id: 7,
  kind: 'update',
  code: 'bad_field',
  decision: 'halted',
  source: 'feed.ndjson',
  sourceKind: 'file',
  lane: 'file',
  offset: 1,
  resumeToken: '2',
  location: '{"message":1}',
  migrationId: null,
  updateId: null,
  recordTime: null,
  field: 'message',
  given: '1',
  expected: '2',
  reason: 'message: given 1, expected 2',
};

const CODES = Object.keys(ADVICE) as DeadLetterCode[];
const next = (code: DeadLetterCode, more: Partial<DeadLetterFacts> = {}, print = plainCommand): string =>
  nextText({ ...HALTING_DEAD_LETTER, kind: kindOf(code), code, ...more }, print);

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

const MINUTE_US = 60_000_000;
const OPTIONS = { recordTimeGapMaxUs: 60 * MINUTE_US, recordTimeAheadMaxUs: 0, now: () => clockTime('12:00') };

/** Each of `text` as a line of its own; what is no line of `parseLedger` is written as it is. */
type Feed = readonly (string | Buffer)[];

const FIRST = linesOf(parseLedger('00:01 : +a alice 10'), 'scan')[0]!;
const LEDGERS: readonly (readonly [DeadLetterCode, string])[] = [
  ['other_content', '00:01 : +a alice 10\n00:02 : +a alice 11'],
  ['not_active', '00:01 : +a alice 10\n00:02 : -b'],
  ['ahead_of_clock', '11:55 : +a alice 10\n12:01 : -a'],
  ['record_time_gap', '00:01 : +a alice 10\n01:02 : -a'],
];
const LINES: readonly (readonly [DeadLetterCode, Feed])[] = [
  ['bad_field', [FIRST.replace(/"record_time":"[^"]*"/, '"record_time":"never"')]],
  ['cut_off', [FIRST.slice(0, 100)]],
  ['not_utf8', [Buffer.from([0x7b, 0xff, 0x7d])]],
  ['not_json', ['{"update_id" 1}']],
  ['not_a_feed', ['{"foo":1}']],
  ['overlong', [`{"update_id":"${'x'.repeat(17 * 2 ** 20)}"}`]],
  ['broken_container', [`[${FIRST},`]],
  [
    'before_first',
    [...linesOf(parseLedger('00:05 : +a alice 10'), 'scan'), ...linesOf(parseLedger('00:01 : +b bob 10'), 'scan')],
  ],
  [
    'half_seed',
    [...linesOf(parseLedger('import : +a alice 10'), 'scan').map((line) => line.replace('{', '{"seed":true,')), FIRST],
  ],
  [
    'disorder',
    [
      ...linesOf(parseLedger('00:05 : +a alice 10'), 'scan'),
      FIRST.replace(/00:01:00/, '00:05:00').replace('"u1"', '"u9"'),
    ],
  ],
];

async function codesOf(feed: Feed, onBadUpdate: 'halt' | 'quarantine' = 'halt'): Promise<readonly DeadLetterCode[]> {
  using folder = temporaryDirectory();
  // A file that begins with no update is refused where nothing was applied yet.
  const topology = '{"update":{"TopologyTransaction":{"value":{}}}}';
  const lines = String(feed[0]).startsWith('[') ? feed : [topology, ...feed];
  await replayInto(folder.at('data'), [folder.writeLines('feed', [...lines])], { ...OPTIONS, onBadUpdate });
  using deadLetters = openDeadLetters(folder.at('data'));
  return deadLetters.list().map(({ code }) => code);
}

it.each(LEDGERS)('%s is the code of a dead letter after: %s', async (code, text) => {
  expect(await codesOf(linesOf(parseLedger(text), 'scan'))).toEqual([code]);
});

it.each(LINES)('%s is the code of a dead letter of such bytes', async (code, feed) => {
  expect(await codesOf(feed)).toEqual([code]);
});

it('says of the archive of what a dead letter would have created that it was left out', async () => {
  const [first = '', ...later] = linesOf(parseLedger('00:01 : +a alice 10\n00:02 : -a'), 'scan');
  const bad = first.replace(/"initialAmount":"[^"]*"/, '"initialAmount":"much"');
  using prepared = vi.spyOn(Database.prototype, 'prepare');
  expect(await codesOf([bad, ...later], 'quarantine')).toEqual(['bad_field', 'create_left_out']);
  // Not again behind each of them.
  expect(prepared.mock.calls.filter(([sql]) => sql.startsWith('SELECT h FROM counterfeit UNION'))).toHaveLength(1);
});

const BYTES = Buffer.alloc(1_000);
const { id: _, ...FACTS } = HALTING_DEAD_LETTER;
const DEAD_LETTER = { ...FACTS, sha256: Buffer.alloc(32), length: BYTES.length, bytes: BYTES, createdAt: 0 };

it('counts dead letters for each status, whatever is halted, decided or undone since', () => {
  using folder = temporaryDirectory();
  using writer = new ViewsWriter(folder.path, WRITER_OPTIONS);
  const leave = (decision: Decision, count = 1): void => {
    for (let i = 0; i < count; i++) writer.deadLetters.insert({ ...DEAD_LETTER, decision });
  };
  leave('quarantined', 20);
  leave('halted');
  const { status, last } = statusOf(writer);
  const reported = (change: Parameters<typeof status.report>[0] = {}): object => {
    status.report(change);
    return last();
  };
  expect(reported({ halted: writer.deadLetters.halted() })).toEqual({ quarantined: 20, halted: 1 });
  writer.resolve(status.state.halted!, 'dropped', { moveOn: false });
  leave('quarantined', 10);
  expect(reported({ halted: null })).toEqual({ quarantined: 30, dropped: 1 });
  leave('halted');
  for (let i = 0; i < 2; i++) expect(reported()).toEqual({ quarantined: 30, dropped: 1, halted: 1 });
  const undone = writer.db.transaction(() => {
    writer.deadLetters.decide(writer.deadLetters.halted()!, 'applied');
    leave('quarantined', 10);
    throw new Error('undone');
  });
  expect(undone).toThrow('undone');
  expect(reported()).toEqual({ quarantined: 30, dropped: 1, halted: 1 });
  const again = statusOf(writer);
  again.status.report({});
  expect(again.last()).toEqual({ quarantined: 30, dropped: 1, halted: 1 });
});

function statusOf(writer: ViewsWriter): { readonly status: StatusReporter; readonly last: () => object } {
  let deadLetters: IngestStatus['deadLetters'] = {};
  const status = createStatusReporter(writer, (reported) => {
    ({ deadLetters } = reported);
  });
  return { status, last: () => deadLetters };
}

/** PRAGMA synchronous: what a commit of the feed waits for, and what one of a person waits for. */
const [NORMAL, FULL] = [1, 2];

describe('what a person decides', () => {
  it('is on disk before it is answered, and the feed is not slowed by that', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const [first = '', second = ''] = linesOf(parseLedger('00:01 : +a alice 10\n00:12 : -a'), 'scan');
    await replayInto(data, [directory.writeLines('feed.ndjson', [first, '{"foo":1}'])]);
    const commits: unknown[] = [];
    using writer = new ViewsWriter(data, WRITER_OPTIONS);
    const { db } = writer;
    const transaction = db.transaction.bind(db);
    vi.spyOn(db, 'transaction').mockImplementation((body) => {
      commits.push(db.pragma('synchronous', { simple: true }));
      return transaction(body);
    });
    const committed = (): unknown[] => commits.splice(0);
    const message = (offset: number, line: string) => decodeAlone({ lane: 'file', offset, bytes: Buffer.from(line) });

    writer.beginSource({ name: 'feed.ndjson', kind: FILE_KIND });
    writer.resolve(writer.deadLetters.halted()!, 'dropped', { moveOn: true });
    expect(committed().at(-1)).toBe(FULL);
    expect(writer.apply(message(3, second))).toEqual({ done: true });
    writer.commit();
    expect(committed()).toEqual([NORMAL]);
    expect(writer.apply(message(4, '{"foo":2}'))).toMatchObject({ done: false });
    expect(committed()).toEqual([NORMAL]);
    const halted = writer.deadLetters.halted()!;
    expect(writer.retry(halted, message(4, '{"foo":2}'))?.field).toBe('message');
    expect(writer.deadLetters.halted()).toEqual(halted);
    committed();
    const third = second
      .replace('"update_id":"', '"update_id":"00')
      .replace('00:12:00', '00:13:00')
      .replace(/"events_by_id":.*$/, '"root_event_ids":[],"events_by_id":{}}');
    expect(writer.retry(halted, message(4, third))).toBeNull();
    expect(committed().at(-1)).toBe(FULL);
    expect(writer.deadLetters.halted()).toBeNull();
    writer.force({ maySeal: true });
    expect(committed().at(-1)).toBe(FULL);
    writer.commit();
    expect(committed()).toEqual([NORMAL]);
  });
});
