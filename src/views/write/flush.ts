import type { Database } from 'better-sqlite3';
import { UPDATE } from '../../chunk/chunk.ts';
import { eventId, updateIdOf } from '../../chunk/chunk-ids.ts';
import { expiryOf } from '../../ledger/holding-fee.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import { expiryColumn, unitsColumn } from '../store/columns.ts';
import { holdingChecksum } from '../store/holding-checksum.ts';
import { rowOrder } from '../store/row-order.ts';
import { termsOf } from './coin-terms.ts';
import type { Contracts, PendingCoin, StoredCoin } from './contracts.ts';

interface SpentRow {
  readonly owner: number;
  readonly archivedSeq: number;
  readonly createdAt: number;
  readonly no: number;
  readonly createdSeq: number;
  readonly expiry: number | bigint;
}

/**
 * Returns the function that writes a batch's coin contracts inside its transaction. Rows go into each table in the order of
 * its key, where `no` stands for the time of creation: nearly the order, and what is near is on the same pages.
 */
export function createContractFlush(db: Database): (contracts: Contracts) => void {
  const holding = BulkRows.inserting(db, 'INSERT INTO holding', 14);
  const active = BulkRows.inserting(db, 'INSERT INTO active', 2);
  const held = BulkRows.inserting(db, 'INSERT INTO held', 5);
  const spent = BulkRows.inserting(db, 'INSERT INTO spent', 6);
  const noLongerActive = BulkRows.deleting(db, 'active', ['h', 'no']);
  const noLongerHeld = BulkRows.deleting(db, 'held', ['owner', 'created_at', 'no']);
  const forgetHolding = db.prepare('DELETE FROM holding WHERE no = ?');

  function forgetArchived(archived: readonly StoredCoin[]): void {
    for (const i of rowOrder(archived, (coin) => coin.fold)) noLongerActive.add([archived[i]!.fold, archived[i]!.no]);
    noLongerActive.finish();
    for (const i of rowOrder(archived, ofOwner, (coin) => coin.no)) {
      const { owner, createdAt, no } = archived[i]!;
      noLongerHeld.add([owner, createdAt, no]);
    }
    noLongerHeld.finish();
    for (const coin of archived) if (coin.archivedSeq === -1) forgetHolding.run(coin.no);
  }

  function addCreated(created: readonly PendingCoin[]): void {
    for (const c of created) {
      if (c.archivedSeq === -1) continue;
      const { locked, amount, rate, round, createdAt, node, extra } = termsOf(c);
      const contractId = eventId(c.chunk, c.event);
      const updateId = c.chunk.updates.kind[c.update] === UPDATE.import ? null : updateIdOf(c.chunk, c.update);
      const facts = { no: c.no, round, createdAt, node, template: c.template, contractId, updateId, args: extra };
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
        contractId,
        updateId,
        extra,
        holdingChecksum(facts),
      ]);
    }
    holding.finish();
    const still = created.filter((coin) => coin.archivedSeq === 0);
    for (const i of rowOrder(still, foldOf)) active.add([foldOf(still[i]!), still[i]!.no]);
    active.finish();
    for (const i of rowOrder(still, (coin) => coin.owner.no)) {
      const c = still[i]!;
      held.add([c.owner.no, createdAtOf(c), c.no, c.createdSeq, expiryColumn(expiryOfPending(c))]);
    }
    held.finish();
  }

  function addSpent({ created, archived }: Contracts): void {
    const rows: SpentRow[] = [];
    for (const coin of created) {
      if (coin.archivedSeq > 0) {
        rows.push(
          spentRow(coin, { owner: coin.owner.no, createdAt: createdAtOf(coin), expiry: expiryOfPending(coin) }),
        );
      }
    }
    for (const coin of archived) {
      if (coin.archivedSeq === -1) continue;
      const { amount, rate, round: createdRound } = coin;
      const expiry = expiryOf({ amount, rate, createdRound });
      rows.push(spentRow(coin, { owner: coin.owner, createdAt: coin.createdAt, expiry }));
    }
    for (const i of rowOrder(
      rows,
      ofOwner,
      (row) => row.archivedSeq,
      (row) => row.no,
    )) {
      const r = rows[i]!;
      spent.add([r.owner, r.archivedSeq, r.createdAt, r.no, r.createdSeq, expiryColumn(r.expiry)]);
    }
    spent.finish();
  }

  return (contracts) => {
    forgetArchived(contracts.archived);
    addCreated(contracts.created);
    addSpent(contracts);
  };
}

function ofOwner({ owner }: { readonly owner: number }): number {
  return owner;
}

function spentRow(
  { archivedSeq, no, createdSeq }: PendingCoin | StoredCoin,
  row: Pick<SpentRow, 'owner' | 'createdAt' | 'expiry'>,
): SpentRow {
  return { ...row, archivedSeq, no, createdSeq };
}

function createdAtOf({ wide, chunk, event }: PendingCoin): number {
  return wide?.createdAt ?? chunk.events.createdAt[event]!;
}

function expiryOfPending({ wide, chunk, event }: PendingCoin): number | bigint {
  return wide?.expiry ?? chunk.events.expiry[event]!;
}

function foldOf({ chunk, event }: PendingCoin): number {
  return chunk.events.fold[event]!;
}
