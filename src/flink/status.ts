import type { KafkaConnection } from '../feed/kafka/kafka-client.ts';
import type { SourceLogger } from '../feed/source.ts';
import { endsOf } from '../flat-decoder/flat-topic.ts';
import { type StartedJob, type StoreProgress, withJobStore } from '../postgres/jobs.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { type Checkpoints, createJobManager, isOver, type JobManager } from './job-manager.ts';
import { jobName, secretsOf } from './parameters.ts';
import { readSourceProgress, type SourceProgress } from './source-progress.ts';

export interface StatusOptions {
  readonly rest: string;
  readonly postgres: PostgresSettings;
  /** Null: the ends of its partitions are not looked at. */
  readonly kafka: (KafkaConnection & { readonly topic: string }) | null;
  readonly logger: SourceLogger;
}

/** What was found, each part by itself; a text says why a part could not be had. */
export interface JobStatus {
  readonly cluster: { readonly version: string; readonly slots: number; readonly freeSlots: number } | string;
  /** The newest that was started for the store; null for none. */
  readonly started: StartedJob | null;
  readonly job: RunningJob | null;
  readonly store: StoreProgress | string;
  /** Between snapshots; null where the store does not say. */
  readonly periodUs: number | null;
  /** The end of each partition of the flat topic; null where no topic is given. */
  readonly ends: ReadonlyMap<number, number> | string | null;
  readonly atMs: number;
}

/** What the cluster says of the job. */
export interface RunningJob {
  readonly id: string;
  readonly state: string;
  /** When it came to this state. */
  readonly sinceMs: number;
  readonly tasks: { readonly running: number; readonly total: number };
  readonly restarts: number | null;
  readonly lastException: { readonly atMs: number; readonly cause: string } | null;
  readonly checkpoints: Checkpoints;
  readonly source: SourceProgress | null;
}

export async function readStatus({ rest, postgres, kafka, logger }: StatusOptions): Promise<JobStatus> {
  const manager = createJobManager(rest, secretsOf(kafka, postgres));
  const stored = await orReason(() =>
    withJobStore(postgres, async (store) => {
      const { periodUs } = await store.settings();
      return { periodUs, jobs: await store.jobs(), progress: await store.progress() };
    }),
  );
  const known = typeof stored === 'string' ? { periodUs: null, jobs: [], progress: stored } : stored;
  const [started = null] = known.jobs;
  const topic = started?.topic ?? kafka?.topic ?? null;
  const found = await orReason(async () => {
    const overview = await manager.overview();
    const id = started?.jobId ?? (typeof stored === 'string' ? await idByName(manager, jobName(postgres)) : null);
    return {
      cluster: {
        version: overview['flink-version'],
        slots: overview['slots-total'],
        freeSlots: overview['slots-available'],
      },
      job: id === null ? null : await readJob(manager, id, topic),
    };
  });
  return {
    ...(typeof found === 'string' ? { cluster: found, job: null } : found),
    started,
    store: known.progress,
    periodUs: known.periodUs,
    ends: kafka === null ? null : await orReason(() => endsOf(kafka, topic ?? kafka.topic, logger)),
    atMs: Date.now(),
  };
}

/** Where the store cannot be asked which job fills it. */
async function idByName(manager: JobManager, name: string): Promise<string | null> {
  const named = (await manager.jobs()).filter((job) => job.name === name);
  return (named.find(({ state }) => !isOver(state)) ?? named[0])?.jid ?? null;
}

async function readJob(manager: JobManager, id: string, topic: string | null): Promise<RunningJob | null> {
  const job = await manager.job(id);
  if (job === null) return null;
  const { state, vertices, timestamps } = job;
  const isRunning = state === 'RUNNING';
  return {
    id,
    state,
    sinceMs: timestamps[state] ?? 0,
    tasks: { running: vertices.filter(({ status }) => status === 'RUNNING').length, total: vertices.length },
    restarts: isOver(state) ? null : await manager.restarts(id),
    lastException: await manager.lastException(id),
    checkpoints: await manager.checkpoints(id),
    source: isRunning && topic !== null ? await readSourceProgress(manager, { jobId: id, vertices, topic }) : null,
  };
}

async function orReason<T>(step: () => Promise<T>): Promise<T | string> {
  try {
    return await step();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
