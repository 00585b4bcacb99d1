import type { Database } from 'better-sqlite3';

/** A table with its indexes. */
export interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

/** By table; null where reading it took too long. */
export type TableSizes = Readonly<Record<string, TableSize | null>>;

interface Tree {
  /** A b-tree has the name of its table or index. */
  readonly name: string;
  readonly tableName: string;
  readonly type: 'table' | 'index';
  /** 1 for WITHOUT ROWID: then the inner pages have some of the rows. */
  readonly rowsOnAllPages: number;
}

interface Page {
  readonly pagetype: 'internal' | 'leaf' | 'overflow';
  readonly ncell: number;
  readonly pgsize: number;
}

/**
 * Counts the pages and rows of every table of views.db, which reads all of it: a b-tree at a time, so that no read transaction is longer
 * than that takes, and at most `treeMsMax`.
 */
export function readTableSizes(db: Database, { treeMsMax }: { readonly treeMsMax: number }): TableSizes {
  const trees = db.prepare<[], Tree>(
    `SELECT s.name, s.tbl_name AS tableName, s.type, t.wr AS rowsOnAllPages
     FROM sqlite_schema s JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.tbl_name`,
  );
  const pages = db.prepare<[string], Page>('SELECT pagetype, ncell, pgsize FROM dbstat WHERE name = ?');

  function sizeOf({ name, type, rowsOnAllPages }: Tree): TableSize | null {
    const until = performance.now() + treeMsMax;
    let [rows, bytes] = [0, 0];
    for (const { pagetype, ncell, pgsize } of pages.iterate(name)) {
      if (performance.now() > until) return null;
      bytes += pgsize;
      if (type === 'table' && (rowsOnAllPages === 1 || pagetype === 'leaf')) rows += ncell;
    }
    return { rows, bytes };
  }

  const sizes: Record<string, TableSize | null> = {};
  for (const tree of trees.all()) {
    const before = sizes[tree.tableName];
    const size = before === null ? null : sizeOf(tree);
    sizes[tree.tableName] = size && { rows: size.rows + (before?.rows ?? 0), bytes: size.bytes + (before?.bytes ?? 0) };
  }
  return sizes;
}
