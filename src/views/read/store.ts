import type { HoldingsStore } from '../../holdings/facts.ts';
import { openForReading } from '../store/database.ts';
import { createFactsReader } from './facts.ts';

/** The views of a data directory. Readers never wait for the writer (WAL). */
export interface ViewsStore extends HoldingsStore, Disposable {}

/** Opens the views for a single reader, with a transaction for each question; throws a Refusal where there are none. */
export function openViewsStore(dataDir: string): ViewsStore {
  return openStore(dataDir, { rows: Infinity, isShared: false });
}

/** Rows that one question may read on the event loop for fees: a tenth of a millisecond, less than using a thread costs. */
const EVENT_LOOP_ROWS_MAX = 32;

/**
 * Opens the views for a server's event loop, where unbounded reads are refused with NOT_BOUNDED. All reads of one turn of the
 * event loop share a transaction, which ends with the turn. That saves a lock and an unlock for each request under load;
 * commits of other connections are seen from the next turn on.
 */
export function openEventLoopStore(dataDir: string): ViewsStore {
  return openStore(dataDir, { rows: EVENT_LOOP_ROWS_MAX, isShared: true });
}

function openStore(dataDir: string, { rows, isShared }: { rows: number; isShared: boolean }): ViewsStore {
  const db = openForReading(dataDir);
  const reader = createFactsReader(db);
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  /** What `db.inTransaction` would say, at a fortieth of a request's cost. */
  let inTransaction = false;
  const end = (): void => {
    inTransaction = false;
    reader.newMoment();
    if (!db.open) return;
    try {
      commit.run();
    } catch {
      // At a damaged page: what was read stays valid.
      if (db.inTransaction) db.exec('ROLLBACK');
    }
  };
  return {
    async facts(lookup) {
      if (!inTransaction) {
        begin.run();
        inTransaction = true;
        if (isShared) setImmediate(end);
      }
      try {
        return reader.read(lookup, { rows });
      } catch (error) {
        // Some of SQLite's errors end the transaction.
        ({ inTransaction } = db);
        throw error;
      } finally {
        if (!isShared) end();
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}
