import type { Database } from 'better-sqlite3';
import { EventCursor } from '../../chunk/event-cursor.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import { expiryColumn, unitsColumn } from '../store/columns.ts';
import { rowOrder } from '../store/row-order.ts';
import { type ArchivedCoin, type Contracts, isActive, type PendingCoin } from './contracts.ts';
import type { Owner } from './owners.ts';

interface SpentRow {
  readonly owner: Owner;
  readonly archivedSeq: number;
  readonly createdAt: number;
  readonly no: number;
  readonly createdSeq: number;
  readonly expiry: number | bigint;
}

/**
 * Returns the function that writes a batch's coins inside its transaction. Rows go into each table in the order of its key,
 * with `no` in place of the time of creation: nearly the same order, and neighbours are on the same pages.
 */
export function createContractFlush(db: Database): (contracts: Contracts) => void {
  const holding = BulkRows.inserting(db, 'INSERT INTO holding', 13);
  const held = BulkRows.inserting(db, 'INSERT INTO held', 6);
  const spent = BulkRows.inserting(db, 'INSERT INTO spent', 6);
  const noLongerHeld = BulkRows.deleting(db, 'held', ['owner', 'created_at', 'no']);
  const forgetHolding = db.prepare('DELETE FROM holding WHERE no = ?');

  // A function for each row: V8 compiles a long loop anew at nearly every call, because it is entered so rarely.

  function forget({ owner, createdAt, no, archivedSeq }: ArchivedCoin): void {
    noLongerHeld.add(owner.no, createdAt, no);
    if (archivedSeq === -1) forgetHolding.run(no);
  }

  function forgetArchived(archived: readonly ArchivedCoin[]): void {
    for (const i of rowOrder(archived, ofOwner, ofNo)) forget(archived[i]!);
    noLongerHeld.finish();
  }

  /** The create of the coin being written, still in its chunk. */
  const create = new EventCursor();

  function addHolding(coin: PendingCoin): void {
    if (coin.archivedSeq === -1) return;
    const { locked, amount, rate, round, createdAt, node, extra } = create.moveTo(coin);
    holding.add(
      coin.no,
      coin.owner.no,
      coin.createdSeq,
      locked ? 1 : 0,
      unitsColumn(amount),
      unitsColumn(rate),
      round,
      createdAt,
      node,
      coin.template,
      create.contractId(),
      create.updateId(),
      extra,
    );
  }

  function addHeld(coin: PendingCoin): void {
    const { createdAt, expiry, idHash } = create.moveTo(coin);
    held.add(coin.owner.no, createdAt, coin.no, coin.createdSeq, expiryColumn(expiry), idHash | 0);
  }

  function addCreated(created: readonly PendingCoin[]): void {
    for (const coin of created) addHolding(coin);
    holding.finish();
    const still = created.filter(isActive);
    for (const i of rowOrder(still, ofOwner)) addHeld(still[i]!);
    held.finish();
  }

  function spentOf(coin: PendingCoin): SpentRow {
    const { archivedSeq, no, createdSeq } = coin;
    const { createdAt, expiry } = create.moveTo(coin);
    return { owner: coin.owner, archivedSeq, createdAt, no, createdSeq, expiry };
  }

  function addSpent({ owner, archivedSeq, createdAt, no, createdSeq, expiry }: SpentRow): void {
    spent.add(owner.no, archivedSeq, createdAt, no, createdSeq, expiryColumn(expiry));
  }

  function addAllSpent({ created, archived }: Contracts): void {
    const rows: SpentRow[] = created.filter(isSpent).map(spentOf);
    for (const coin of archived) if (isSpent(coin)) rows.push(coin);
    for (const i of rowOrder(rows, ofOwner, ofSeq, ofNo)) addSpent(rows[i]!);
    spent.finish();
  }

  return (contracts) => {
    forgetArchived(contracts.archived);
    addCreated(contracts.created);
    addAllSpent(contracts);
  };
}

function ofOwner({ owner }: { readonly owner: Owner }): number {
  return owner.no;
}

function ofNo({ no }: { readonly no: number }): number {
  return no;
}

function ofSeq({ archivedSeq }: SpentRow): number {
  return archivedSeq;
}

/** Whether it was archived in a later interval than that of its creation. */
function isSpent({ archivedSeq }: { readonly archivedSeq: number }): boolean {
  return archivedSeq > 0;
}
