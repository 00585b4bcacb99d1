import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { HistoryItem } from '../support/history.ts';
import { type RunningService, serve } from '../support/kafka-service.ts';
import { createTopic, type Row, type TestTopic } from '../support/kafka-topic.ts';
import { ledgerApiLine } from '../support/ledger-api-lines.ts';
import { type LedgerOptions, oddLedger } from '../support/ledger-options.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../support/partitioned.ts';
import { randomLedger } from '../support/random-ledger.ts';
import { replayInto } from '../support/replayed.ts';
import { scanLine } from '../support/scan-lines.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { dumpViews } from '../support/views-dump.ts';

const address = inject('kafka').addresses.plain;

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

/** The clocks of its synchronizers agree: what sorts before something else by record time did happen before it. */
const agreeing = (seed: number, changes: Partial<LedgerOptions>): Generator<HistoryItem> =>
  randomLedger({ ...oddLedger(seed), periodMicros: 1, ...changes });

const serveTopic = (topic: TestTopic, options: Readonly<Record<string, unknown>> = {}): Promise<RunningService> =>
  serve({ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name, ...options });

/** Whether the views have gone past these rows, and no further. */
async function hasApplied(service: RunningService, rows: readonly Row[]): Promise<boolean> {
  const wanted = new Map<number, number>();
  for (const { partition } of rows) wanted.set(partition, (wanted.get(partition) ?? 0) + 1);
  const position = (await service.status()).source?.position ?? {};
  return [...wanted].every(([partition, count]) => position[partition] === count);
}

async function expectEqualToReplay(rows: readonly Row[], data = directory.at('views')): Promise<void> {
  const file = directory.writeLines(
    'expected.ndjson',
    rows.map((row) => row.value!),
  );
  const { halted } = await replayInto(directory.at('expected'), [file]);
  expect(halted).toBeNull();
  expect(dumpViews(data)).toEqual(dumpViews(directory.at('expected')));
}

describe('the views of a topic', () => {
  it.each([
    { partitions: 1, format: 'scan', lineOf: scanLine, changes: { synchronizers: 1, migrations: 2 } },
    { partitions: 3, format: 'scan', lineOf: scanLine, changes: { synchronizers: 3, migrations: 2 } },
    { partitions: 3, format: 'ledger-api', lineOf: ledgerApiLine, changes: { synchronizers: 5, migrationId: 0 } },
    { partitions: 12, format: 'ledger-api', lineOf: ledgerApiLine, changes: { synchronizers: 12, migrationId: 0 } },
  ])('equal a replay in merge order: $partitions partitions, $format', async ({ partitions, lineOf, changes }) => {
    const topic = await createTopic(address, { partitions });
    const items = agreeing(7, { updates: 1_000, ...changes });
    const rows: PartitionedRow[] = intoPartitions(items, partitions, (item) => lineOf(item));
    const due = partitions === 1 ? rows : inMergeOrder(rows, partitions);
    expect(due.length).toBeGreaterThan(rows.length * 0.5);
    await topic.send(rows);
    {
      await using service = await serveTopic(topic);
      await service.until('applied', () => hasApplied(service, due));
    }
    await expectEqualToReplay(due);
  });
});
