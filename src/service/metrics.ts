import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { HoldingsStore } from '../holdings/facts.ts';
import { counters, gauges } from '../http/server/metrics.ts';
import { type Health, NOT_READY_CAUSES } from '../http/service/health.ts';
import type { IngestStatus } from '../ingest/status.ts';
import { viewsFile } from '../views/store/database.ts';
import { SCHEMA_VERSION } from '../views/store/schema.ts';

export interface MeasuredService {
  readonly reads: () => { readonly busy: number; readonly waiting: number };
  readonly dataDir: string;
  readonly version: string;
  readonly health: Health;
  readonly store: HoldingsStore;
}

/** What `/metrics` says of a service that writes, or only reads. Everything is read when the metrics are requested. */
export function measureService(registry: Registry, service: MeasuredService): void {
  const { dataDir, version, health, store, reads } = service;
  const newest = async (figure: 'recordTime' | 'contracts' | 'owners'): Promise<Record<string, number>> => {
    const snapshots = await store.facts({ kind: 'newest snapshots' });
    const unit = figure === 'recordTime' ? 1e-6 : 1;
    return Object.fromEntries(snapshots.map((snapshot) => [snapshot.migrationId, Number(snapshot[figure]) * unit]));
  };
  gauges(registry, [
    {
      name: 'holdfast_build_info',
      help: 'Always 1, with the version of the program.',
      label: 'version',
      read: () => ({ [version]: 1 }),
    },
    { name: 'holdfast_schema_version', help: 'The version of the tables of views.db.', read: () => SCHEMA_VERSION },
    {
      name: 'holdfast_ready',
      help: 'Whether /readyz answers 200.',
      read: async () => ((await health.ready()).ready ? 1 : 0),
    },
    {
      name: 'holdfast_not_ready',
      help: 'Why /readyz does not answer 200: 1 for each cause.',
      label: 'cause',
      read: async () => {
        const { causes } = await health.ready();
        return Object.fromEntries(NOT_READY_CAUSES.map((cause) => [cause, causes.includes(cause) ? 1 : 0]));
      },
    },
    {
      name: 'holdfast_degraded',
      help: 'How many things are wrong although it may be ready.',
      read: async () => (await health.ready()).degraded.length,
    },
    {
      name: 'holdfast_newest_snapshot_timestamp_seconds',
      help: 'Record time of the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('recordTime'),
    },
    {
      name: 'holdfast_newest_snapshot_contracts',
      help: 'Active coin contracts in the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('contracts'),
    },
    {
      name: 'holdfast_newest_snapshot_owners',
      help: 'Owners with coin in the newest snapshot, by migration.',
      label: 'migration',
      read: () => newest('owners'),
    },
    {
      name: 'holdfast_reader_threads_busy',
      help: 'Threads that read what a request does not bound.',
      read: () => reads().busy,
    },
    { name: 'holdfast_reads_waiting', help: 'Reads that wait for such a thread.', read: () => reads().waiting },
    {
      name: 'holdfast_file_bytes',
      help: 'Size of views.db and of its write-ahead log.',
      label: 'file',
      read: () => ({ 'views.db': sizeOf(viewsFile(dataDir)), 'views.db-wal': sizeOf(`${viewsFile(dataDir)}-wal`) }),
    },
    {
      name: 'holdfast_disk_free_bytes',
      help: 'Free on the disk of the data directory, for a process that is not of root.',
      read: async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return bavail * bsize;
      },
    },
  ]);
}

/** What `/metrics` says of the ingest. */
export function measureIngest(registry: Registry, status: () => IngestStatus): void {
  const of = (name: keyof Omit<IngestStatus['counts'], 'ignored'>) => () => status().counts[name];
  counters(registry, [
    {
      name: 'holdfast_updates_total',
      help: 'Updates applied: transactions, reassignments, imports.',
      read: of('updates'),
    },
    { name: 'holdfast_events_total', help: 'Creates and archives of coins and rounds applied.', read: of('events') },
    { name: 'holdfast_updates_redelivered_total', help: 'Updates skipped as known.', read: of('redelivered') },
    {
      name: 'holdfast_imports_late_total',
      help: "Imports skipped because they came after their migration's first other update.",
      read: of('importsLate'),
    },
    {
      name: 'holdfast_creates_repeated_total',
      help: 'Creates of a contract that was active with equal content.',
      read: of('createsRepeated'),
    },
    {
      name: 'holdfast_counterfeits_total',
      help: 'Creates of coins and rounds that do not count.',
      read: of('counterfeits'),
    },
    { name: 'holdfast_checkpoints_total', help: 'Checkpoints read.', read: of('checkpoints') },
    {
      name: 'holdfast_checkpoints_behind_total',
      help: 'Checkpoints that did not move time.',
      read: of('checkpointsBehind'),
    },
    {
      name: 'holdfast_messages_decided_total',
      help: 'Messages skipped because they were dropped or quarantined before.',
      read: of('decided'),
    },
    {
      name: 'holdfast_ignored_total',
      help: 'Events and messages that do not concern the views, by kind.',
      label: 'what',
      read: () => status().counts.ignored,
    },
  ]);
  gauges(registry, [
    { name: 'holdfast_halted', help: 'Whether the ingest is halted.', read: () => (status().halted === null ? 0 : 1) },
    {
      name: 'holdfast_dead_letters',
      help: 'Dead letters stored, by decision.',
      label: 'decision',
      read: () => status().deadLetters,
    },
    {
      name: 'holdfast_newest_update_timestamp_seconds',
      help: 'Record time of the newest update applied.',
      read: () => seconds(status().appliedRecordTime, 1_000_000),
    },
    {
      name: 'holdfast_source_caught_up_timestamp_seconds',
      help: 'When everything that the source had at that time was stored.',
      read: () => seconds(status().source?.status.caughtUpAt ?? null, 1_000),
    },
    {
      name: 'holdfast_source_lag_messages',
      help: 'Messages of the source that are not stored yet.',
      read: () => status().source?.status.lagMessages ?? null,
    },
    {
      name: 'holdfast_source_lag_bytes',
      help: 'Bytes of the source that are not read yet.',
      read: () => status().source?.status.lagBytes ?? null,
    },
    {
      name: 'holdfast_source_lag_seconds',
      help: 'Record time from the newest update applied to the newest known.',
      read: () => status().source?.status.lagSeconds ?? null,
    },
    {
      name: 'holdfast_source_disagreements',
      help: 'Updates of a server that others did not tell alike, and that were not believed.',
      label: 'server',
      read: () => status().source?.status.disagreements ?? {},
    },
  ]);
}

function seconds(time: number | null, unitsPerSecond: number): number | null {
  return time === null ? null : time / unitsPerSecond;
}

/** 0 where it is not there: the write-ahead log goes with the last connection. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
