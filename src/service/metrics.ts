import type { Registry } from 'prom-client';
import type { HoldingsStore } from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { gauges } from '../http/prometheus.ts';
import { type Health, NOT_READY_CAUSES } from '../http/readiness.ts';

/** What `/metrics` says of a service that writes, or only reads. Everything is read when the metrics are requested. */
export function measureService(
  registry: Registry,
  { version, health, store }: { version: string; health: Health; store: HoldingsStore },
): void {
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
