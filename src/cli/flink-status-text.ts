import { clockPlace } from '../flat/place.ts';
import type { Finding } from '../flink/advice.ts';
import type { PartitionProgress } from '../flink/source-progress.ts';
import type { JobStatus, RunningJob } from '../flink/status.ts';
import { formatTime } from '../ledger/time.ts';
import { timeOrNull } from '../service/health.ts';
import { type Fact, formatFacts } from './terminal.ts';

export function jobStatusText(status: JobStatus, findings: readonly Finding[]): string {
  const { cluster, started, job, store, atMs } = status;
  const from = started?.restoredFrom == null ? 'from the first event' : `from ${started.restoredFrom}`;
  return formatFacts([
    ['job', job?.id ?? started?.jobId ?? 'none'],
    ['slots', typeof cluster === 'string' ? null : `${cluster.freeSlots} of ${cluster.slots} free`],
    ['started', started && `${started.startedAt.toISOString()}, ${from}`],
    ...(job === null ? [] : jobFacts(job, atMs)),
    ...partitionFacts(status),
    ...(typeof store === 'string' ? [] : storeFacts(store, atMs)),
    ...findings.flatMap(({ what, next }): Fact[] => [
      ['attention', what],
      ['  next', next],
    ]),
  ]);
}

function jobFacts(job: RunningJob, atMs: number): Fact[] {
  const { state, sinceMs, tasks, restarts, lastException, checkpoints, source } = job;
  const { completed } = checkpoints.latest;
  const taken =
    completed === null
      ? 'none yet'
      : `${ago(atMs - completed.latest_ack_timestamp)}, ${size(completed.state_size)} in ${completed.end_to_end_duration} ms`;
  return [
    ['state', `${state} since ${new Date(sinceMs).toISOString()}, ${tasks.running} of ${tasks.total} tasks run`],
    ['restarts', restarts],
    ['last exception', lastException && `${new Date(lastException.atMs).toISOString()} ${lastException.cause}`],
    ['last checkpoint', `${taken}; ${checkpoints.counts.completed} completed, ${checkpoints.counts.failed} failed`],
    ['closed up to', source && clockText(source.closedClk)],
    ['messages to read', source?.pending ?? null],
  ];
}

/** An offset is that of a message; what ends a transaction has one too, so that one at its end may be some behind. */
function partitionFacts({ ends, job }: JobStatus): Fact[] {
  const read: ReadonlyMap<number, PartitionProgress> = job?.source?.partitions ?? new Map();
  const known = ends === null || typeof ends === 'string' ? new Map<number, number>() : ends;
  const numbers = [...new Set([...read.keys(), ...known.keys()])].sort((a, b) => a - b);
  return numbers.map((partition) => {
    const { offset = null, closedClk = null } = read.get(partition) ?? {};
    const end = known.get(partition);
    const at = `${offset === null ? 'nothing read' : `read to offset ${offset}`}${end === undefined ? '' : ` of ${end}`}`;
    return [`  partition ${partition}`, `${at}, time ${clockText(closedClk)}`];
  });
}

function storeFacts(store: Exclude<JobStatus['store'], string>, atMs: number): Fact[] {
  const { closedUs, sealedUs, migrationId, unsealed, faults, late } = store;
  const sealed =
    sealedUs === null
      ? 'none yet'
      : `${formatTime(sealedUs)}, migration ${migrationId}, ${ago(atMs - sealedUs / 1000)}`;
  return [
    ['newest interval', closedUs === null ? 'none yet' : `ends ${formatTime(closedUs)}`],
    ['newest snapshot', sealed],
    ['unsealed intervals', unsealed],
    ['faults', faults],
    ['late events', late],
  ];
}

function clockText(clk: number | null): string {
  if (clk === null) return 'not known yet';
  const { m, ms } = clockPlace(clk);
  return `${formatTime(ms * 1000)}, migration ${m}`;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`;
}

export function jobStatusJson(status: JobStatus, findings: readonly Finding[]): object {
  const { cluster, started, job, store, ends, atMs } = status;
  return {
    cluster: ifAvailable(cluster, ({ version, slots, freeSlots }) => ({ version, slots, free_slots: freeSlots })),
    job: {
      id: job?.id ?? started?.jobId ?? null,
      started_at: started?.startedAt.toISOString() ?? null,
      restored_from: started?.restoredFrom ?? null,
      savepoint: started?.savepoint ?? null,
      state: job?.state ?? null,
      ...(job === null ? {} : jobFigures(job)),
    },
    topic: ends && ifAvailable(ends, (known) => topicFigures(known, job)),
    store: ifAvailable(store, ({ closedUs, sealedUs, unsealed, faults, late, contradictions }) => ({
      newest_interval_end: timeOrNull(closedUs),
      newest_snapshot: timeOrNull(sealedUs),
      newest_snapshot_age_seconds: sealedUs === null ? null : Math.floor((atMs - sealedUs / 1000) / 1000),
      unsealed_intervals: unsealed,
      faults,
      late_events: late,
      contradictions,
    })),
    attention: findings,
  };
}

function jobFigures({ sinceMs, tasks, restarts, lastException, checkpoints, source }: RunningJob): object {
  const { completed } = checkpoints.latest;
  return {
    since: new Date(sinceMs).toISOString(),
    tasks,
    restarts,
    last_exception: lastException && { at: new Date(lastException.atMs).toISOString(), cause: lastException.cause },
    checkpoints: {
      completed: checkpoints.counts.completed,
      failed: checkpoints.counts.failed,
      last: completed && {
        at: new Date(completed.latest_ack_timestamp).toISOString(),
        bytes: completed.state_size,
        milliseconds: completed.end_to_end_duration,
        path: completed.external_path ?? null,
      },
    },
    pending_messages: source?.pending ?? null,
    closed_up_to: placeJson(source?.closedClk ?? null),
  };
}

/** A text says why it is not. */
function ifAvailable<Known extends object>(known: Known | string, figures: (known: Known) => object): object {
  return typeof known === 'string' ? { available: false, reason: known } : { available: true, ...figures(known) };
}

function topicFigures(ends: ReadonlyMap<number, number>, job: RunningJob | null): object {
  const read = job?.source?.partitions;
  const partitions = [...ends].map(([partition, end]) => ({
    partition,
    offset: read?.get(partition)?.offset ?? null,
    end,
    closed_up_to: placeJson(read?.get(partition)?.closedClk ?? null),
  }));
  return { partitions };
}

function placeJson(clk: number | null): object | null {
  if (clk === null) return null;
  const { m, ms } = clockPlace(clk);
  return { migration_id: m, record_time: formatTime(ms * 1000) };
}
