import type { HoldingsStore } from '../facts.ts';
import { changesTable, historyTable } from './history.ts';
import { ownersTable, topTable } from './owners.ts';
import type { TableQuestion } from './question.ts';
import { snapshotsTable } from './snapshots.ts';
import type { Table } from './table.ts';

/** The table that is asked for. Rejects with a HoldingsFault. */
export function answerTable(question: TableQuestion, store: HoldingsStore): Promise<Table> {
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
