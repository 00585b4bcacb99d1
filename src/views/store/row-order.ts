const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;
/** Bits of a key in each 32-bit word. */
const WORD_UNIT = 2 ** 32;

/**
 * The positions of rows in ascending order of their keys, the first key first, by row or place; rows of equal keys stay as they are. Keys are
 * whole numbers from 0 to 2^53 - 1. A radix sort over typed arrays: `sort` with a function that follows objects to the keys
 * takes several times as long.
 */
export function rowOrder<Row>(
  rows: readonly Row[],
  ...keys: readonly ((row: Row, at: number) => number)[]
): Uint32Array {
  const length = rows.length;
  const [low, high] = [new Uint32Array(length), new Uint32Array(length)];
  const sorting = { order: new Uint32Array(length), spare: new Uint32Array(length) };
  for (let i = 0; i < length; i++) sorting.order[i] = i;
  for (let k = keys.length - 1; k >= 0; k--) {
    const key = keys[k]!;
    for (let i = 0; i < length; i++) {
      const value = key(rows[i]!, i);
      low[i] = value;
      high[i] = value / WORD_UNIT;
    }
    sortByWord(sorting, low, 32);
    sortByWord(sorting, high, 21);
  }
  return sorting.order;
}

/** The positions of 32-bit words in ascending order; equal ones stay as they are. */
export function wordOrder(words: Uint32Array): Uint32Array {
  const sorting = { order: new Uint32Array(words.length), spare: new Uint32Array(words.length) };
  for (let i = 0; i < words.length; i++) sorting.order[i] = i;
  sortByWord(sorting, words, 32);
  return sorting.order;
}

/** A stable pass for each digit of the words, the lowest first. */
function sortByWord(sorting: { order: Uint32Array; spare: Uint32Array }, words: Uint32Array, bits: number): void {
  for (let shift = 0; shift < bits; shift += DIGIT_BITS) {
    const { order, spare } = sorting;
    const starts = new Uint32Array(DIGITS + 1);
    for (let i = 0; i < words.length; i++) starts[((words[i]! >>> shift) & DIGIT_MASK) + 1]! += 1;
    // All rows have this digit: the pass would change nothing.
    if (starts.includes(words.length)) continue;
    for (let digit = 1; digit < DIGITS; digit++) starts[digit]! += starts[digit - 1]!;
    for (let i = 0; i < order.length; i++) {
      const position = order[i]!;
      spare[starts[(words[position]! >>> shift) & DIGIT_MASK]!++] = position;
    }
    sorting.order = spare;
    sorting.spare = order;
  }
}
