import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { HoldingsStore } from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/fault.ts';
import { gauges } from '../http/server/metrics.ts';
import { type Health, NOT_READY_CAUSES } from '../http/service/health.ts';
import type { MeasuredTables } from '../views/read/measured-tables.ts';
import type { ReadLoad } from '../views/read/reader-thread.ts';
import type { TableSize } from '../views/read/table-sizes.ts';
import { viewsFile } from '../views/store/database.ts';
import { SCHEMA_VERSION } from '../views/store/schema.ts';

export interface MeasuredService {
  readonly version: string;
  readonly health: Health;
  readonly store: HoldingsStore;
}

/** What `/metrics` says of a service that writes, or only reads. Everything is read when the metrics are requested. */
export function measureService(registry: Registry, service: MeasuredService): void {
  const { version, health, store } = service;
  const ready = shared(() => health.ready());
  const newestSnapshots = shared(() => knownNow(store.facts({ kind: 'newest snapshots' })));
  const newest = async (figure: 'recordTime' | 'contracts' | 'owners'): Promise<Record<string, number>> => {
    const snapshots = (await newestSnapshots()) ?? [];
    const unit = figure === 'recordTime' ? 1e-6 : 1;
    return Object.fromEntries(snapshots.map((snapshot) => [snapshot.migrationId, Number(snapshot[figure]) * unit]));
  };
  gauges(registry, {
    holdfast_build_info: {
      help: 'Always 1, with the version of the program.',
      label: 'version',
      read: () => ({ [version]: 1 }),
    },
    holdfast_ready: { help: 'Whether /readyz answers 200.', read: async () => ((await ready()).ready ? 1 : 0) },
    holdfast_not_ready: {
      help: 'Why /readyz does not answer 200: 1 for each cause.',
      label: 'cause',
      read: async () => {
        const { causes } = await ready();
        return Object.fromEntries(NOT_READY_CAUSES.map((cause) => [cause, causes.includes(cause) ? 1 : 0]));
      },
    },
    holdfast_degraded: {
      help: 'How many things are wrong although it may be ready.',
      read: async () => (await ready()).degraded.length,
    },
    holdfast_newest_snapshot_timestamp_seconds: {
      help: 'Record time of the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('recordTime'),
    },
    holdfast_snapshot_period_seconds: {
      help: 'Record time between two snapshots; once there is one.',
      read: async () => {
        const migration = await knownNow(store.facts({ kind: 'migration', migrationId: null }));
        return migration && migration.periodUs / 1_000_000;
      },
    },
    holdfast_newest_snapshot_contracts: {
      help: 'Active coin contracts in the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('contracts'),
    },
    holdfast_newest_snapshot_owners: {
      help: 'Owners with coin in the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('owners'),
    },
  });
}

/** What `/metrics` says of a data directory. */
export function measureViews(
  registry: Registry,
  {
    dataDir,
    reads,
    tables,
  }: {
    readonly dataDir: string;
    readonly reads: () => ReadLoad;
    readonly tables: () => MeasuredTables | null;
  },
): void {
  const measured = (figure: keyof TableSize): Record<string, number> =>
    Object.fromEntries(
      Object.entries(tables()?.sizes ?? {}).flatMap(([table, size]) => (size === null ? [] : [[table, size[figure]]])),
    );
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
    holdfast_table_rows: {
      help: 'Rows of the tables of views.db, as last measured.',
      label: 'table',
      read: () => measured('rows'),
    },
    holdfast_table_bytes: {
      help: 'Size of the tables of views.db with their indexes, as last measured.',
      label: 'table',
      read: () => measured('bytes'),
    },
    holdfast_tables_measured_timestamp_seconds: {
      help: 'When the tables were last measured.',
      read: () => {
        const last = tables();
        return last && last.atMs / 1_000;
      },
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

/** Null where the store cannot be asked now. */
export async function knownNow<T>(facts: Promise<T>): Promise<T | null> {
  try {
    return await facts;
  } catch (error) {
    if (error instanceof HoldingsFault) return null;
    throw error;
  }
}

/** Several metrics of one request are of the same reading, which is shared while it is under way. */
export function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}

/** 0 where it is not there: the write-ahead log goes with the last connection. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
