import { giveWay, serveThread } from '../../threads/serve-thread.ts';
import { openForReading } from '../store/database.ts';
import type { SizesContract } from './measured-tables.ts';
import { readTableSizes } from './table-sizes.ts';

/** The thread that measures the tables, on a connection of its own. */
await serveThread<SizesContract>(async ({ data: { dataDir } }) => {
  await giveWay();
  const db = openForReading(dataDir);
  return {
    measure: (limits) => readTableSizes(db, limits),
    [Symbol.asyncDispose]: async () => void db.close(),
  };
});
