import { expect } from 'vitest';
import { emptyUpdate } from '../ledger/empty-update.ts';
import type { HistoryItem } from '../ledger/history.ts';
import { oddLedger } from '../ledger/options.ts';
import { intoPartitions } from '../ledger/partitioned.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { scanLine } from '../ledger/scan-lines.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../program/temporary-directory.ts';
import { replayInto } from '../views/replayed.ts';
import { dumpViews } from '../views/views-dump.ts';
import type { RunningService } from './service.ts';
import type { Row } from './topic.ts';

/** Updates without an event, a second apart. */
export const emptyRows = (count: number, partition = 0, from = 0): Row[] =>
  Array.from({ length: count }, (_, n) => ({ partition, value: emptyUpdate('s', from + n) }));

/** A random ledger whose synchronizers' clocks agree: what sorts before something else by record time did happen before it. */
export const agreeingLedger = (seed: number, changes: Parameters<typeof oddLedger>[1]): Generator<HistoryItem> =>
  randomLedger(oddLedger(seed, { periodMicros: 1, ...changes }));

export const scanRows = (seed: number): Row[] =>
  intoPartitions(agreeingLedger(seed, { synchronizers: 1 }), 1, scanLine);

/** Whether the views have gone past these rows, and no further. */
export async function hasApplied(service: RunningService, rows: readonly Row[]): Promise<boolean> {
  const wanted = new Map<number, number>();
  for (const { partition } of rows) wanted.set(partition, (wanted.get(partition) ?? 0) + 1);
  const position = (await service.status()).source?.position ?? {};
  return [...wanted].every(([partition, count]) => position[partition] === count);
}

/** The views in the folder `views` of a directory are those of a replay of these rows as a file. */
export async function expectEqualToReplay(
  directory: TemporaryDirectory,
  rows: readonly Row[],
  leftOut: readonly string[] = [],
): Promise<void> {
  using other = temporaryDirectory();
  const lines = rows.map((row) => row.value!);
  const { halted } = await replayInto(other.at('views'), [other.writeLines('rows.ndjson', lines)]);
  expect(halted).toBeNull();
  const [found, expected] = [dumpViews(directory.at('views')), dumpViews(other.at('views'))];
  for (const table of leftOut) delete found[table];
  for (const table of leftOut) delete expected[table];
  expect(found).toEqual(expected);
}
