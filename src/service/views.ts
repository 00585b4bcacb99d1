import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { startAnswers } from '../views/read/answers.ts';
import { createTableMeasurer } from '../views/read/measured-tables.ts';
import { openEventLoopStore } from '../views/read/store.ts';
import { measureViews } from './metrics.ts';
import type { Holdings } from './role.ts';

/** The views of a data directory, and the threads that read them. */
export function openViews(
  { dataDir, emptyOwners }: Pick<Config, 'dataDir' | 'emptyOwners'>,
  logger: Logger,
): Holdings & AsyncDisposable {
  using starting = new DisposableStack();
  const store = starting.use(openEventLoopStore(dataDir));
  const answers = startAnswers(store, { dataDir, rules: { emptyOwners }, logger });
  const measurer = createTableMeasurer(dataDir, logger);
  const opened = starting.move();
  return {
    name: { data: dataDir },
    store,
    answers,
    measure: (registry) => measureViews(registry, { dataDir, reads: answers.load, tables: measurer.tables }),
    async [Symbol.asyncDispose]() {
      await Promise.all([measurer, answers].map((part) => part[Symbol.asyncDispose]()));
      opened.dispose();
    },
  };
}
