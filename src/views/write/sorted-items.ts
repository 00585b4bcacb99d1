import { ITEM_BYTES } from '../../ledger/digest.ts';
import { wordOrder } from '../store/row-order.ts';

/** How many items are sorted in memory at a time: 16 MiB of them, which with copies take four times as much. */
const ITEMS_AT_ONCE = 2 ** 19;
const WORDS = 2 ** 32;

/**
 * Passes on, in the order of their bytes, the items that occur an odd number of times. Of more items than fit in memory each
 * pass over all of them takes a range of values: hashes are spread evenly.
 */
export function passSorted(
  runs: () => Iterable<Buffer>,
  count: number,
  pass: (sorted: Buffer) => void,
  { atOnce = ITEMS_AT_ONCE }: { atOnce?: number } = {},
): void {
  const ranges = Math.ceil(count / atOnce);
  for (let range = 0; range < ranges; range++) {
    const from = Math.floor((range * WORDS) / ranges);
    const to = Math.floor(((range + 1) * WORDS) / ranges);
    pass(sortedOnce(ranges === 1 ? Buffer.concat([...runs()]) : itemsBetween(runs(), from, to)));
  }
}

/** The items whose first four bytes, as a number, are in a range. */
function itemsBetween(runs: Iterable<Buffer>, from: number, to: number): Buffer {
  const parts: Buffer[] = [];
  for (const run of runs) {
    const part = Buffer.allocUnsafe(run.length);
    let length = 0;
    for (let at = 0; at < run.length; at += ITEM_BYTES) {
      const word = run.readUInt32BE(at);
      if (word < from || word >= to) continue;
      run.copy(part, length, at, at + ITEM_BYTES);
      length += ITEM_BYTES;
    }
    // A copy, because a part of it would keep all of it.
    parts.push(Buffer.from(part.subarray(0, length)));
  }
  return Buffer.concat(parts);
}

/** Two equal ones cancel each other out. */
function sortedOnce(items: Buffer): Buffer {
  const words = new Uint32Array(items.length / ITEM_BYTES);
  for (let i = 0; i < words.length; i++) words[i] = items.readUInt32BE(i * ITEM_BYTES);
  const order = wordOrder(words);
  orderEqualWords(items, words, order);
  const sorted = Buffer.allocUnsafe(items.length);
  let length = 0;
  let last = -1;
  for (const item of order) {
    const at = item * ITEM_BYTES;
    if (length > 0 && words[item] === last && compare(items, at, sorted, length - ITEM_BYTES) === 0) {
      length -= ITEM_BYTES;
      last = length === 0 ? -1 : sorted.readUInt32BE(length - ITEM_BYTES);
      continue;
    }
    items.copy(sorted, length, at, at + ITEM_BYTES);
    length += ITEM_BYTES;
    last = words[item]!;
  }
  return sorted.subarray(0, length);
}

/** Among items of equal first words, which are few: by insertion. */
function orderEqualWords(items: Buffer, words: Uint32Array, order: Uint32Array): void {
  for (let i = 1; i < order.length; i++) {
    for (let j = i; j > 0; j--) {
      const [a, b] = [order[j - 1]!, order[j]!];
      if (words[a] !== words[b] || compare(items, a * ITEM_BYTES, items, b * ITEM_BYTES) <= 0) break;
      order[j - 1] = b;
      order[j] = a;
    }
  }
}

function compare(a: Buffer, atA: number, b: Buffer, atB: number): number {
  return a.compare(b, atB, atB + ITEM_BYTES, atA, atA + ITEM_BYTES);
}
