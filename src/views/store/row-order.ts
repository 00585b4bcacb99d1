const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/**
 * The positions of rows in ascending order of their keys, the first key first, by row or place; rows of equal keys stay as they are.
 * Keys are whole numbers below 2^32. A radix sort, a stable pass for each digit: `sort` takes several times as long.
 */
export function rowOrder<Row>(
  rows: ArrayLike<Row>,
  ...keys: readonly ((row: Row, at: number) => number)[]
): Uint32Array {
  const { length } = rows;
  let [order, spare] = [new Uint32Array(length), new Uint32Array(length)];
  const words = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = i;
  for (const key of keys.toReversed()) {
    for (let i = 0; i < length; i++) words[i] = key(rows[i]!, i);
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
      const starts = new Uint32Array(DIGITS + 1);
      for (let i = 0; i < length; i++) starts[((words[i]! >>> shift) & (DIGITS - 1)) + 1]! += 1;
      // All rows have this digit: the pass would change nothing.
      if (starts.includes(length)) continue;
      for (let digit = 1; digit < DIGITS; digit++) starts[digit]! += starts[digit - 1]!;
      for (let i = 0; i < length; i++) spare[starts[(words[order[i]!]! >>> shift) & (DIGITS - 1)]!++] = order[i]!;
      [order, spare] = [spare, order];
    }
  }
  return order;
}
