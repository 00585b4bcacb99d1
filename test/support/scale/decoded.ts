import { recordOf } from '../../../src/feed/kafka/kafka-record.ts';
import { type FlatBatch, flattenBatch, type GroupPosition } from '../../../src/scale/partition-batch.ts';
import { TEN_MINUTES_US } from '../views/replayed.ts';
import type { ReadEvent } from './fold.ts';

export const AT_START: GroupPosition = { next: 0, last: null, begun: null, seed: null, halted: false };

export interface LinesTask {
  readonly dso: string;
  readonly migrationId?: number;
  readonly onBadUpdate?: 'halt' | 'quarantine';
  readonly from?: GroupPosition;
}

/** What a decoder makes of a partition that has these messages. */
export function decodeLines(
  lines: readonly string[],
  { dso, migrationId = 0, onBadUpdate = 'halt', from = AT_START }: LinesTask,
): FlatBatch {
  const records = lines.map((line, i) => recordOf(0, from.next + i, Buffer.from(line)));
  const clock = { recordTimeAheadMaxUs: 0, now: Date.now() * 1000 };
  return flattenBatch(from, records, {
    ...{ dso, migrationId, onBadUpdate, ...clock },
    periodUs: TEN_MINUTES_US,
    dropped: new Set(),
  });
}

/** The events of messages that are all good, as a consumer reads them. */
export function eventsOfLines(lines: readonly string[], task: LinesTask): ReadEvent[] {
  const { events, stoppedBy } = decodeLines(lines, task);
  if (stoppedBy !== null) throw stoppedBy;
  return events.map((event) => JSON.parse(JSON.stringify(event)) as ReadEvent);
}
