import type { Database } from 'better-sqlite3';
import type { ArchivedContract, NewCoin, UpdateContent } from '../../feed/decoded-batch.ts';
import { getOrMake } from '../../get-or-make.ts';
import { INT64_MAX } from '../../json/exact-number.ts';
import { extraHash } from '../../ledger/coin.ts';
import { ITEM_BYTES } from '../../ledger/digest.ts';
import { idText, type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, encodeNumbers } from '../store/stored-rows.ts';
import type { Epochs } from './epochs.ts';
import type { Owner } from './owner-sums.ts';
import type { MigrationState, WriterState } from './state.ts';

/** A row of `ledger_update`. */
interface UpdateRow {
  readonly no: number;
  /** The synchronizer's number. */
  readonly synchronizer: number;
  readonly recordTime: Micros;
  /** Null where it is the record time. */
  readonly countedAt: Micros | null;
  readonly updateId: string;
  readonly effects: readonly number[];
  /** The numbers of the accounts that it moved, in order. */
  readonly accounts: readonly number[];
}

/** What an update changed in the sums of an account, 1e-10 units. */
interface Movement {
  readonly epoch: number;
  readonly account: number;
  readonly updateNo: number;
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** Where and when an update was applied. */
type Place = Pick<UpdateRow, 'synchronizer' | 'recordTime' | 'updateId'>;

/**
 * The updates that changed a coin, and the movements that they made. An update is known by its effects: a word for each coin that
 * it creates and each that it archives, but for those that only pass through. So it is the same in every view that shows these.
 */
export class LedgerUpdates {
  readonly #state: WriterState;
  readonly #epochs: Epochs;
  readonly #effectsAt;
  readonly #idOf;
  readonly #insertUpdate: BulkRows;
  readonly #insertMovement: BulkRows;
  readonly #insertSpent;
  readonly #hasSpent;
  #updates: UpdateRow[] = [];
  #movements: Movement[] = [];
  #importsSpent = new Set<number>();
  /** `updates` by id: the first so many of them, more when one is looked for. */
  readonly #byId = new Map<string, UpdateRow[]>();
  #indexed = 0;
  /** Of the update that is being applied; PASSED for a coin that it archived, too. */
  #effects: number[] = [];
  #owners: Owner[] = [];

  constructor(db: Database, { state, epochs }: { state: WriterState; epochs: Epochs }) {
    this.#state = state;
    this.#epochs = epochs;
    this.#effectsAt = db
      .prepare<[number, Micros, StoredId], Buffer>(
        'SELECT effects FROM ledger_update WHERE synchronizer = ? AND record_time = ? AND update_id = ?',
      )
      .pluck();
    this.#idOf = db.prepare<[number], StoredId>('SELECT update_id FROM ledger_update WHERE no = ?').pluck();
    this.#insertUpdate = BulkRows.inserting(db, 'INSERT INTO ledger_update', 7);
    this.#insertMovement = BulkRows.inserting(db, 'INSERT INTO movement', 5);
    this.#insertSpent = db.prepare('INSERT OR IGNORE INTO import_spent VALUES (?)');
    this.#hasSpent = db.prepare<[number], number>('SELECT 1 FROM import_spent WHERE h = ?').pluck();
  }

  /** The number that the update being applied has, if it changes a coin. */
  get no(): number {
    return this.#state.nextUpdateNo;
  }

  /** Called before the update being applied changes the sums of an owner. */
  touch(owner: Owner): void {
    if (owner.before !== null) return;
    owner.before = { unlocked: owner.unlocked.amount, locked: owner.locked.amount };
    this.#owners.push(owner);
  }

  /** Notes a create of a coin that counts; returns the place of its effect. */
  addCreated(coin: NewCoin, items: Uint8Array): number {
    return this.#effects.push(createdEffect(coin, items)) - 1;
  }

  addArchived(archived: ArchivedContract, items: Uint8Array): void {
    this.#effects.push(itemWord(items, archived.item));
  }

  /** Notes that the update archived the coin that it created. */
  passThrough(effect: number): void {
    this.#effects[effect] = PASSED;
  }

  /** Notes that a coin of a migration's first interval was archived: later imports of it are then known. */
  addSpent(idHash: number): void {
    this.#importsSpent.add(idHash);
  }

  wasSpent(idHash: number): boolean {
    return this.#importsSpent.has(idHash) || this.#hasSpent.get(idHash) === 1;
  }

  /** Ends the update that is applied; imports have neither a row nor movements. `countedAt`: null where it is the record time. */
  end(migration: MigrationState, update: { readonly place: Place; readonly countedAt: Micros | null } | null): void {
    const effects = this.#effects.filter((effect) => effect !== PASSED);
    if (update !== null && effects.length > 0) {
      const updateNo = this.#state.nextUpdateNo++;
      const epoch = this.#epochs.ofInterval(migration, migration.openSeq);
      const accounts: number[] = [];
      for (const { no: account, before, ...owner } of this.#owners) {
        const unlocked = owner.unlocked.amount - before!.unlocked;
        const locked = owner.locked.amount - before!.locked;
        if (unlocked === 0n && locked === 0n) continue;
        accounts.push(account);
        this.#movements.push({ epoch, account, updateNo, unlocked, locked });
      }
      accounts.sort((a, b) => a - b);
      this.#updates.push({ ...update.place, no: updateNo, countedAt: update.countedAt, effects, accounts });
    }
    for (const owner of this.#owners) owner.before = null;
    this.#owners = [];
    this.#effects = [];
  }

  /** The effects that an update had when it was applied; null where none of that id changed a coin at that time. */
  effectsOf(place: Place): ReadonlySet<number> | null {
    for (; this.#indexed < this.#updates.length; this.#indexed++) {
      const row = this.#updates[this.#indexed]!;
      getOrMake(this.#byId, row.updateId, () => []).push(row);
    }
    const { synchronizer, recordTime, updateId } = place;
    const ofId = this.#byId.get(updateId) ?? [];
    const pending = ofId.find((row) => row.synchronizer === synchronizer && row.recordTime === recordTime);
    if (pending !== undefined) return new Set(pending.effects);
    const stored = this.#effectsAt.get(synchronizer, recordTime, storedId(updateId));
    if (stored === undefined) return null;
    return new Set(Array.from({ length: stored.length / 4 }, (_, i) => stored.readInt32LE(i * 4)));
  }

  /** The id of an update by its number. */
  idOf(no: number): string {
    return this.#updates.find((row) => row.no === no)?.updateId ?? idText(this.#idOf.get(no)!);
  }

  flush(): void {
    for (const { no, synchronizer, recordTime, countedAt, updateId, effects, accounts } of this.#updates) {
      const words = Buffer.from(Int32Array.from(effects).buffer);
      this.#insertUpdate.add(
        no,
        synchronizer,
        recordTime,
        countedAt,
        storedId(updateId),
        words,
        encodeNumbers(accounts),
      );
    }
    this.#insertUpdate.finish();
    const order = rowOrder(
      this.#movements,
      ({ epoch }) => epoch,
      ({ account }) => account,
    );
    for (const i of order) {
      const { epoch, account, updateNo, unlocked, locked } = this.#movements[i]!;
      this.#insertMovement.add(epoch, account, updateNo, changeColumn(unlocked), changeColumn(locked));
    }
    this.#insertMovement.finish();
    for (const idHash of this.#importsSpent) this.#insertSpent.run(idHash);
  }

  afterCommit(): void {
    this.#updates = [];
    this.#movements = [];
    this.#byId.clear();
    this.#indexed = 0;
    this.#importsSpent.clear();
  }
}

/** No effect has it: those are of 32 bits. */
const PASSED = 2 ** 40;

function itemWord(items: Uint8Array, item: number): number {
  const at = item * ITEM_BYTES;
  return items[at]! | (items[at + 1]! << 8) | (items[at + 2]! << 16) | (items[at + 3]! << 24);
}

/** The digest item says nothing of a lock, and of signatories and observers. */
function createdEffect({ item, extra }: NewCoin, items: Uint8Array): number {
  return itemWord(items, item) ^ extraHash(extra);
}

/** A signed number of units. */
function changeColumn(units: bigint): bigint | string {
  return units <= INT64_MAX && units >= -INT64_MAX ? units : units.toString();
}

/** Whether an archive is one of the effects that its update had. */
export function hasEffect(effects: ReadonlySet<number> | null, { item }: ArchivedContract, items: Uint8Array): boolean {
  return effects?.has(itemWord(items, item)) ?? false;
}

/** A create of a redelivery that the update did not have, or 'lacks' one that it had; null where all are the same. */
type Difference = { readonly event: NewCoin } | 'lacks' | null;

/**
 * Compares a redelivery with the effects that its update had. `counts`: whether a create counts. An archive that was no effect may be
 * of a coin that does not count: it is left to the caller.
 */
export function differenceOf(
  { events }: UpdateContent,
  { items, effects, counts }: { items: Uint8Array; effects: ReadonlySet<number>; counts: (event: NewCoin) => boolean },
): Difference {
  const shown = new Set<number>();
  const archived = new Set<string>();
  for (const event of events.toReversed()) {
    if (event.kind === 'archive') {
      archived.add(event.contractId);
      shown.add(itemWord(items, event.item));
    } else if (event.kind === 'Amulet' || event.kind === 'LockedAmulet') {
      const effect = createdEffect(event, items);
      shown.add(effect);
      if (!archived.has(event.contractId) && !effects.has(effect) && counts(event)) return { event };
    }
  }
  return [...effects].every((effect) => shown.has(effect)) ? null : 'lacks';
}
