import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/load-config.ts';
import { gauges } from '../http/prometheus.ts';
import type { ReadLoad } from '../views/read/reader-thread.ts';
import { startAnswers } from '../views/read/server-answers.ts';
import { openEventLoopStore } from '../views/read/views-store.ts';
import { viewsFile } from '../views/store/database.ts';
import { SCHEMA_VERSION } from '../views/store/views-schema.ts';
import type { Holdings } from './role.ts';

/** The views of a data directory, and the threads that read them. */
export function openViews({ dataDir, emptyOwners }: Config, logger: Logger): Holdings & AsyncDisposable {
  using starting = new DisposableStack();
  const store = starting.use(openEventLoopStore(dataDir));
  const answers = startAnswers(store, { dataDir, rules: { emptyOwners }, logger });
  const opened = starting.move();
  return {
    name: { data: dataDir },
    store,
    answers,
    measure: (registry) => measureViews(registry, dataDir, answers.load),
    async [Symbol.asyncDispose]() {
      await answers[Symbol.asyncDispose]();
      opened.dispose();
    },
  };
}

/** What `/metrics` says of a data directory. */
function measureViews(registry: Registry, dataDir: string, reads: () => ReadLoad): void {
  gauges(registry, {
    holdfast_schema_version: { help: 'The version of the tables of views.db.', read: () => SCHEMA_VERSION },
    holdfast_reader_threads_busy: {
      help: 'Threads that read what a request does not bound.',
      read: () => reads().busy,
    },
    holdfast_reads_waiting: { help: 'Reads that wait for such a thread.', read: () => reads().waiting },
    holdfast_file_bytes: {
      help: 'Size of views.db and of its write-ahead log.',
      label: 'file',
      read: () => ({ 'views.db': sizeOf(viewsFile(dataDir)), 'views.db-wal': sizeOf(`${viewsFile(dataDir)}-wal`) }),
    },
    holdfast_disk_free_bytes: {
      help: 'Free on the disk of the data directory, for a process that is not of root.',
      read: async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return bavail * bsize;
      },
    },
  });
}

/** 0 where it is not there: the write-ahead log goes with the last connection. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
