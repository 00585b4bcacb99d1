import type { Row } from '../kafka/topic.ts';
import type { HistoryItem, Micros } from './history.ts';

/** A record of a topic and what the reference order goes by; nothing here comes from src/. */
export interface PartitionedRow extends Row {
  readonly partition: number;
  readonly value: string;
  readonly place: ReferencePlace | null;
}

interface ReferencePlace {
  readonly migrationId: number;
  /** -1 for imports. */
  readonly recordTime: Micros;
  /** After every synchronizer for a checkpoint. */
  readonly synchronizerId: string;
}

const BEHIND_EVERY_NAME = '\u{10ffff}';

/** As a producer must write it: one synchronizer in one partition, a checkpoint in every one. */
export function intoPartitions(
  items: Iterable<HistoryItem>,
  count: number,
  lineOf: (item: HistoryItem) => string | null,
): PartitionedRow[] {
  const rows: PartitionedRow[] = [];
  const numbers = new Map<string, number>();
  for (const item of items) {
    const value = lineOf(item);
    if (value === null) continue;
    const place = placeOf(item);
    if (item.kind === 'checkpoint') {
      for (let partition = 0; partition < count; partition++) rows.push({ partition, value, place });
      continue;
    }
    const number = numbers.get(item.synchronizerId) ?? numbers.size;
    numbers.set(item.synchronizerId, number);
    rows.push({ partition: number % count, value, place });
  }
  return rows;
}

function placeOf(item: HistoryItem): ReferencePlace | null {
  const { migrationId } = item;
  switch (item.kind) {
    case 'notice':
      return null;
    case 'checkpoint': {
      const recordTime = Math.min(...item.times.map((each) => each.recordTime));
      return { migrationId, recordTime, synchronizerId: BEHIND_EVERY_NAME };
    }
    case 'update':
      return { migrationId, recordTime: item.recordTime ?? -1, synchronizerId: item.synchronizerId };
  }
}

/**
 * The order that the rows must be applied in, up to where a partition has nothing more and the others wait: always the
 * smallest of the partitions' next rows, found in the slowest and plainest way.
 */
export function inMergeOrder(rows: readonly PartitionedRow[], count: number): PartitionedRow[] {
  const lanes = Array.from({ length: count }, (_, partition) => rows.filter((row) => row.partition === partition));
  const last: (ReferencePlace | null)[] = lanes.map(() => null);
  const merged: PartitionedRow[] = [];
  for (;;) {
    if (lanes.some((lane) => lane.length === 0)) return merged;
    const heads = lanes.map((lane, partition) => ({ partition, place: lane[0]!.place ?? last[partition]! }));
    const { partition, place } = heads.toSorted((a, b) => compare(a.place, b.place) || a.partition - b.partition)[0]!;
    last[partition] = place;
    merged.push(lanes[partition]!.shift()!);
  }
}

function compare(a: ReferencePlace | null, b: ReferencePlace | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (a.migrationId !== b.migrationId) return a.migrationId - b.migrationId;
  if (a.recordTime !== b.recordTime) return a.recordTime - b.recordTime;
  if (a.synchronizerId === b.synchronizerId) return 0;
  return a.synchronizerId < b.synchronizerId ? -1 : 1;
}
