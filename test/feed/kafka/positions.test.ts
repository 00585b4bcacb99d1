import { describe, expect, it } from 'vitest';
import {
  checkIdentity,
  checkLastApplied,
  identityText,
  type StoredTopic,
  startOffsets,
} from '../../../src/feed/kafka/kafka-positions.ts';
import { FeedRefused } from '../../../src/feed/source.ts';

const HASH = Buffer.from('hash of the last message');

/**
 * `stored` is the first offset and the next one, `new` a partition that is not stored of a topic that is; `held` the first
 * offset and the end; `start` what is read first, `!` a refusal.
 */
const CASES = `
  stored  held     start
  -       0..10    0
  -       7..10    7
  -       7..7     7
  new     0..10    0
  new     0..0     0
  new     2..10    !is new to these views, and Kafka has removed everything before 2
  0..5    0..10    4 verified
  0..5    4..10    4 verified
  0..5    5..10    5
  0..5    5..5     5
  0..5    0..5     4 verified
  0..0    0..10    0
  0..0    0..0     0
  0..0    3..10    !continues at offset 0 for these views, and Kafka has removed everything before 3
  3..3    3..10    3
  3..3    4..10    !removed everything before 4
  3..3    2..10    !begins at offset 2, and began at 3 when these views first saw it: it was created again
  3..3    0..2     !ends at offset 2
  3..5    0..10    4 verified
  0..5    6..10    !removed everything before 6
  0..5    0..4     !ends at offset 4
  0..5    0..0     !ends at offset 0
`;

const rows = CASES.trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s{2,}/) as [string, string, string]);
const numbersOf = (range: string): [number, number] => range.split('..').map(Number) as [number, number];

function storedOf(text: string): StoredTopic {
  if (text === '-') return { identity: null, positions: new Map() };
  if (text === 'new') return { identity: 'any', positions: new Map() };
  const [firstOffset, nextOffset] = numbersOf(text);
  const sha256 = nextOffset > firstOffset ? HASH : null;
  return { identity: 'any', positions: new Map([[3, { firstOffset, nextOffset, sha256 }]]) };
}

describe('where reading starts', () => {
  it.each(rows)('stored %s, the topic holds %s: %s', (stored, held, start) => {
    const [low, high] = numbersOf(held);
    const topic = storedOf(stored);
    const begin = () => startOffsets('t', topic, new Map([[3, { low, high }]])).get(3);
    if (start.startsWith('!')) {
      expect(begin).toThrow(FeedRefused);
      expect(begin).toThrow(start.slice(1));
    } else {
      const [offset, verified] = start.split(' ');
      const { position, verify } = begin()!;
      expect([verify ? position.nextOffset - 1 : position.nextOffset, verify]).toEqual([
        Number(offset),
        verified !== undefined,
      ]);
      const isKnown = topic.positions.get(3);
      expect(position).toEqual(isKnown ?? { firstOffset: low, nextOffset: low, sha256: null });
    }
  });

  it('is refused where a partition that was applied is gone', () => {
    const positions = new Map([[1, { firstOffset: 0, nextOffset: 1, sha256: HASH }]]);
    const begin = () => startOffsets('t', { identity: 'any', positions }, new Map([[0, { low: 0, high: 9 }]]));
    expect(begin).toThrow('has no partition 1');
  });
});

describe('what the views were built from', () => {
  const found = { clusterId: 'c', topic: 't' };

  it('may be nothing yet, or this topic on this cluster', () => {
    expect(() => checkIdentity(null, found)).not.toThrow();
    expect(() => checkIdentity(identityText(found), found)).not.toThrow();
  });

  it.each([
    { clusterId: 'c', topic: 'other' },
    { clusterId: 'other', topic: 't' },
  ])('may not be $topic on $clusterId', (stored) => {
    expect(() => checkIdentity(identityText(stored), found)).toThrow(FeedRefused);
  });

  it('has the message that was applied last still at its offset', () => {
    const other = Buffer.from('another');
    const check = (hashes: readonly Uint8Array[]): void =>
      checkLastApplied('partition 0 of topic t', { offset: 4, sha256: HASH }, { offset: 4, hashes });
    expect(() => check([other, HASH])).not.toThrow();
    expect(() => check([other])).toThrow('another message at offset 4');
  });
});
