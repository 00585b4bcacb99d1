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
    pass(sortedOnce(itemsBetween(runs(), from, to)));
  }
}

/** The items whose first four bytes, as a number, are in a range. */
function itemsBetween(runs: Iterable<Buffer>, from: number, to: number): Buffer {
  const parts: Buffer[] = [];
  for (const run of runs) {
    if (from === 0 && to === WORDS) {
      parts.push(run);
      continue;
    }
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
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

const ITEM_WORDS = ITEM_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** Two equal ones cancel each other out. Copied by words, because a call for 32 bytes costs several times as much. */
function sortedOnce(items: Buffer): Buffer {
  const given = wordsOf(items);
  const sorted = new Uint32Array(given.length);
  const firsts = new Uint32Array(given.length / ITEM_WORDS);
  const bytes = new DataView(given.buffer, given.byteOffset, given.byteLength);
  for (let i = 0; i < firsts.length; i++) firsts[i] = bytes.getUint32(i * ITEM_BYTES);
  const order = wordOrder(firsts);
  orderEqualWords(items, firsts, order);
  let length = 0;
  for (let i = 0; i < order.length; i++) {
    const at = order[i]! * ITEM_WORDS;
    if (length > 0 && isSame(given, at, sorted, length - ITEM_WORDS)) {
      length -= ITEM_WORDS;
      continue;
    }
    for (let word = 0; word < ITEM_WORDS; word++) sorted[length + word] = given[at + word]!;
    length += ITEM_WORDS;
  }
  return Buffer.from(sorted.buffer, 0, length * Uint32Array.BYTES_PER_ELEMENT);
}

/** The same bytes, or a copy of them where they do not begin at a word. */
function wordsOf(items: Buffer): Uint32Array {
  const isAligned = items.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset, length } = isAligned ? items : Buffer.from(new Uint8Array(items).buffer);
  return new Uint32Array(buffer, byteOffset, length / Uint32Array.BYTES_PER_ELEMENT);
}

/** Nearly always the first word decides. */
function isSame(a: Uint32Array, atA: number, b: Uint32Array, atB: number): boolean {
  for (let word = 0; word < ITEM_WORDS; word++) if (a[atA + word] !== b[atB + word]) return false;
  return true;
}

/** Among items of equal first words, which are few: by insertion. */
function orderEqualWords(items: Buffer, words: Uint32Array, order: Uint32Array): void {
  for (let i = 1; i < order.length; i++) {
    for (let j = i; j > 0; j--) {
      const [a, b] = [order[j - 1]!, order[j]!];
      if (words[a] !== words[b] || compare(items, a, b) <= 0) break;
      order[j - 1] = b;
      order[j] = a;
    }
  }
}

function compare(items: Buffer, a: number, b: number): number {
  const [from, target] = [a * ITEM_BYTES, b * ITEM_BYTES];
  return items.compare(items, target, target + ITEM_BYTES, from, from + ITEM_BYTES);
}
