import { expect, inject, it } from 'vitest';
import { expectEqualToReplay, scanRows } from '../../../support/kafka/rows.ts';
import { type RunningService, serve } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { parseLedger } from '../../../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { linesOf } from '../../../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

const rows = scanRows(11);
const cut = (share: number): number => Math.floor(rows.length * share);
const fileOf = (part: readonly Row[]): string =>
  directory.writeLines(
    'history.ndjson',
    part.map(({ value }) => value!),
  );

const serveBehind = (file: string | null, topic: string, options: object = {}): Promise<RunningService> =>
  serve({
    ...{ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic },
    ...(file === null ? {} : { file: [file] }),
    ...options,
  });

it('a topic that overlaps with files doubles nothing and misses nothing', async () => {
  const topic = await createTopic(address);
  await topic.send(rows.slice(cut(0.4)));
  {
    await using service = await serveBehind(fileOf(rows.slice(0, cut(0.6))), topic.name);
    await service.untilReady();
    const { counts, source } = await service.status();
    expect(counts.redelivered).toBe(cut(0.6) - cut(0.4));
    expect(source!.position).toEqual({ 0: rows.length - cut(0.4) });
  }
  await expectEqualToReplay(directory, rows);
});

it('a topic that does not meet the files is refused as a possible gap, also when started again, until files meet it', async () => {
  const topic = await createTopic(address);
  await topic.send(rows.slice(cut(0.7)));
  for (const file of [fileOf(rows.slice(0, cut(0.6))), null]) {
    await using service = await serveBehind(file, topic.name);
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    expect((await service.readyz()).reasons.join()).toMatch(/possible gap: the files end at .* sync-0/);
    expect(service.log).toContainEqual({ level: 'error', message: expect.stringContaining('possible gap') });
  }
  // Which of its synchronizers the topic has not shown yet is stored with them.
  await expectEqualToReplay(directory, rows.slice(0, cut(0.6)), ['synchronizer']);
  {
    await using service = await serveBehind(fileOf(rows.slice(0, cut(0.8))), topic.name);
    await service.untilReady();
  }
  await expectEqualToReplay(directory, rows);
});

it('a topic that is empty is not ready before it has shown an update that the files have', async () => {
  const topic = await createTopic(address);
  await using service = await serveBehind(fileOf(rows.slice(0, 20)), topic.name);
  const reason = `not known yet to continue the files: topic ${topic.name} has shown no update that they have, and may begin after their end`;
  await service.until('not ready', async () => (await service.readyz()).reasons.includes(reason));
  await topic.send(rows.slice(10));
  await service.untilReady();
});

it('a topic that names no migration wants --migration-id behind files of a later one, which is stored', async () => {
  const text = '00:11 m3 =b : +b bob 5\n00:21 m3 =c : -b';
  const lines = (of: string, format: 'scan' | 'ledger-api') => linesOf(parseLedger(of), format);
  const file = directory.writeLines(
    'history.ndjson',
    lines(`00:01 m3 =a : +a alice 10\n${text.split('\n')[0]}`, 'scan'),
  );
  const topic = await createTopic(address);
  await topic.send(lines(text, 'ledger-api').map((value) => ({ partition: 0, value })));
  {
    await using service = await serveBehind(file, topic.name);
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    const reason = expect.stringMatching(
      /^--migration-id is required: .* of migration 3; give the id of the migration/,
    );
    expect(await service.readyz()).toMatchObject({ ready: false, reasons: [reason] });
  }
  for (const options of [{ migrationId: '3' }, {}]) {
    await using service = await serveBehind(file, topic.name, options);
    await service.untilReady();
  }
});
