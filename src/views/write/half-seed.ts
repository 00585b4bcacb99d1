import type { Database } from 'better-sqlite3';
import { FeedRefused } from '../../feed/source.ts';
import type { ActiveIds } from './active-ids.ts';
import { HALF_SEED, type WriterState } from './state.ts';

/** What a directory is, and what people decided: not of the seed. */
const KEPT = ['setting', 'dead_letter'];

/**
 * Empties the views, in which nothing but half a seed may be, so that another one can begin: contracts of the first that are not in
 * the second would stay for ever. A transaction of its own: a crash behind it leaves views as they were before any feed. Throws
 * FeedRefused where there is more.
 */
export function forgetHalfSeed(
  db: Database,
  { migrations }: WriterState,
  { source, active }: { source: string; active: ActiveIds },
): void {
  const others = [...migrations.values()].filter(({ seededAt }) => seededAt !== HALF_SEED);
  if (others.length > 0)
    throw new FeedRefused(
      `these views have imports of migration ${others[0]!.migrationId} and no update, and ${source} begins with a seed: ` +
        'replay the updates of that migration first, or give another --data directory',
    );
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all();
  db.transaction(() => {
    for (const table of tables) if (!KEPT.includes(table)) db.prepare(`DELETE FROM ${table}`).run();
    db.prepare('UPDATE setting SET next_no = 1, next_owner = 1, feed = NULL').run();
  })();
  active.forget();
}
