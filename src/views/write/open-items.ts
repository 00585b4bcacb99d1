import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { changesHash, createdLine, type DigestedCoin, ITEM_BYTES, itemOf } from '../../ledger/digest.ts';
import type { Micros } from '../../ledger/time.ts';
import { wordOrder } from '../store/row-order.ts';

/** Digest items (docs/digest.md), one after the other. */
export class Items {
  #bytes = Buffer.alloc(1024 * ITEM_BYTES);
  #length = 0;

  get count(): number {
    return this.#length / ITEM_BYTES;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Adds one of a list. A byte at a time: a view of 32 bytes costs several times as much. */
  addFrom(items: Uint8Array, item: number): void {
    this.#reserve();
    const [bytes, from, to] = [this.#bytes, item * ITEM_BYTES, this.#length];
    for (let i = 0; i < ITEM_BYTES; i++) bytes[to + i] = items[from + i]!;
    this.#length += ITEM_BYTES;
  }

  addLine(line: string): void {
    this.#reserve();
    this.#bytes.write(itemOf(line), this.#length, ITEM_BYTES, 'latin1');
    this.#length += ITEM_BYTES;
  }

  /** All of them; valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(): void {
    if (this.#length === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
  }
}

/**
 * The items of what changed since each migration's newest snapshot on the grid (docs/digest.md). A contract made and archived in
 * that time has its item twice, and two equal ones cancel each other out at the seal: so none is ever looked for.
 */
export class OpenItems {
  /** Each migration's items since the last commit; `sealed`: those stored before are. */
  readonly #open = new Map<number, { readonly items: Items; sealed: boolean }>();
  readonly #stored;
  readonly #storedBytes;
  readonly #insert;
  readonly #drop;

  constructor(db: Database) {
    this.#stored = db.prepare<[number], Buffer>('SELECT items FROM open_items WHERE migration_id = ?').pluck();
    this.#storedBytes = db
      .prepare<[number], number | null>('SELECT sum(length(items)) FROM open_items WHERE migration_id = ?')
      .pluck();
    this.#insert = db.prepare('INSERT INTO open_items (migration_id, items) VALUES (?, ?)');
    this.#drop = db.prepare('DELETE FROM open_items WHERE migration_id = ?');
  }

  /** Adds an item of a batch of messages. */
  add(migrationId: number, items: Uint8Array, item: number): void {
    this.#of(migrationId).items.addFrom(items, item);
  }

  /** Adds the item of a create of an earlier transaction. */
  addCreated(migrationId: number, coin: DigestedCoin, contractId: string): void {
    this.#of(migrationId).items.addLine(createdLine(coin, contractId));
  }

  /** The changes digest of the snapshot that ends the interval; the next one begins without items. */
  seal(migrationId: number, recordTime: Micros): Buffer {
    const open = this.#of(migrationId);
    const { items, sealed } = open;
    const runs = (): Buffer[] | Generator<Buffer> => (sealed ? [items.bytes] : this.#runs(migrationId, items));
    const stored = sealed ? 0 : (this.#storedBytes.get(migrationId) ?? 0);
    const changes = changesHash(migrationId, recordTime);
    passSorted(runs, stored / ITEM_BYTES + items.count, (sorted) => changes.update(sorted));
    open.sealed = true;
    items.clear();
    return changes.digest();
  }

  *#runs(migrationId: number, items: Items): Generator<Buffer> {
    yield* this.#stored.iterate(migrationId);
    yield items.bytes;
  }

  #of(migrationId: number) {
    return getOrMake(this.#open, migrationId, () => ({ items: new Items(), sealed: false }));
  }

  flush(): void {
    for (const [migrationId, { items, sealed }] of this.#open) {
      if (sealed) this.#drop.run(migrationId);
      if (items.count > 0) this.#insert.run(migrationId, items.bytes);
    }
  }

  afterCommit(): void {
    for (const open of this.#open.values()) {
      open.sealed = false;
      open.items.clear();
    }
  }
}

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
  atOnce = ITEMS_AT_ONCE,
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
      if (words[a] !== words[b]) break;
      const [from, to] = [a * ITEM_BYTES, b * ITEM_BYTES];
      if (items.compare(items, to, to + ITEM_BYTES, from, from + ITEM_BYTES) <= 0) break;
      order[j - 1] = b;
      order[j] = a;
    }
  }
}
