import type { Database } from 'better-sqlite3';
import { expiryOf } from '../ledger/holding-fee.ts';
import { UPDATE } from '../ledger/pack/chunk.ts';
import { BulkRows } from './bulk-rows.ts';
import { eventId, updateIdOf } from './chunk-ids.ts';
import { termsOf } from './coin-terms.ts';
import { expiryColumn, unitsColumn } from './columns.ts';
import type { Contracts, PendingCoin, StoredCoin } from './contracts.ts';
import { holdingChecksum } from './holding-checksum.ts';

interface SpentRow {
  readonly owner: number;
  readonly archivedSeq: number;
  readonly createdAt: number;
  readonly no: number;
  readonly createdSeq: number;
  readonly expiry: number | bigint;
}

/** Returns the function that writes a batch's coin contracts, in key order per table, inside its transaction. */
export function createContractFlush(db: Database): (contracts: Contracts) => void {
  const holding = BulkRows.inserting(db, 'INSERT INTO holding', 14);
  const active = BulkRows.inserting(db, 'INSERT INTO active', 2);
  const held = BulkRows.inserting(db, 'INSERT INTO held', 5);
  const spent = BulkRows.inserting(db, 'INSERT INTO spent', 6);
  const noLongerActive = BulkRows.deleting(db, 'active', ['h', 'no']);
  const noLongerHeld = BulkRows.deleting(db, 'held', ['owner', 'created_at', 'no']);
  const forgetHolding = db.prepare('DELETE FROM holding WHERE no = ?');

  function forgetArchived(archived: StoredCoin[]): void {
    archived.sort((a, b) => a.fold - b.fold);
    for (const { fold, no } of archived) noLongerActive.add([fold, no]);
    noLongerActive.finish();
    archived.sort(byOwner);
    for (const { owner, createdAt, no } of archived) noLongerHeld.add([owner, createdAt, no]);
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
    const still = created.filter((coin) => coin.archivedSeq === 0).sort((a, b) => foldOf(a) - foldOf(b));
    for (const coin of still) active.add([foldOf(coin), coin.no]);
    active.finish();
    still.sort((a, b) => a.owner.no - b.owner.no || createdAtOf(a) - createdAtOf(b) || a.no - b.no);
    for (const c of still) held.add([c.owner.no, createdAtOf(c), c.no, c.createdSeq, expiryColumn(expiryOfPending(c))]);
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
    rows.sort((a, b) => a.owner - b.owner || a.archivedSeq - b.archivedSeq || a.createdAt - b.createdAt || a.no - b.no);
    for (const r of rows) spent.add([r.owner, r.archivedSeq, r.createdAt, r.no, r.createdSeq, expiryColumn(r.expiry)]);
    spent.finish();
  }

  return (contracts) => {
    forgetArchived(contracts.archived);
    addCreated(contracts.created);
    addSpent(contracts);
  };
}

function byOwner(a: StoredCoin, b: StoredCoin): number {
  return a.owner - b.owner || a.createdAt - b.createdAt || a.no - b.no;
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
