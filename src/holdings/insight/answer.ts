import type { HoldingsStore } from '../facts.ts';
import { requireFollowed } from '../followed.ts';
import { changesTable, historyTable } from './history.ts';
import { ownersTable, topTable } from './owners.ts';
import { requireOrder } from './place.ts';
import type { TableQuestion } from './question.ts';
import { snapshotsTable } from './snapshots.ts';
import type { Table } from './table.ts';

/** The requested table. Rejects with a HoldingsFault. */
export async function answerTable(question: TableQuestion, store: HoldingsStore): Promise<Table> {
  if ('from' in question.query) requireOrder(question.query);
  if ('party' in question.query) await requireFollowed(store, [question.query.party]);
  switch (question.table) {
    case 'snapshots':
      return snapshotsTable(question.query, store);
    case 'owners':
      return ownersTable(question.query, store);
    case 'history':
      return historyTable(question.query, store);
    case 'changes':
      return changesTable(question.query, store);
    case 'top':
      return topTable(question.query, store);
  }
}
