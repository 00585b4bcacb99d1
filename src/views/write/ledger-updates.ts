import type { Database } from 'better-sqlite3';
import type { UpdateContent } from '../../feed/decoded-batch.ts';
import type { ArchivedContract, NewCoin, UncountedCreate } from '../../feed/event-columns.ts';
import { getOrMake } from '../../get-or-make.ts';
import { INT64_MAX } from '../../json/exact-number.ts';
import { extraHash } from '../../ledger/coin.ts';
import { ITEM_BYTES } from '../../ledger/digest.ts';
import { idText, type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, encodeNumbers } from '../store/stored-rows.ts';
import type { Epochs } from './epochs.ts';
import { isToken, type Owner, type Owners } from './owner-sums.ts';
import type { MigrationState, WriterState } from './state.ts';

/** Where and when an update was applied; `synchronizer`: its number. */
interface UpdatePlace {
  readonly synchronizer: number;
  readonly recordTime: Micros;
  readonly updateId: string;
}

const EFFECTS_MIN = 1024;

/**
 * The updates that changed a coin or showed a holding of tokens, and the movements that they made. An update is known by its effects: 32 bits for each coin that it
 * creates and each that it archives, but for those that only pass through. So it is the same in every view that shows these. What waits
 * for the commit is in columns: objects for it would take several times as much memory.
 */
export class LedgerUpdates {
  readonly #batch: { state: WriterState; epochs: Epochs; owners: Owners };
  readonly #effectsAt;
  readonly #idOf;
  readonly #insertUpdate: BulkRows;
  readonly #insertMovement: BulkRows;
  readonly #insertSpent;
  readonly #hasSpent;
  readonly #updates = {
    synchronizer: [] as number[],
    recordTime: [] as Micros[],
    countedAt: [] as (Micros | null)[],
    updateId: [] as string[],
    effectsEnd: [] as number[],
    /** Of its movements. */
    movementsEnd: [] as number[],
  };
  /** The effects of all of them, one after the other, and behind those of the update that is being applied. */
  #effects = new Int32Array(EFFECTS_MIN);
  #effectsEnd = 0;
  /** Of these the places of coins that the update archived, too. */
  #passed: number[] = [];
  /** Whether the update being applied shows a holding of tokens. */
  #hasTokens = false;
  readonly #movements = {
    epoch: [] as number[],
    account: [] as number[],
    updateNo: [] as number[],
    unlocked: [] as bigint[],
    locked: [] as bigint[],
  };
  readonly #importsSpent = new Set<number>();
  /** The indexes of the updates by id: the first so many of them, more when one is looked for. */
  readonly #byId = new Map<string, number[]>();
  #indexed = 0;
  /** The owners that the update being applied touches, and their amounts before it. */
  readonly #touched: Owner[] = [];
  readonly #before: bigint[] = [];

  constructor(db: Database, batch: { state: WriterState; epochs: Epochs; owners: Owners }) {
    this.#batch = batch;
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

  get no(): number {
    return this.#batch.state.nextUpdateNo;
  }

  /** Called before the update being applied changes the sums of an owner. */
  touch(owner: Owner): void {
    if (owner.touched) return;
    owner.touched = true;
    this.#touched.push(owner);
    this.#before.push(owner.unlocked.amount, owner.locked.amount);
  }

  /** Notes a create of a coin that counts; returns the place of its effect. */
  addCreated(coin: NewCoin, items: Uint8Array): number {
    return this.#addEffect(createdEffect(coin, items));
  }

  addArchived(archived: ArchivedContract, items: Uint8Array): void {
    this.#addEffect(itemWord(items, archived.item));
  }

  #addEffect(effect: number): number {
    if (this.#effectsEnd === this.#effects.length) {
      const effects = new Int32Array(this.#effects.length * 2);
      effects.set(this.#effects);
      this.#effects = effects;
    }
    this.#effects[this.#effectsEnd] = effect;
    return this.#effectsEnd++;
  }

  passThrough(effect: number): void {
    this.#passed.push(effect);
  }

  /**
   * Notes a create or an archive of a holding of tokens. It is no effect, because what its views say may differ whenever they are read: the
   * row of its update alone shows a redelivery.
   */
  addToken(): void {
    this.#hasTokens = true;
  }

  /** Notes that a coin of a migration's first interval was archived: later imports of it are then known. */
  addSpent(idHash: number): void {
    this.#importsSpent.add(idHash);
  }

  wasSpent(idHash: number): boolean {
    return this.#importsSpent.has(idHash) || this.#hasSpent.get(idHash) === 1;
  }

  /** Ends the update that is applied; an import has neither a row nor movements. `countedAt`: null where it is the record time. */
  end(migration: MigrationState, update: (UpdatePlace & { readonly countedAt: Micros | null }) | null): void {
    const from = this.#updates.effectsEnd.at(-1) ?? 0;
    if (this.#passed.length > 0) this.#leaveOutPassed(from);
    if (update === null) this.#effectsEnd = from;
    else if (this.#effectsEnd > from || this.#hasTokens) {
      const { synchronizer, recordTime, countedAt, updateId, effectsEnd, movementsEnd } = this.#updates;
      synchronizer.push(update.synchronizer);
      recordTime.push(update.recordTime);
      countedAt.push(update.countedAt);
      updateId.push(update.updateId);
      effectsEnd.push(this.#effectsEnd);
      this.#addMovements(migration);
      movementsEnd.push(this.#movements.account.length);
      this.#batch.state.nextUpdateNo += 1;
    }
    this.#hasTokens = false;
    for (const owner of this.#touched) owner.touched = false;
    this.#touched.length = 0;
    this.#before.length = 0;
  }

  #leaveOutPassed(from: number): void {
    const passed = new Set(this.#passed);
    const kept = this.#effects.subarray(from, this.#effectsEnd).filter((_, i) => !passed.has(from + i));
    this.#effects.set(kept, from);
    this.#effectsEnd = from + kept.length;
    this.#passed = [];
  }

  /** What the update being applied has changed so far in the coins of an owner; null for one that it does not touch. */
  changeOf(party: string): { readonly account: number; readonly unlocked: bigint; readonly locked: bigint } | null {
    const i = this.#touched.findIndex((owner) => !isToken(owner) && this.#batch.owners.partyOf(owner) === party);
    if (i < 0) return null;
    const [unlocked, locked] = this.#changeAt(i);
    return { account: this.#touched[i]!.no, unlocked, locked };
  }

  #changeAt(i: number): readonly [unlocked: bigint, locked: bigint] {
    const { unlocked, locked } = this.#touched[i]!;
    return [unlocked.amount - this.#before[i * 2]!, locked.amount - this.#before[i * 2 + 1]!];
  }

  #addMovements(migration: MigrationState): void {
    const movements = this.#movements;
    const interval = this.#batch.epochs.ofInterval(migration, migration.openSeq);
    for (const [i, { no }] of this.#touched.entries()) {
      const [unlockedChange, lockedChange] = this.#changeAt(i);
      if (unlockedChange === 0n && lockedChange === 0n) continue;
      movements.epoch.push(interval);
      movements.account.push(no);
      movements.updateNo.push(this.no);
      movements.unlocked.push(unlockedChange);
      movements.locked.push(lockedChange);
    }
  }

  /** The effects that an update had when it was applied; null where none of that id changed a coin at that time. */
  effectsOf({ synchronizer, recordTime, updateId }: UpdatePlace): ReadonlySet<number> | null {
    const updates = this.#updates;
    for (; this.#indexed < updates.updateId.length; this.#indexed++)
      getOrMake(this.#byId, updates.updateId[this.#indexed]!, () => []).push(this.#indexed);
    for (const i of this.#byId.get(updateId) ?? [])
      if (updates.synchronizer[i] === synchronizer && updates.recordTime[i] === recordTime)
        return new Set(this.#effectsAtIndex(i));
    const stored = this.#effectsAt.get(synchronizer, recordTime, storedId(updateId));
    if (stored === undefined) return null;
    return new Set(Array.from({ length: stored.length / 4 }, (_, i) => stored.readInt32LE(i * 4)));
  }

  #effectsAtIndex(i: number): Int32Array {
    const { effectsEnd } = this.#updates;
    return this.#effects.subarray(effectsEnd[i - 1] ?? 0, effectsEnd[i]);
  }

  get #firstNo(): number {
    return this.no - this.#updates.updateId.length;
  }

  idOf(no: number): string {
    return this.#updates.updateId[no - this.#firstNo] ?? idText(this.#idOf.get(no)!);
  }

  flush(): void {
    const { synchronizer, recordTime, countedAt, updateId, movementsEnd } = this.#updates;
    const { epoch, account, updateNo, unlocked, locked } = this.#movements;
    for (let i = 0; i < updateId.length; i++) {
      const { buffer, byteOffset, byteLength } = this.#effectsAtIndex(i);
      const moved = account.slice(movementsEnd[i - 1] ?? 0, movementsEnd[i]).sort((a, b) => a - b);
      const when = [synchronizer[i]!, recordTime[i]!, countedAt[i]!] as const;
      const effects = Buffer.from(buffer, byteOffset, byteLength);
      this.#insertUpdate.add(this.#firstNo + i, ...when, storedId(updateId[i]!), effects, encodeNumbers(moved));
    }
    this.#insertUpdate.finish();
    for (const i of rowOrder(account, (_, at) => epoch[at]!, Number)) {
      const changes = [changeColumn(unlocked[i]!), changeColumn(locked[i]!)] as const;
      this.#insertMovement.add(epoch[i]!, account[i]!, updateNo[i]!, ...changes);
    }
    this.#insertMovement.finish();
    for (const idHash of this.#importsSpent) this.#insertSpent.run(idHash);
  }

  afterCommit(): void {
    for (const column of [...Object.values(this.#updates), ...Object.values(this.#movements)]) column.length = 0;
    this.#effects = new Int32Array(EFFECTS_MIN);
    this.#effectsEnd = 0;
    this.#importsSpent.clear();
    this.#byId.clear();
    this.#indexed = 0;
  }
}

function itemWord(items: Uint8Array, item: number): number {
  const at = item * ITEM_BYTES;
  return items[at]! | (items[at + 1]! << 8) | (items[at + 2]! << 16) | (items[at + 3]! << 24);
}

/** The digest item says nothing of a lock, and of signatories and observers. */
function createdEffect(coin: NewCoin, items: Uint8Array): number {
  const word = itemWord(items, coin.item);
  return coin.extra === null ? word : word ^ extraHash({ ...coin, entity: coin.kind }, coin.origin.dso);
}

/** A signed number of units. */
function changeColumn(units: bigint): bigint | string {
  return units <= INT64_MAX && units >= -INT64_MAX ? units : units.toString();
}

/** Whether an archive is one of the effects that its update had. */
export function hasEffect(effects: ReadonlySet<number> | null, { item }: ArchivedContract, items: Uint8Array): boolean {
  return item >= 0 && (effects?.has(itemWord(items, item)) ?? false);
}

/**
 * Compares a redelivery with the effects of its update: a create that is none of them, or 'lacks' one of them; null where all are the same.
 * `counts`: whether a create counts. An archive that was no effect may be of a coin that does not count: it is left to the caller.
 */
export function differenceOf(
  { events }: UpdateContent,
  {
    items,
    effects,
    counts,
  }: {
    items: Uint8Array;
    effects: ReadonlySet<number>;
    counts: (event: NewCoin | UncountedCreate) => boolean;
  },
): { readonly event: NewCoin } | 'lacks' | null {
  const shown = new Set<number>();
  /** Whether the archive behind a create was an effect: otherwise the create was none either. */
  const archived = new Map<string, boolean>();
  for (const event of events.toReversed()) {
    if (event.kind === 'archive') {
      archived.set(event.contractId, hasEffect(effects, event, items));
      if (event.item >= 0) shown.add(itemWord(items, event.item));
    } else if (event.kind === 'uncounted') {
      counts(event);
    } else if (event.kind === 'Amulet' || event.kind === 'LockedAmulet') {
      const effect = createdEffect(event, items);
      if (archived.get(event.contractId) !== false) shown.add(effect);
      if (!archived.has(event.contractId) && !effects.has(effect) && counts(event)) return { event };
    }
  }
  return [...effects].every((effect) => shown.has(effect)) ? null : 'lacks';
}
