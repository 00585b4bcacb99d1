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

  function forgetArchived(archived: readonly ArchivedCoin[]): void {
    for (const i of rowOrder(archived, ofOwner, (coin) => coin.no)) {
      const { owner, createdAt, no } = archived[i]!;
      noLongerHeld.add([owner.no, createdAt, no]);
    }
    noLongerHeld.finish();
    for (const coin of archived) if (coin.archivedSeq === -1) forgetHolding.run(coin.no);
  }

  /** The create of the coin being written, still in its chunk. */
  const create = new EventCursor();

  function addCreated(created: readonly PendingCoin[]): void {
    for (const c of created) {
      if (c.archivedSeq === -1) continue;
      const { locked, amount, rate, round, createdAt, node, extra } = create.moveTo(c);
      holding.add([
        c.no,
        c.owner.no,
        c.createdSeq,
        locked ? 1 : 0,
        unitsColumn(amount),
        unitsColumn(rate),
        round,
        createdAt,
        node,
        c.template,
        create.contractId(),
        create.updateId(),
        extra,
      ]);
    }
    holding.finish();
    const still = created.filter(isActive);
    for (const i of rowOrder(still, ofOwner)) {
      const coin = still[i]!;
      const { no, owner, createdSeq } = coin;
      const { createdAt, expiry, idHash } = create.moveTo(coin);
      held.add([owner.no, createdAt, no, createdSeq, expiryColumn(expiry), idHash | 0]);
    }
    held.finish();
  }

  function spentRow(coin: PendingCoin): SpentRow {
    const { archivedSeq, no, createdSeq } = coin;
    const { createdAt, expiry } = create.moveTo(coin);
    return { owner: coin.owner, archivedSeq, createdAt, no, createdSeq, expiry };
  }

  function addSpent({ created, archived }: Contracts): void {
    const rows: SpentRow[] = [];
    for (const coin of created) if (coin.archivedSeq > 0) rows.push(spentRow(coin));
    for (const coin of archived) if (coin.archivedSeq > 0) rows.push(coin);
    for (const i of rowOrder(
      rows,
      ofOwner,
      (row) => row.archivedSeq,
      (row) => row.no,
    )) {
      const { owner, archivedSeq, createdAt, no, createdSeq, expiry } = rows[i]!;
      spent.add([owner.no, archivedSeq, createdAt, no, createdSeq, expiryColumn(expiry)]);
    }
    spent.finish();
  }

  return (contracts) => {
    forgetArchived(contracts.archived);
    addCreated(contracts.created);
    addSpent(contracts);
  };
}

function ofOwner({ owner }: { readonly owner: Owner }): number {
  return owner.no;
}
