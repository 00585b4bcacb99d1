import { expect, it } from 'vitest';
import { type DeadLetterCode, openDeadLetters } from '../../src/views/store/dead-letter-store.ts';
import { clockTime, parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

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
  expect(await codesOf([bad, ...later], 'quarantine')).toEqual(['bad_field', 'create_left_out']);
});
