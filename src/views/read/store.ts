import type { Database } from 'better-sqlite3';
import type { HoldingsStore } from '../../holdings/facts.ts';
import { openForReading } from '../store/database.ts';
import { createFactsReader } from './facts.ts';

/** The views of a data directory. Readers never wait for the writer (WAL). */
export interface ViewsStore extends HoldingsStore, Disposable {}

/** Opens them for one who reads alone, a transaction for each question; throws a Refusal where there are none. */
export function openViewsStore(dataDir: string): ViewsStore {
  const db = openForReading(dataDir);
  const reader = createFactsReader(db);
  const { begin, end } = prepareReading(db);
  return {
    async facts(asked) {
      begin();
      try {
        return reader.read(asked);
      } finally {
        end();
        reader.newMoment();
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** Rows that one question may have read on the event loop for its fees: a tenth of a millisecond, less than another thread costs. */
const EVENT_LOOP_ROWS_MAX = 32;

/**
 * The same for a server's event loop. What a question does not bound is not read there: it is refused with NOT_BOUNDED. The reads of one
 * turn of the event loop share a transaction, which ends with the turn. That saves a lock and an unlock for each request under load; what
 * another connection commits is seen from the next turn on.
 */
export function openEventLoopStore(dataDir: string): ViewsStore {
  const db = openForReading(dataDir);
  const reader = createFactsReader(db);
  const { begin, end } = prepareReading(db);
  let inTurn = false;
  const endTurn = (): void => {
    inTurn = false;
    reader.newMoment();
    if (db.open) end();
  };
  return {
    async facts(asked) {
      if (!inTurn) {
        begin();
        inTurn = true;
        setImmediate(endTurn);
      }
      return reader.read(asked, { rows: EVENT_LOOP_ROWS_MAX });
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** A transaction that only reads. What was read was read: where its end fails, at a damaged page, it is rolled back. */
function prepareReading(db: Database): { begin: () => void; end: () => void } {
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  return {
    begin: () => void begin.run(),
    end() {
      try {
        commit.run();
      } catch {
        if (db.inTransaction) db.exec('ROLLBACK');
      }
    },
  };
}
