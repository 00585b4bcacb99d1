import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { type EventLog, UNCOUNTED_LOG } from '../../ledger/update.ts';
import { BulkRows } from '../store/stored-rows.ts';
import type { Applying } from './apply-events.ts';
import { addIgnored } from './state.ts';

/** The rows of `movement_legs` that wait for the commit. */
export class MovementLegs {
  readonly #insert: BulkRows;
  readonly #rows: { readonly updateNo: number; readonly account: number; readonly legs: string }[] = [];

  constructor(db: Database) {
    this.#insert = BulkRows.inserting(db, 'INSERT INTO movement_legs', 3);
  }

  add(row: { updateNo: number; account: number; legs: string }): void {
    this.#rows.push(row);
  }

  flush(): void {
    for (const { updateNo, account, legs } of this.#rows) this.#insert.add(updateNo, account, legs);
    this.#insert.finish();
  }

  afterCommit(): void {
    this.#rows.length = 0;
  }
}

/**
 * Compares the EventLog events of an update with what it changed in their accounts, and keeps their legs where that is a movement. Called
 * between its other events and its end. A difference is only counted: totals come from coins (docs/rules.md, rule 15).
 */
export function applyEventLogs({ batch, migration, update }: Applying): void {
  if (update.eventLogs.length === 0) return;
  const { counts, updates, state } = batch;
  const ofParty = new Map<string, EventLog[]>();
  for (const log of update.eventLogs) {
    const { admin, owner } = log;
    const isCounted = admin !== null && admin === state.dso && (state.followed?.has(owner) ?? true);
    if (isCounted) getOrMake(ofParty, owner, () => []).push(log);
    else addIgnored(counts, UNCOUNTED_LOG);
  }
  for (const [party, logs] of ofParty) {
    const owner = batch.owners.find(migration, party);
    const [unlocked, locked] = owner === undefined ? [0n, 0n] : updates.changeOf(owner);
    const net = netOf(logs);
    if (net === unlocked + locked) counts.legsAgree += 1;
    else if (net !== null) {
      counts.legsDiffer += 1;
      const [said, is] = [net, unlocked + locked].map(formatAmount);
      counts.firstLegsDifference ??= `update ${update.updateId}, ${party}: its legs come to ${said}, its coins changed by ${is}`;
    }
    if (owner === undefined || (unlocked === 0n && locked === 0n)) continue;
    const legs = logs.flatMap((log) => (log.legs === '' ? [] : [log.legs]));
    batch.legs.add({ updateNo: updates.no, account: owner.no, legs: `[${legs.join(',')}]` });
  }
}

/** Null where the feed does not show all of what they tell. */
function netOf(logs: readonly EventLog[]): bigint | null {
  return logs.reduce<bigint | null>((sum, { net }) => (sum === null || net === null ? null : sum + net), 0n);
}
