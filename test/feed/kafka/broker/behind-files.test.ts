import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type RunningService, serve } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { parseLedger } from '../../../support/ledger/parse-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../support/program/temporary-directory.ts';
import { type Format, linesOf, replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const address = inject('kafka').addresses.plain;

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

async function topicOf(text: string, format: Format): Promise<string> {
  const topic = await createTopic(address);
  await topic.send(linesOf(parseLedger(text), format).map((value) => ({ partition: 0, value })));
  return topic.name;
}

const fileOf = (text: string, format: Format): string =>
  directory.writeLines('history', linesOf(parseLedger(text), format));

const serveBehind = (file: string, topic: string, options: object = {}): Promise<RunningService> =>
  serve({ data: directory.at('views'), file: [file], kafkaBrokers: address, kafkaTopic: topic, ...options });

describe('a topic behind files', () => {
  it('halts at what lies before the first update of the files, and says that it begins before them', async () => {
    const file = fileOf('00:11 =b : +b bob 5\n00:21 =c : +c carol 1', 'scan');
    const topic = await topicOf('00:01 =a : +a alice 10\n00:11 =b : +b bob 5\n00:31 =d : -b', 'scan');
    for (let start = 0; start < 2; start++) {
      await using service = await serveBehind(file, topic);
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      expect((await service.status()).halted).toMatchObject({ kind: 'update', offset: 0 });
      const [reason] = (await service.readyz()).reasons;
      expect(reason).toContain(
        'a time from 2025-02-12T00:11:00Z on, that of the first update known of this synchroniz',
      );
      expect(reason).toContain(
        `. topic ${topic} begins before what was read first: then start a new directory with all of`,
      );
    }
  });

  it('is not read as migration 0 without a word where the files are of a later one', async () => {
    const file = fileOf('00:01 m3 =a : +a alice 10\n00:11 m3 =b : +b bob 5', 'scan');
    const text = '00:11 m3 =b : +b bob 5\n00:21 m3 =c : -b';
    const topic = await topicOf(text, 'ledger-api');
    await replayInto(directory.at('files'), [file]);
    for (let start = 0; start < 2; start++) {
      await using service = await serveBehind(file, topic);
      await service.until('refused', async () => (await service.status()).phase === 'refused');
      const { ready, reasons } = await service.readyz();
      expect({ ready, reasons }).toEqual({
        ready: false,
        reasons: [
          expect.stringMatching(/^--migration-id is required: .* of migration 3; give the id of the migration/),
        ],
      });
      expect(dumpViews(directory.at('views')).migration).toEqual(dumpViews(directory.at('files')).migration);
    }
    {
      await using service = await serveBehind(file, topic, { migrationId: '3' });
      await service.untilReady();
    }
    // It is stored by now.
    await using service = await serveBehind(file, topic);
    await service.untilReady();
    await replayInto(directory.at('whole'), [fileOf(`00:01 m3 =a : +a alice 10\n${text}`, 'scan')]);
    expect(dumpViews(directory.at('views')).snapshot).toEqual(dumpViews(directory.at('whole')).snapshot);
  });
});
