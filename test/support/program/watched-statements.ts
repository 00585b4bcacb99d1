import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import DatabaseFile, { type Database, type Statement } from 'better-sqlite3';

/** A statement that this thread prepared. */
export interface WatchedStatement {
  /** The file's name, and the SQL in one line. */
  readonly name: string;
  /** How SQLite goes about it. */
  readonly plan: readonly string[];
  /** How often it was run, and the most pages that one run read for nothing: beyond two for each row it gave. */
  runs: number;
  pagesMost: number;
}

export interface WatchedStatements extends Disposable {
  readonly statements: readonly WatchedStatement[];
}

const METHODS = ['get', 'all', 'run'] as const;
const PAGES_PER_ROW = 2;

/**
 * Watches what this thread prepares and runs from now on, of any database. Pages are counted as the reads that the system sees of
 * this thread: SQLite's cache is dropped before each run, and reads a page at a time.
 */
export function watchStatements(): WatchedStatements {
  const prototype: { prepare: (sql: string) => Statement } = DatabaseFile.prototype;
  const { prepare } = prototype;
  const statements: WatchedStatement[] = [];
  prototype.prepare = function (this: Database, sql: string): Statement {
    const statement = prepare.call(this, sql);
    const plan = planOf(prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`), sql);
    const name = `${basename(this.name)}: ${sql.replaceAll(/\s+/g, ' ').trim()}`;
    const watched: WatchedStatement = { name, plan, runs: 0, pagesMost: 0 };
    statements.push(watched);
    return withCountedRuns(statement, watched);
  };
  return {
    statements,
    [Symbol.dispose]: () => {
      prototype.prepare = prepare;
    },
  };
}

/** What is bound does not matter to a plan, for our databases have no statistics. */
function planOf(explained: Statement, sql: string): string[] {
  const names = [...sql.matchAll(/[@:$](\w+)/g)].map(([, name]) => [name, null]);
  const values = names.length > 0 ? [Object.fromEntries(names)] : (sql.match(/\?/g) ?? []).map(() => null);
  return explained.all(...values).map((row) => (row as { detail: string }).detail);
}

function withCountedRuns(statement: Statement, watched: WatchedStatement): Statement {
  for (const method of METHODS) {
    const original = statement[method] as (...values: unknown[]) => unknown;
    const counted = (...values: unknown[]): unknown => {
      statement.database.pragma('shrink_memory');
      const before = readsOfThread();
      const result = original.apply(statement, values);
      const pages = readsOfThread() - before - READS_OF_LOOKING;
      const rows = Array.isArray(result) && method === 'all' ? result.length : 1;
      watched.runs += 1;
      watched.pagesMost = Math.max(watched.pagesMost, pages - rows * PAGES_PER_ROW);
      return result;
    };
    Object.defineProperty(statement, method, { value: counted });
  }
  // Counted as if all of its rows were read at once.
  Object.defineProperty(statement, 'iterate', { value: (...values: unknown[]) => statement.all(...values).values() });
  return statement;
}

function readsOfThread(): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1]);
}

const READS_OF_LOOKING = -(readsOfThread() - readsOfThread());
