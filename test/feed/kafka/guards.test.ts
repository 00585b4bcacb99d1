import { describe, expect, it } from 'vitest';
import { checkIdentity, checkLastApplied, identityText, startOffsets } from '../../../src/feed/kafka/guards.ts';
import { FeedRefused } from '../../../src/feed/source.ts';

const HASH = Buffer.from('hash of the last message');

/** `stored` is the next offset, `held` the first offset and the end; `start` what is read first, `!` a refusal. */
const CASES = `
  stored  held     start
  -       0..10    0
  -       7..10    7
  5       0..10    4 verified
  5       4..10    4 verified
  5       5..10    5
  5       5..5     5
  5       0..5     4 verified
  0       0..10    0
  5       6..10    !removed everything before 6
  5       0..4     !ends at offset 4
  5       0..0     !ends at offset 0
`;

const rows = CASES.trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s{2,}/) as [string, string, string]);

describe('where reading starts', () => {
  it.each(rows)('stored %s, the topic holds %s: %s', (stored, held, start) => {
    const [low, high] = held.split('..').map(Number);
    const positions = stored === '-' ? [] : [[3, { nextOffset: Number(stored), sha256: HASH }] as const];
    const begin = () => startOffsets('t', new Map(positions), new Map([[3, { low: low!, high: high! }]])).get(3);
    if (start.startsWith('!')) {
      expect(begin).toThrow(FeedRefused);
      expect(begin).toThrow(start.slice(1));
    } else {
      const [offset, verified] = start.split(' ');
      expect(begin()).toEqual({ offset: Number(offset), verify: verified === undefined ? null : HASH });
    }
  });

  it('is refused where a partition that was applied is gone', () => {
    const stored = new Map([[1, { nextOffset: 1, sha256: HASH }]]);
    expect(() => startOffsets('t', stored, new Map([[0, { low: 0, high: 9 }]]))).toThrow('has no partition 1');
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
    expect(() => checkLastApplied('t', 0, 4, { stored: HASH, found: [other, HASH] })).not.toThrow();
    expect(() => checkLastApplied('t', 0, 4, { stored: HASH, found: [other] })).toThrow('another message at offset 4');
  });
});
