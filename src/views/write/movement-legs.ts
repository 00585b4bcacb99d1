import type { Database } from 'better-sqlite3';
import type { UpdateContent } from '../../feed/decoded-batch.ts';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { type EventLog, UNCOUNTED_LOG } from '../../ledger/update.ts';
import { BulkRows } from '../store/stored-rows.ts';
import type { LedgerUpdates } from './ledger-updates.ts';
import { addIgnored, type Counts, type WriterState } from './state.ts';

interface BatchParts {
  readonly state: WriterState;
  readonly counts: Counts;
  readonly updates: LedgerUpdates;
}

const UNTOUCHED = { account: 0, unlocked: 0n, locked: 0n };

/** What the ledger says of movements, in EventLog events (docs/rules.md, rule 15): it waits for the commit. */
export class MovementLegs {
  readonly #batch: BatchParts;
  readonly #insert: BulkRows;
  readonly #rows: (readonly [updateNo: number, account: number, legs: string])[] = [];

  constructor(db: Database, batch: BatchParts) {
    this.#batch = batch;
    this.#insert = BulkRows.inserting(db, 'INSERT INTO movement_legs', 3);
  }

  /**
   * Compares the EventLog events of an update with what it changed in their accounts, and keeps their legs where that is a movement. Called
   * between its other events and its end. A difference is only counted: totals come from coins.
   */
  apply({ updateId, eventLogs }: UpdateContent): void {
    const { counts, updates } = this.#batch;
    for (const [party, logs] of this.#countedByOwner(eventLogs)) {
      const { account, unlocked, locked } = updates.changeOf(party) ?? UNTOUCHED;
      const net = netOf(logs);
      if (net === unlocked + locked) counts.legsAgree += 1;
      else if (net !== null) {
        counts.legsDiffer += 1;
        counts.firstLegsDifference ??=
          `update ${updateId}, ${party}: its legs come to ${formatAmount(net)}, ` +
          `its coins changed by ${formatAmount(unlocked + locked)}`;
      }
      if (unlocked === 0n && locked === 0n) continue;
      const legs = logs.flatMap((log) => (log.legs === '' ? [] : [log.legs]));
      this.#rows.push([updates.no, account, `[${legs.join(',')}]`]);
    }
  }

  #countedByOwner(eventLogs: readonly EventLog[]): ReadonlyMap<string, readonly EventLog[]> {
    const { counts, state } = this.#batch;
    const byOwner = new Map<string, EventLog[]>();
    for (const log of eventLogs) {
      const { admin, owner } = log;
      const isCounted = admin !== null && admin === state.dso && (state.followed?.has(owner) ?? true);
      if (isCounted) getOrMake(byOwner, owner, () => []).push(log);
      else addIgnored(counts, UNCOUNTED_LOG);
    }
    return byOwner;
  }

  flush(): void {
    for (const row of this.#rows) this.#insert.add(...row);
    this.#insert.finish();
  }

  afterCommit(): void {
    this.#rows.length = 0;
  }
}

/** Null where the feed does not show all of what they tell. */
function netOf(logs: readonly EventLog[]): bigint | null {
  return logs.reduce<bigint | null>((sum, { net }) => (sum === null || net === null ? null : sum + net), 0n);
}
