import { expect, inject, it } from 'vitest';
import { dropHalted } from '../../../../src/ingest/resolve-halt.ts';
import { agreeingLedger, emptyRows, expectEqualToReplay, hasApplied, scanRows } from '../../../support/kafka/rows.ts';
import { serve, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { parseLedger } from '../../../support/ledger/parse-ledger.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../../../support/ledger/partitioned.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

/**
 * What a participant sends besides ordinary updates. A repair has the time of an earlier update, and so goes with one
 * partition.
 */
const REPAIRED = { synchronizers: 2, migrationId: 0, carriedOver: 60, importCreatesMax: 5, shares: { repair: 0.2 } };

it.each([
  { partitions: 1, format: 'ledger-api', lineOf: ledgerApiLine, changes: REPAIRED },
  { partitions: 3, format: 'scan', lineOf: scanLine, changes: { synchronizers: 3, migrations: 2 } },
])('the views of a topic equal a replay in merge order: $partitions partitions, $format', async (ledger) => {
  const { partitions, lineOf, changes } = ledger;
  const topic = await createTopic(address, { partitions });
  const items = agreeingLedger(7, { updates: 300, ...changes });
  const rows: PartitionedRow[] = intoPartitions(items, partitions, (item) => lineOf(item));
  const due = partitions === 1 ? rows : inMergeOrder(rows, partitions);
  expect(due.length).toBeGreaterThan(rows.length * 0.5);
  const half = Math.floor(rows.length / 2);
  await topic.send(rows.slice(0, half));
  {
    await using service = await serveTopic(topic, directory);
    await topic.send(rows.slice(half));
    await service.until('applied', () => hasApplied(service, due));
  }
  await expectEqualToReplay(directory, due);
});

it('a message that cannot be applied halts there, and after a drop the rest is applied', async () => {
  const rows = scanRows(12).slice(0, 200);
  const topic = await createTopic(address);
  const more = [{ partition: 0, value: '{"foo": 1}' }, { partition: 0, value: null }, ...rows.slice(120)];
  await topic.send([...rows.slice(0, 120), ...more]);
  {
    await using service = await serveTopic(topic, directory);
    await service.until('halted', async () => (await service.status()).phase === 'halted');
    const { halted, source } = await service.status();
    expect(halted).toMatchObject({ offset: 120, dead_letter: 1 });
    expect(source!.position).toEqual({ 0: 120 });
    expect((await service.readyz()).reasons.join()).toContain(`halted at topic ${topic.name}`);
  }
  await expectEqualToReplay(directory, rows.slice(0, 120));
  dropHalted(directory.at('views'), 1);
  {
    await using service = await serveTopic(topic, directory);
    await service.untilReady();
    const { source, counts } = await service.status();
    expect([source?.position, counts.ignored['null value']]).toEqual([{ 0: rows.length + 2 }, 1]);
  }
  await expectEqualToReplay(directory, rows);
});

it('the first offsets of a topic are shown, and stored before anything is applied: what waited and is removed is missed', async () => {
  const topic = await createTopic(address, { partitions: 2 });
  const waiting = parseLedger('01:00 @s1 : +a alice 100\n01:01 @s1 : +b alice 100\n01:02 @s1 : +c alice 100');
  await topic.send([...emptyRows(5, 0), ...waiting.map((item) => ({ partition: 1, value: scanLine(item) }))]);
  await topic.cut(0, 3);
  {
    await using service = await serveTopic(topic, directory);
    const lacking = [
      'partition 0 began at offset 3 when these views first saw it: what was before is not in them, unless files had it',
    ];
    const source = { position: { 0: 5, 1: 0 }, topic: { lacking, partitions: [{ first_offset: 3 }, {}] } };
    await expect.poll(async () => (await service.status()).source).toMatchObject(source);
    expect(service.log).toContainEqual({
      level: 'warn',
      message: `this topic begins late for these views: ${lacking}`,
    });
  }
  await topic.cut(1, 2);
  await using service = await serveTopic(topic, directory);
  await service.until('refused', async () => (await service.status()).phase === 'refused');
  const reasons = (await service.readyz()).reasons.join();
  expect(reasons).toMatch(/partition 1 .* continues at offset 0 .* removed everything before 2/);
});

const rows = scanRows(11).slice(0, 200);
const fileOf = (end: number): string[] => [
  directory.writeLines(
    'history.ndjson',
    rows.slice(0, end).map(({ value }) => value!),
  ),
];

it('a topic behind files is ready once it has shown an update that they have; it doubles nothing and misses nothing', async () => {
  const topic = await createTopic(address);
  {
    await using service = await serveTopic(topic, directory, { file: fileOf(120) });
    const reason = `not known yet to continue the files: topic ${topic.name} has shown no update that they have, and may begin after their end`;
    await service.until('not ready', async () => (await service.readyz()).reasons.includes(reason));
    await topic.send(rows.slice(80));
    await service.untilReady();
    const wanted = { source: { position: { 0: 120 } }, counts: { redelivered: 40 } };
    await expect.poll(service.status).toMatchObject(wanted);
  }
  await expectEqualToReplay(directory, rows);
});

it('a topic that does not meet the files is refused as a possible gap, until files meet it', async () => {
  const topic = await createTopic(address);
  await topic.send(rows.slice(140));
  const options = { data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name };
  {
    await using service = await serve({ ...options, file: fileOf(120) });
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    expect((await service.readyz()).reasons.join()).toMatch(/possible gap: the files end at .* sync-0/);
  }
  // Which of its synchronizers the topic has not shown yet is stored with them.
  await expectEqualToReplay(directory, rows.slice(0, 120), ['synchronizer']);
  {
    await using service = await serve({ ...options, file: fileOf(160) });
    await service.untilReady();
  }
  await expectEqualToReplay(directory, rows);
});
