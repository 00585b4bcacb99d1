import { Histogram, type Registry } from 'prom-client';
import type { HoldingsStore } from '../holdings/facts.ts';
import { counters, gauges, knownNow, shared } from '../http/prometheus.ts';
import { type Health, NOT_READY_CAUSES } from '../http/service-operations.ts';
import type { IngestStatus, Timed } from '../ingest/ingest-status.ts';
import { DECISIONS } from '../views/store/dead-letter-store.ts';

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

const NO_DEAD_LETTERS = Object.fromEntries(DECISIONS.map((decision) => [decision, 0]));

/**
 * The bounds lie around what was measured (docs/figures.md): a commit takes a millisecond of a few updates and seconds of
 * 100,000 events; sealing takes a millisecond, and 20 of thousands of changes; a batch of a mebibyte takes 10 to 20 to decode.
 */
const TIMES: Readonly<Record<Timed['what'], Histogram>> = {
  commit: new Histogram({
    name: 'holdfast_commit_seconds',
    help: 'Time of a transaction that writes what was applied.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [],
  }),
  seal: new Histogram({
    name: 'holdfast_seal_seconds',
    help: 'Time to seal a snapshot, before its rows are committed.',
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
    registers: [],
  }),
  decode: new Histogram({
    name: 'holdfast_decode_seconds',
    help: 'Time to decode the messages of a batch, up to about a mebibyte.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers: [],
  }),
};

export function noteTimed({ what, seconds }: Timed): void {
  TIMES[what].observe(seconds);
}

/** What `/metrics` says of the ingest. */
export function measureIngest(registry: Registry, status: () => IngestStatus): void {
  type NotNumbers = 'ignored' | 'eventsByKind' | 'firstLegsDifference';
  const of = (name: keyof Omit<IngestStatus['counts'], NotNumbers>) => () => status().counts[name];
  const ofSource = (name: 'lagMessages' | 'lagBytes' | 'lagSeconds') => () => status().source?.status[name] ?? null;
  counters(registry, {
    holdfast_updates_total: { help: 'Updates applied: transactions, reassignments, imports.', read: of('updates') },
    holdfast_events_total: {
      help: 'Creates and archives of coins, rounds and tokens applied, by kind.',
      label: 'kind',
      read: () => status().counts.eventsByKind,
    },
    holdfast_updates_redelivered_total: { help: 'Updates skipped as known.', read: of('redelivered') },
    holdfast_imports_late_total: {
      help: "Imports skipped because they came after their migration's first other update.",
      read: of('importsLate'),
    },
    holdfast_creates_repeated_total: {
      help: 'Creates of a contract that was active with equal content.',
      read: of('createsRepeated'),
    },
    holdfast_counterfeits_total: { help: 'Creates of coins and rounds that do not count.', read: of('counterfeits') },
    holdfast_view_differs_total: {
      help: 'Creates of coins whose views name another owner or amount.',
      read: of('viewDiffers'),
    },
    holdfast_checkpoints_total: { help: 'Checkpoints read.', read: of('checkpoints') },
    holdfast_checkpoints_behind_total: { help: 'Checkpoints that did not move time.', read: of('checkpointsBehind') },
    holdfast_messages_decided_total: {
      help: 'Messages skipped because they were dropped or quarantined before.',
      read: of('decided'),
    },
    holdfast_legs_agree_total: {
      help: 'Changes of accounts that are what the EventLog events of their update come to.',
      read: of('legsAgree'),
    },
    holdfast_legs_differ_total: {
      help: 'Changes of accounts that are not what the EventLog events of their update come to.',
      read: of('legsDiffer'),
    },
    holdfast_ignored_total: {
      help: 'Events and messages that do not concern the views, by kind.',
      label: 'what',
      read: () => status().counts.ignored,
    },
  });
  for (const histogram of Object.values(TIMES)) registry.registerMetric(histogram);
  gauges(registry, {
    holdfast_halted: { help: 'Whether the ingest is halted.', read: () => (status().halted === null ? 0 : 1) },
    holdfast_dead_letters: {
      help: 'Dead letters stored, by decision.',
      label: 'decision',
      // Each from the start, so that the first one is seen as an increase.
      read: () => ({ ...NO_DEAD_LETTERS, ...status().deadLetters }),
    },
    holdfast_holdings_unreadable: {
      help: 'Active holdings of tokens whose views cannot be read.',
      read: () => status().tokens.unreadable,
    },
    holdfast_newest_update_timestamp_seconds: {
      help: 'Record time of the newest update applied.',
      read: () => seconds(status().appliedRecordTime, 1_000_000),
    },
    holdfast_source_caught_up_timestamp_seconds: {
      help: 'When everything that the source had at that time was stored.',
      read: () => seconds(status().source?.status.caughtUpAt ?? null, 1_000),
    },
    holdfast_source_lag_messages: {
      help: 'Messages of the source that are not stored yet.',
      read: ofSource('lagMessages'),
    },
    holdfast_source_lag_bytes: { help: 'Bytes of the source that are not read yet.', read: ofSource('lagBytes') },
    holdfast_source_lag_seconds: {
      help: 'Record time from the newest update applied to the newest known.',
      read: ofSource('lagSeconds'),
    },
    holdfast_source_position: {
      help: 'Number of the message at which reading of the source continues, by lane.',
      label: 'lane',
      read: () => status().source?.status.positions ?? {},
    },
  });
}

function seconds(time: number | null, unitsPerSecond: number): number | null {
  return time === null ? null : time / unitsPerSecond;
}
