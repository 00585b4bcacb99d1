import { describe, expect, inject, it } from 'vitest';
import { dropHalted } from '../../../../src/ingest/resolve-halt.ts';
import { agreeingLedger, expectEqualToReplay, hasApplied, scanRows } from '../../../support/kafka/rows.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../../../support/ledger/partitioned.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

/**
 * What a participant sends besides ordinary updates. A repair has the time of an earlier update, and so goes with one
 * partition.
 */
const REPAIRED = { synchronizers: 2, migrationId: 0, carriedOver: 60, importCreatesMax: 5, shares: { repair: 0.2 } };

describe('the views of a topic', () => {
  it.each([
    { partitions: 1, format: 'scan', lineOf: scanLine, changes: { synchronizers: 1, migrations: 2 } },
    { partitions: 3, format: 'scan', lineOf: scanLine, changes: { synchronizers: 3, migrations: 2 } },
    { partitions: 1, format: 'ledger-api', lineOf: ledgerApiLine, changes: REPAIRED },
    {
      partitions: 3,
      format: 'ledger-api',
      lineOf: ledgerApiLine,
      changes: { ...REPAIRED, shares: {}, synchronizers: 5 },
    },
    { partitions: 12, format: 'ledger-api', lineOf: ledgerApiLine, changes: { synchronizers: 12, migrationId: 0 } },
  ])('equal a replay in merge order: $partitions partitions, $format', async ({ partitions, lineOf, changes }) => {
    const topic = await createTopic(address, { partitions });
    const items = agreeingLedger(7, { updates: 1_000, ...changes });
    const rows: PartitionedRow[] = intoPartitions(items, partitions, (item) => lineOf(item));
    const due = partitions === 1 ? rows : inMergeOrder(rows, partitions);
    expect(due.length).toBeGreaterThan(rows.length * 0.5);
    await topic.send(rows);
    {
      await using service = await serveTopic(topic, directory);
      await service.until('applied', () => hasApplied(service, due));
    }
    await expectEqualToReplay(directory, due);
  });

  it('are the same in two directories', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    const rows = intoPartitions(agreeingLedger(8, { synchronizers: 3 }), 3, scanLine);
    const due = inMergeOrder(rows, 3);
    const half = Math.floor(rows.length / 2);
    await topic.send(rows.slice(0, half));
    {
      await using first = await serveTopic(topic, directory);
      await topic.send(rows.slice(half));
      await using second = await serveTopic(topic, directory, { data: directory.at('second') });
      await first.until('applied', () => hasApplied(first, due));
      await second.until('applied', () => hasApplied(second, due));
    }
    expect(dumpViews(directory.at('second'))).toEqual(dumpViews(directory.at('views')));
    await expectEqualToReplay(directory, due);
  });

  it('ignore tombstones and count them', async () => {
    const topic = await createTopic(address);
    const rows = scanRows(9);
    await topic.send([...rows.slice(0, 50), { partition: 0, value: null }, ...rows.slice(50)]);
    {
      await using service = await serveTopic(topic, directory);
      await service.untilReady();
      expect((await service.status()).counts.ignored['null value']).toBe(1);
    }
    await expectEqualToReplay(directory, rows);
  });
});

describe('a message that cannot be applied', () => {
  const rows = scanRows(12);
  const poisoned = [...rows.slice(0, 120), { partition: 0, value: '{"foo": 1}' }, ...rows.slice(120)];

  it('halts there, and after a drop the rest is applied', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    for (let start = 0; start < 2; start++) {
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
      expect((await service.status()).source?.position['0']).toBe(rows.length + 1);
    }
    await expectEqualToReplay(directory, rows);
  });

  it('is left out under quarantine, and readiness says so', async () => {
    const topic = await createTopic(address);
    await topic.send(poisoned);
    {
      await using service = await serveTopic(topic, directory, { onBadUpdate: 'quarantine' });
      await service.untilReady();
      expect((await service.readyz()).degraded).toHaveLength(1);
    }
    await expectEqualToReplay(directory, rows);
  });
});
