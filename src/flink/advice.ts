import { counted } from '../counted.ts';
import type { StartedJob } from '../postgres/jobs.ts';
import { type SealingStop, sealingStops } from '../postgres/standing.ts';
import { shellWord } from '../shell-word.ts';
import { isOver } from './job-manager.ts';
import type { SourceProgress } from './source-progress.ts';
import type { JobStatus, RunningJob } from './status.ts';

/** Something that is not as it should be, and what to do. */
export interface Finding {
  readonly what: string;
  readonly next: string;
}

/** What Kafka says where a partition no longer has what is read next. */
const EVENTS_GONE = /out of range/;
const AFTER_EVENTS_GONE =
  'events are gone that it has not read: decode into a new topic that keeps its messages, and replay into a new database';

/** A reader seals every second what the engine has closed; with imports in it, that takes longer. */
const UNSEALED_MAX = 2;

/** Partitions of one feed are as far as their last updates, which are not of the same moment. */
const INTERVALS_APART_MAX = 2;

/** What is wrong, the worst first; nothing where all is well. */
export function findingsOf(status: JobStatus): readonly Finding[] {
  return [...findingsOfJob(status), ...findingsOfTopic(status), ...findingsOfStore(status)];
}

function* findingsOfJob({ cluster, started, job, store }: JobStatus): Generator<Finding> {
  if (typeof store === 'string') yield { what: store, next: 'see to that first: the job needs the store' };
  if (typeof cluster === 'string') {
    yield {
      what: cluster,
      next: 'start the JobManager, or give its address as --flink-rest; what Flink keeps of the job comes back with it',
    };
    return;
  }
  if (started === null && job === null) {
    if (typeof store !== 'string') yield { what: 'no job was started for this store', next: 'holdfast flink start' };
    return;
  }
  if (job === null) {
    const { jobId, savepoint } = started!;
    yield {
      what: `the cluster does not know job ${jobId}: it is over, or Flink was started anew without high availability`,
      next:
        savepoint === null
          ? `where it cannot come back, holdfast flink start --replace-job ${jobId} --savepoint PATH, with the newest ${jobId}/chk-... of Flink's checkpoints; where there is none, replay into a new database`
          : goOnFrom(savepoint),
    };
    return;
  }
  yield* findingsOfRunning(job, started, cluster.freeSlots);
}

function* findingsOfRunning(job: RunningJob, started: StartedJob | null, freeSlots: number): Generator<Finding> {
  const { state, tasks, lastException, checkpoints } = job;
  const why = lastException === null ? '' : `: ${lastException.cause}`;
  const { completed, failed } = checkpoints.latest;
  if (isOver(state)) {
    const kept = started?.savepoint ?? completed?.external_path ?? started?.restoredFrom ?? null;
    const toGoOn = kept === null ? 'it has kept no state: replay into a new database' : goOnFrom(kept);
    const isGone = state === 'FAILED' && EVENTS_GONE.test(why);
    yield {
      what: `the job is ${state}${state === 'FAILED' ? why : ''}`,
      next: isGone ? AFTER_EVENTS_GONE : toGoOn,
    };
    return;
  }
  if (state !== 'RUNNING' || tasks.running < tasks.total) {
    yield {
      what: `the job is ${state}, with ${tasks.running} of ${tasks.total} tasks at work${why}`,
      next: EVENTS_GONE.test(why)
        ? `${AFTER_EVENTS_GONE}; holdfast flink stop --without-savepoint ends it`
        : freeSlots === 0 && tasks.running === 0
          ? 'no task slot is free: start a TaskManager; the job then goes on by itself'
          : 'look again in a moment; Flink tries again by itself. `holdfast flink stop --without-savepoint` ends a job that only fails',
    };
  }
  if (failed !== null && failed.id > (completed?.id ?? 0)) {
    yield {
      what: `the last checkpoint failed: ${failed.failure_message ?? 'no reason given'}`,
      next: 'look for a full disk, and for a task that does not keep up (Flink shows backpressure); a recovery would begin further back',
    };
  }
}

function goOnFrom(kept: string): string {
  return `holdfast flink start --savepoint ${shellWord(kept)}`;
}

function* findingsOfTopic({ ends, job, periodUs }: JobStatus): Generator<Finding> {
  if (typeof ends === 'string') yield { what: `Kafka: ${ends}`, next: 'the job waits for the brokers by itself' };
  const empty = [...(ends === null || typeof ends === 'string' ? [] : ends)]
    .filter(([, end]) => end === 0)
    .map(([partition]) => partition);
  if (empty.length > 0) {
    yield {
      what: `partition ${empty.join(', ')} of the flat topic has no event, and intervals are closed only where every partition has`,
      next: 'see that updates reach every partition, and that holdfast decode runs',
    };
  }
  if (job?.source?.pending !== 0 || empty.length > 0 || periodUs === null) return;
  const held = heldBackBy(job.source, (INTERVALS_APART_MAX * periodUs) / 1000);
  if (held.length > 0) {
    yield {
      what: `all that is there is read, and partition ${held.join(', ')} holds back the intervals of the others: its last update is older`,
      next: 'see that its updates are decoded (holdfast decode logs where it stopped, and its topic of dead letters says why), and that it gets any',
    };
  }
}

/** The partitions whose time is so far behind that of the furthest. */
function heldBackBy({ partitions }: SourceProgress, apartMsMax: number): number[] {
  const furthest = Math.max(...[...partitions.values()].map(({ closedClk }) => closedClk ?? 0));
  return [...partitions]
    .filter(([, { closedClk }]) => furthest - (closedClk ?? 0) > apartMsMax)
    .map(([partition]) => partition)
    .sort((a, b) => a - b);
}

function* findingsOfStore({ store }: JobStatus): Generator<Finding> {
  if (typeof store === 'string') return;
  const stops = sealingStops(store);
  for (const { cause, what } of stops) yield { what, next: AFTER_STOP[cause] };
  if (store.unsealed > UNSEALED_MAX && stops.length === 0) {
    yield {
      what: `${counted(store.unsealed, 'closed interval')} not sealed`,
      next: 'readers seal: see that a holdfast serve --postgres runs, and what its /readyz says',
    };
  }
}

const AFTER_STOP: Readonly<Record<SealingStop['cause'], string>> = {
  fault: "they are no ledger's events: mend the topic of updates, decode it anew, and replay into a new database",
  late: 'record times must rise in each partition of the updates: order them, decode anew, and replay into a new database',
  contradiction:
    'rows of several jobs may be mixed, or a seed be cut short: replay into a new database; see docs/scale-out.md',
};
