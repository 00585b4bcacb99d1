import { isDamaged } from '../../machine-errors.ts';
import { differsIn, type VerifyContext, type VerifyStep } from './types.ts';

/** SQLite's own integrity check, table by table: pages, the order of keys, types, and every index against its table. */
export function* verifyFile(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const tables = db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    )
    .pluck()
    .all();
  for (const [done, table] of tables.entries()) {
    for (const found of integrityOf(table))
      if (found !== 'ok') differsIn(context, table)('an intact table and indexes', found);
    yield { phase: 'file', done: done + 1, total: tables.length };
  }

  /** At a page that cannot be read at all the check itself fails. */
  function integrityOf(table: string): readonly string[] {
    try {
      return (db.pragma(`integrity_check("${table}")`) as { integrity_check: string }[]).map(
        (row) => row.integrity_check,
      );
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return [(error as Error).message];
    }
  }
}
