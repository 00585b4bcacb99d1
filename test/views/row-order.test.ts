import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowOrder } from '../../src/views/store/row-order.ts';

/** Keys of every width, the edges of digits and words among them, and many that are equal. */
const keys = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 11 - 1, 2 ** 11, 2 ** 32 - 1, 2 ** 32, 2 ** 43, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
  fc.nat(5),
);
const rows = fc.array(fc.record({ first: keys, second: keys }), { size: 'large' });

describe('the order of rows', () => {
  it('is that of a stable sort by every key, the first key first', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const byFirst = [...rowOrder(list, (row) => row.first)].map((i) => list[i]);
        expect(byFirst).toEqual(list.toSorted((a, b) => a.first - b.first));
        const byBoth = rowOrder(
          list,
          (row) => row.first,
          (row) => row.second,
        );
        const positions = list.map((_, i) => i);
        const wanted = positions.toSorted(
          (a, b) => list[a]!.first - list[b]!.first || list[a]!.second - list[b]!.second || a - b,
        );
        expect([...byBoth]).toEqual(wanted);
      }),
    );
  });
});
