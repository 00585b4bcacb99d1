import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { changesHash, ITEM_BYTES, itemOf } from '../../ledger/digest.ts';
import type { Micros } from '../../ledger/time.ts';
import { rowOrder } from '../store/row-order.ts';

/** Digest items (docs/digest.md), one after the other. */
export class Items {
  #bytes = Buffer.alloc(1024 * ITEM_BYTES);
  #length = 0;

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
  readonly #insert;
  readonly #drop;

  constructor(db: Database, table: 'open_items' | 'open_token_items') {
    this.#stored = db.prepare<[number], Buffer>(`SELECT items FROM ${table} WHERE migration_id = ?`).pluck();
    this.#insert = db.prepare(`INSERT INTO ${table} (migration_id, items) VALUES (?, ?)`);
    this.#drop = db.prepare(`DELETE FROM ${table} WHERE migration_id = ?`);
  }

  add(migrationId: number, items: Uint8Array, item: number): void {
    this.#of(migrationId).items.addFrom(items, item);
  }

  addLine(migrationId: number, line: string): void {
    this.#of(migrationId).items.addLine(line);
  }

  /** The changes digest of the snapshot that ends the interval, and whether it has any item; the next one begins without items. */
  seal(migrationId: number, recordTime: Micros): { readonly changes: Buffer; readonly any: boolean } {
    const open = this.#of(migrationId);
    const changes = changesHash(migrationId, recordTime);
    let any = false;
    passSorted(
      () => this.#runs(migrationId, open),
      (sorted) => {
        any ||= sorted.length > 0;
        changes.update(sorted);
      },
    );
    open.sealed = true;
    open.items.clear();
    return { changes: changes.digest(), any };
  }

  *#runs(migrationId: number, { items, sealed }: { items: Items; sealed: boolean }): Generator<Buffer> {
    if (!sealed) yield* this.#stored.iterate(migrationId);
    yield items.bytes;
  }

  #of(migrationId: number) {
    return getOrMake(this.#open, migrationId, () => ({ items: new Items(), sealed: false }));
  }

  flush(): void {
    for (const [migrationId, { items, sealed }] of this.#open) {
      if (sealed) this.#drop.run(migrationId);
      if (items.bytes.length > 0) this.#insert.run(migrationId, items.bytes);
    }
  }

  afterCommit(): void {
    this.#open.clear();
  }
}

/** How many items are sorted in memory at a time: 16 MiB of them, which with copies take four times as much. */
const ITEMS_AT_ONCE = 2 ** 19;
const WORDS = 2 ** 32;

/**
 * Passes on, in the order of their bytes, the items that occur an odd number of times. Of more items than fit in memory each
 * pass over all of them takes a range of values: hashes are spread evenly.
 */
export function passSorted(runs: () => Iterable<Buffer>, pass: (sorted: Buffer) => void, atOnce = ITEMS_AT_ONCE): void {
  let bytes = 0;
  for (const { length } of runs()) bytes += length;
  const ranges = Math.ceil(bytes / ITEM_BYTES / atOnce);
  for (let range = 0; range < ranges; range++) {
    const parts: Buffer[] = [];
    for (const run of runs()) parts.push(ranges === 1 ? run : itemsIn(run, range, ranges));
    pass(sortedOnce(Buffer.concat(parts)));
  }
}

/** The items of a range, one of so many that values are divided into. */
function itemsIn(run: Buffer, range: number, ranges: number): Buffer {
  const part = Buffer.allocUnsafe(run.length);
  let length = 0;
  for (let at = 0; at < run.length; at += ITEM_BYTES)
    if (Math.floor((run.readUInt32BE(at) * ranges) / WORDS) === range)
      length += run.copy(part, length, at, at + ITEM_BYTES);
  // A copy, because a part of it would keep all of it.
  return Buffer.from(part.subarray(0, length));
}

/** Two equal ones cancel each other out. Nearly always the first four bytes decide; of those with equal ones the rest, by insertion. */
function sortedOnce(items: Buffer): Buffer {
  const firsts = new Uint32Array(items.length / ITEM_BYTES);
  for (let i = 0; i < firsts.length; i++) firsts[i] = items.readUInt32BE(i * ITEM_BYTES);
  const order: number[] = [];
  /** Above 0 where the item before a place must come after this one, 0 where they are equal. */
  const compare = (at: number, item: number): number => {
    if (at === 0 || firsts[order[at - 1]!] !== firsts[item]) return -1;
    const [from, to] = [order[at - 1]! * ITEM_BYTES, item * ITEM_BYTES];
    return items.compare(items, to, to + ITEM_BYTES, from, from + ITEM_BYTES);
  };
  for (const item of rowOrder(firsts, (first) => first)) {
    let at = order.length;
    while (compare(at, item) > 0) at -= 1;
    if (compare(at, item) === 0) order.splice(at - 1, 1);
    else if (at === order.length) order.push(item);
    else order.splice(at, 0, item);
  }
  const sorted = Buffer.allocUnsafe(order.length * ITEM_BYTES);
  for (let at = 0, to = 0; at < order.length; at++)
    to += items.copy(sorted, to, order[at]! * ITEM_BYTES, (order[at]! + 1) * ITEM_BYTES);
  return sorted;
}
