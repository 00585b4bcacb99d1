import { expect, it } from 'vitest';
import { TOPIC_KIND } from '../../../src/feed/kafka/kafka-kind.ts';
import { NOTHING_READ, type PartitionTelemetry } from '../../../src/feed/kafka/kafka-positions.ts';
import type { SourceState } from '../../../src/feed/source.ts';

/** Of each partition the next offset to store and the end of the topic, `?` where it was not requested yet. */
const CASES = `
  partitions    lag
  -             unknown
  0..?          unknown
  5..9          4
  0..0          0
  9..9          0
  5..9 7..7     4
  5..9 7..8     5
  5..9 7..?     unknown
`;

function partitionsIn(text: string): PartitionTelemetry[] {
  if (text === '-') return [];
  return text.split(' ').map((each, partition) => {
    const [next, end] = each.split('..');
    return { partition, nextOffset: Number(next), endOffset: end === '?' ? null : Number(end), isIdle: false };
  });
}

const STATE: Omit<SourceState, 'telemetry'> = {
  progress: null,
  lanes: new Map(),
  appliedRecordTime: null,
  mayLeaveGap: false,
  refused: null,
  isAtEnd: false,
};

it.each(
  CASES.trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/ {2,}/) as [string, string]),
)('of a topic at %s the messages that are not stored are %s', (partitions, lag) => {
  const telemetry = { ...NOTHING_READ, stopped: null, partitions: partitionsIn(partitions) };
  const { lagMessages } = TOPIC_KIND.status('topic t', { ...STATE, telemetry });
  expect(lagMessages).toBe(lag === 'unknown' ? null : Number(lag));
});
