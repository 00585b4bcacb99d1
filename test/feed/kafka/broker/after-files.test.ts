import { describe, expect, inject, it } from 'vitest';
import { expectEqualToReplay, scanRows } from '../../../support/kafka/rows.ts';
import { type RunningService, serve } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { parseLedger } from '../../../support/ledger/parse-ledger.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { type Format, linesOf, replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

async function topicOf(text: string, format: Format): Promise<string> {
  const topic = await createTopic(address);
  await topic.send(linesOf(parseLedger(text), format).map((value) => ({ partition: 0, value })));
  return topic.name;
}

const fileOf = (text: string, format: Format): string =>
  directory.writeLines('history', linesOf(parseLedger(text), format));

const serveBehind = (file: string | null, topic: string, options: object = {}): Promise<RunningService> =>
  serve({
    ...{ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic },
    ...(file === null ? {} : { file: [file] }),
    ...options,
  });

describe('a topic after files', () => {
  it('halts at what comes before the first update of the files, and says that it begins before them', async () => {
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

  it('is not silently read as migration 0 where the files are of a later one', async () => {
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

describe('a history file first, the topic after', () => {
  const rows = scanRows(11);
  const cut = (share: number): number => Math.floor(rows.length * share);
  const written = (part: readonly Row[]): string =>
    directory.writeLines(
      'history.ndjson',
      part.map((row) => row.value!),
    );

  it('that overlap: nothing is doubled and nothing is missed', async () => {
    const topic = await createTopic(address);
    await topic.send(rows.slice(cut(0.4)));
    {
      await using service = await serveBehind(written(rows.slice(0, cut(0.6))), topic.name);
      await service.untilReady();
      const { counts, source } = await service.status();
      expect(counts.redelivered).toBe(cut(0.6) - cut(0.4));
      expect(source!.position).toEqual({ 0: rows.length - cut(0.4) });
    }
    await expectEqualToReplay(directory, rows);
  });

  it('that do not meet: refused as a possible gap, also when started again, and nothing of the topic is applied', async () => {
    const topic = await createTopic(address);
    await topic.send(rows.slice(cut(0.7)));
    for (const file of [written(rows.slice(0, cut(0.6))), null]) {
      await using service = await serveBehind(file, topic.name);
      await service.until('refused', async () => (await service.status()).phase === 'refused');
      const { ready, reasons } = await service.readyz();
      expect([ready, reasons.join()]).toEqual([
        false,
        expect.stringMatching(/possible gap: the files end at .* sync-0/),
      ]);
      expect(service.log).toContainEqual({ level: 'error', message: expect.stringContaining('possible gap') });
    }
    // Which of its synchronizers the topic has not shown yet is stored with them.
    await expectEqualToReplay(directory, rows.slice(0, cut(0.6)), ['synchronizer']);
    {
      // As the refusal advises.
      await using service = await serveBehind(written(rows.slice(0, cut(0.8))), topic.name);
      await service.untilReady();
    }
    await expectEqualToReplay(directory, rows);
  });

  it('that is empty: not ready before it has shown anything of theirs', async () => {
    const topic = await createTopic(address);
    await using service = await serveBehind(written(rows.slice(0, 20)), topic.name);
    const reason = `not known yet to continue the files: topic ${topic.name} has shown no update that they have, and may begin after their end`;
    await service.until('not ready', async () => (await service.readyz()).reasons.includes(reason));
    await topic.send(rows.slice(10));
    await service.untilReady();
  });

  it('that begins with a checkpoint: nothing is sealed on its word before the two have met', async () => {
    const topic = await createTopic(address);
    const quiet = (second: number): string => emptyUpdate('s', second);
    const synchronizerTimes = [{ synchronizerId: 's', recordTime: '2025-01-01T06:00:00Z' }];
    const checkpoint = JSON.stringify({ update: { OffsetCheckpoint: { value: { offset: 9, synchronizerTimes } } } });
    await topic.send([{ partition: 0, value: checkpoint }]);
    const file = directory.writeLines('history.ndjson', [quiet(0), quiet(3_600)]);
    await using service = await serveBehind(file, topic.name);
    await service.until('read', async () => (await service.status()).source?.position['0'] === 1);
    await replayInto(directory.at('expected'), [file]);
    const { snapshot } = dumpViews(directory.at('expected'));
    expect(dumpViews(directory.at('views')).snapshot).toEqual(snapshot);
    await topic.send([{ partition: 0, value: quiet(30_000) }]);
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    expect((await service.readyz()).reasons.join()).toContain('possible gap');
    expect(dumpViews(directory.at('views')).snapshot).toEqual(snapshot);
  });
});

describe('a file after the topic', () => {
  const rows = scanRows(12);
  const lines = rows.map((row) => row.value!);
  const at = (share: number): number => Math.floor(rows.length * share);

  it('is refused where it leaves a gap, and applied where it overlaps; the topic continues at its own place', async () => {
    const topic = await createTopic(address);
    await topic.send(rows.slice(0, at(0.4)));
    {
      await using service = await serveBehind(null, topic.name);
      await service.untilReady();
    }
    const gap = directory.writeLines('gap.ndjson', lines.slice(at(0.6)));
    const data = directory.at('views');
    const refused = {
      code: 2,
      stderr: expect.stringContaining(`and this directory, which follows topic ${topic.name}, has`),
    };
    expect(await holdfast('replay', gap, '--data', data)).toMatchObject(refused);
    expect(await holdfast('serve', '--file', gap, '--port', '0', '--data', data)).toMatchObject(refused);
    await expectEqualToReplay(directory, rows.slice(0, at(0.4)));
    const overlap = directory.writeLines('overlap.ndjson', lines.slice(at(0.1), at(0.8)));
    expect(await holdfast('replay', overlap, '--data', data)).toMatchObject({ code: 0 });
    await topic.send(rows.slice(at(0.4)));
    {
      await using service = await serveBehind(null, topic.name);
      await service.untilReady();
      expect((await service.status()).source!.position).toEqual({ 0: rows.length });
    }
    await expectEqualToReplay(directory, rows);
  });
});
