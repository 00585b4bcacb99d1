import { beforeEach, describe, expect, it } from 'vitest';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { retryHalted } from '../../src/ingest/resolve-halt.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { ledgerCases } from '../support/views/outcome.ts';
import { type Format, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const directory = freshDirectory();
let data: string;
beforeEach(() => {
  data = directory.at('data');
  makeDataDirectory(data);
});

const fileOf = (text: string, format: Format = 'ledger-api'): string =>
  directory.writeLines('file.ndjson', linesOf(parseLedger(text), format));

/** Applies what a topic has from an offset on. */
function followTopic(text: string, from = 0): void {
  using writer = new ViewsWriter(data, WRITER_OPTIONS);
  writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
  writer.followSource({ identity: 'it', resumeTokens: new Map([['0', '0']]) });
  for (const [i, line] of linesOf(parseLedger(text), 'ledger-api').entries())
    writer.apply(decodeAlone({ lane: '0', offset: from + i, bytes: Buffer.from(line) }));
  writer.commit();
}

/** What a replay of the text says: why it is refused, or null where all of it was applied. */
async function replayed(text: string, batchEventsMax = 1, file = fileOf(text)): Promise<string | null> {
  try {
    const { halted } = await replayInto(data, [file], { batchEventsMax, chunkBytes: 300 });
    return halted && `halted at ${halted.offset}: ${halted.reason}`;
  } catch (error) {
    return (error as Error).message.replaceAll(`${directory.path}/`, '');
  }
}

const TOPIC = '00:01 =a : +a alice 10\n00:02 @s2 =b : +b bob 5\n00:05 =c : +c carol 1';
const BETWEEN = '00:06 =d : -a\n00:07 @s2 =e : +e eve 1';

describe('a file in a directory that follows a topic', () => {
  beforeEach(() => followTopic(TOPIC));

  it.each(
    ledgerCases(`
an update | 00:08 =f : +f fred 1 | record time 2025-02-12T00:08:00Z of synchronizer s1 & has it up to 2025-02-12T00:05:00Z
a later update of one of its synchronizers | 00:05 =c : +c carol 1 / 00:06 =d : -a / 00:08 @s2 =g : | record time 2025-02-12T00:08:00Z of synchronizer s2 & has it up to 2025-02-12T00:02:00Z
an update of a synchronizer that is not known | 00:01 @s3 =f : +f fred 1 | record time 2025-02-12T00:01:00Z of synchronizer s3 & has nothing of it
a checkpoint | checkpoint : @s1 00:31 / 00:31 =f : | record time 2025-02-12T00:31:00Z of synchronizer s1 & has it up to
a checkpoint that is behind it for one synchronizer only | checkpoint : @s1 00:04 ; @s2 00:31 | record time 2025-02-12T00:31:00Z of synchronizer s2 & has it up to
`),
  )(
    'is refused where it first has %s after what is applied, with nothing of that applied',
    async (_, ledger, wanted) => {
      const text = ledger.replaceAll(' / ', '\n');
      const [first, has] = wanted.split(' & ');
      const known = dumpViews(data);
      for (const batchEventsMax of [1, 100]) {
        const says = await replayed(text, batchEventsMax);
        expect(says).toContain(
          `file.ndjson begins with ${first} of migration 0, and this directory, which follows topic t, ${has}`,
        );
        expect(says).toContain('replay a file that begins at that time or before, or give another --data directory');
      }
      expect(dumpViews(data).snapshot).toEqual(known.snapshot);
      const before = text.split('\n').findIndex((line) => / =[fg] :/.test(line));
      expect(dumpViews(data).holding!.length).toBe(before === 2 ? 2 : 3);
      expect(await holdfast('replay', '--data', data, fileOf(text))).toMatchObject({ code: 2 });
    },
  );

  it('is refused with updates of a migration of which the topic brought nothing, and applied with its imports before them', async () => {
    const [imported, ...updates] = linesOf(parseLedger('import m1 : +a alice 10\n00:09 m1 :\n00:19 m1 @s2 :'), 'scan');
    const says = 'begins with updates of migration 1, and this directory, which follows topic t, has nothing of that';
    for (const batch of [1, 100]) {
      expect(await replayed('', batch, directory.writeLines('file.ndjson', updates))).toContain(says);
      expect(dumpViews(data).migration).toHaveLength(1);
    }
    for (const batch of [1, 100])
      expect(await replayed('', batch, directory.writeLines('file.ndjson', [imported!, ...updates]))).toBeNull();
    expect(dumpViews(data).migration).toHaveLength(2);
  });

  it.each([1, 100])(
    'is applied where it overlaps, and the topic then brings nothing twice (batches of %i)',
    async (batch) => {
      const text = `checkpoint : @s1 00:04 ; @s2 00:01\n00:05 =c : +c carol 1\n00:02 @s2 =b : +b bob 5\n${BETWEEN}\n00:21 =f : +f fred 1\n00:31 =g :`;
      expect(await replayed(text, batch)).toBeNull();
      expect(await replayed(text, batch)).toBeNull();
      followTopic(`${BETWEEN}\n00:21 =f : +f fred 1\n00:41 =h :`, 3);
      const file = directory.writeLines(
        'whole.ndjson',
        linesOf(parseLedger(`${TOPIC}\n${BETWEEN}\n00:21 =f : +f fred 1\n00:41 =h :`), 'scan'),
      );
      await replayInto(directory.at('whole'), [file]);
      expect(dumpViews(data).snapshot).toEqual(dumpViews(directory.at('whole')).snapshot);
      expect((await holdfast('verify', '--data', data)).stdout).toMatch(/^equal: /);
    },
  );

  it('continues where it was halted, by a retry and by a second replay', async () => {
    const text = '00:05 =c : +c carol 1\n00:06 =d : -a\n00:09 =f : +f fred 1\n00:11 =g : -f';
    expect(await replayed(`${text.replace('+f fred 1', '-nothing')}`)).toContain('halted at 3');
    expect(retryHalted(data, WRITER_OPTIONS).bad).toContain('never created');
    await holdfast('dead-letters', 'drop', '1', '--yes', '--data', data);
    expect(await replayed(text)).toBeNull();
  });
});

it('files are free before a topic has brought anything, and it must overlap with them then', async () => {
  followTopic('');
  expect(await replayed(TOPIC)).toBeNull();
  expect(await replayed('00:08 =f : +f fred 1')).toBeNull();
  expect(() => followTopic('00:09 =g :')).toThrow(/^possible gap/);
});
