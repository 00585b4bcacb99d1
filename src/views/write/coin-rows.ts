import type { Database } from 'better-sqlite3';
import type { CoinOrigin } from '../../feed/event-columns.ts';
import { getOrMake } from '../../get-or-make.ts';
import { type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, expiryColumn, unitsColumn } from '../store/stored-rows.ts';
import { type ArchivedCoin, type Contracts, isActive, isLocked, type PendingCoin } from './contracts.ts';
import type { Epochs } from './epochs.ts';
import type { Owner } from './owner-sums.ts';

type SpentRow = Omit<ArchivedCoin, 'idHash'>;

/**
 * Returns the function that writes a batch's coins inside its transaction. Rows go into each table in the order of its key,
 * with `no` in place of the time of creation: nearly the same order, and neighbours are on the same pages.
 */
export function createContractFlush(db: Database, epochs: Epochs): (contracts: Contracts) => void {
  const holding = BulkRows.inserting(db, 'INSERT INTO holding', 13);
  const held = BulkRows.inserting(db, 'INSERT INTO held', 7);
  const spent = BulkRows.inserting(db, 'INSERT INTO spent', 7);
  const noLongerHeld = BulkRows.deleting(db, 'held', ['epoch', 'account', 'created_at', 'no']);
  const forgetHolding = db.prepare('DELETE FROM holding WHERE no = ?');

  return ({ created, archived }) => {
    epochs.addEvents(created.length + archived.length + created.filter(({ archivedSeq }) => archivedSeq !== 0).length);
    for (const i of rowOrder(archived, ofNo)) {
      const { no, archivedSeq } = archived[i]!;
      if (!epochs.isNewest(no)) epochs.addGone(no);
      if (archivedSeq === -1) forgetHolding.run(no);
    }
    const ofNewest = archived.filter(({ no }) => epochs.isNewest(no));
    for (const i of rowOrder(ofNewest, ofOwner, ofNo)) {
      const { owner, createdAt, no } = ofNewest[i]!;
      noLongerHeld.add(epochs.newest, owner.no, createdAt, no);
      epochs.removeHeld();
    }
    noLongerHeld.finish();
    for (const coin of created) {
      epochs.addCreated(coin.create.createdAt);
      if (coin.archivedSeq === -1) continue;
      const { no, owner, createdSeq, template, create } = coin;
      const { amount, rate, round, createdAt, node, contractId, extra } = create;
      const locked = isLocked(create) ? 1 : 0;
      const terms = [unitsColumn(amount), unitsColumn(rate), round, createdAt, node, template] as const;
      holding.add(no, owner.no, createdSeq, locked, ...terms, storedId(contractId), creatorColumn(coin.creator), extra);
    }
    holding.finish();
    const active = created.filter(isActive);
    for (const i of rowOrder(active, ofOwner)) {
      const { owner, no, createdSeq, create } = active[i]!;
      const { createdAt, expiry, idHash } = create;
      epochs.addHeld(owner);
      held.add(epochs.newest, owner.no, createdAt, no, createdSeq, expiryColumn(expiry), idHash | 0);
    }
    held.finish();
    const rows: SpentRow[] = [...created.filter(isSpent).map(spentOf), ...archived.filter(isSpent)];
    const ofEpoch = ({ owner, archivedSeq }: SpentRow): number => epochs.ofInterval(owner.migration, archivedSeq);
    for (const i of rowOrder(rows, ofEpoch, ofOwner, ofSeq, ofNo)) {
      const row = rows[i]!;
      const { owner, archivedSeq, createdAt, no, createdSeq, expiry } = row;
      spent.add(ofEpoch(row), owner.no, archivedSeq, createdAt, no, createdSeq, expiryColumn(expiry));
    }
    spent.finish();
  };
}

/** A number is bound as a bigint, because a column of any type would keep it as a REAL. */
function creatorColumn(creator: number | string | null): StoredId | bigint | null {
  return typeof creator === 'number' ? BigInt(creator) : creator && storedId(creator);
}

function spentOf({ owner, archivedSeq, no, createdSeq, create: { createdAt, expiry } }: PendingCoin): SpentRow {
  return { owner, archivedSeq, createdAt, no, createdSeq, expiry };
}

/** Whether it was archived in a later interval than that of its creation. */
const isSpent = ({ archivedSeq }: { readonly archivedSeq: number }): boolean => archivedSeq > 0;
const ofOwner = ({ owner }: { readonly owner: Owner }): number => owner.no;
const ofNo = ({ no }: { readonly no: number }): number => no;
const ofSeq = ({ archivedSeq }: SpentRow): number => archivedSeq;

type Origin = Pick<CoinOrigin, 'templateId' | 'packageName'>;

/** Template ids as the feed writes them, with their package names, numbered by first appearance; few, so all are kept in memory. */
export class Templates {
  readonly #numbers: Map<string, number>;
  readonly #insert;
  #added: Origin[] = [];
  #last: { readonly origin: Origin; readonly no: number } | null = null;

  constructor(db: Database) {
    const rows = db.prepare<[], [string, number]>('SELECT template_id || char(10) || package_name, id FROM template');
    this.#numbers = new Map(rows.raw().all());
    this.#insert = db.prepare('INSERT INTO template VALUES (?, ?, ?)');
  }

  numberOf(origin: Origin): number {
    if (this.#last?.origin === origin) return this.#last.no;
    const name = `${origin.templateId}\n${origin.packageName}`;
    if (!this.#numbers.has(name)) this.#added.push(origin);
    const no = getOrMake(this.#numbers, name, () => this.#numbers.size + 1);
    this.#last = { origin, no };
    return no;
  }

  flush(): void {
    const stored = this.#numbers.size - this.#added.length;
    for (const [i, { templateId, packageName }] of this.#added.entries())
      this.#insert.run(stored + i + 1, templateId, packageName);
  }

  afterCommit(): void {
    this.#added = [];
  }
}
