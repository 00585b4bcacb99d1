import { setTimeout as sleep } from 'node:timers/promises';
import { type JobStore, type StartedJob, withJobStore } from '../postgres/jobs.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { Refusal } from '../refusal.ts';
import { FlinkFailure } from './failure.ts';
import { createJobManager, isOver, type JobManager } from './job-manager.ts';
import { secretsOf } from './parameters.ts';

export interface StopOptions {
  readonly rest: string;
  readonly postgres: PostgresSettings;
  /** Where to put the savepoint; null: where the cluster puts them. */
  readonly savepointFolder: string | null;
  /** Ends it as it is: for a job that cannot take one. */
  readonly withoutSavepoint: boolean;
  /** How many tasks have given their state, of how many. */
  readonly onProgress: (done: number, total: number) => void;
}

export interface StoppedJob {
  readonly jobId: string;
  /** The savepoint; of a job that ended without one its last checkpoint, or what it had begun with. Null for neither. */
  readonly path: string | null;
}

const LOOK_MS = 200;

/** Stops the job that fills a store. Throws where there is none, and where no savepoint came of it: then it goes on. */
export async function stopJob(options: StopOptions): Promise<StoppedJob> {
  const { rest, postgres, withoutSavepoint } = options;
  const manager = createJobManager(rest, secretsOf(null, postgres));
  return withJobStore(postgres, async (store) => {
    await store.settings();
    const { jobId, restoredFrom } = await runningJob(manager, store);
    const path = withoutSavepoint
      ? ((await cancelled(manager, jobId)) ?? restoredFrom)
      : await savepointOf(manager, jobId, options);
    if (path !== null) await store.leaveAt(jobId, path);
    return { jobId, path };
  });
}

async function runningJob(manager: JobManager, store: JobStore): Promise<StartedJob> {
  const started = await store.jobs();
  const [newest] = started;
  if (newest === undefined) throw new Refusal('no job was started for this store');
  const active = new Set((await manager.jobs()).filter(({ state }) => !isOver(state)).map(({ jid }) => jid));
  const running = started.find(({ jobId }) => active.has(jobId));
  if (running !== undefined) return running;
  const job = await manager.job(newest.jobId);
  const state = job === null ? 'not known to the cluster (over, or Flink was started anew)' : `${job.state} already`;
  throw new Refusal(`job ${newest.jobId} is ${state}: holdfast flink status says how to go on`);
}

async function savepointOf(
  manager: JobManager,
  jobId: string,
  { savepointFolder, onProgress }: StopOptions,
): Promise<string> {
  const request = await triggered(manager, jobId, savepointFolder);
  for (;;) {
    const ended = await manager.savepoint(jobId, request);
    if (ended !== null && 'failure' in ended)
      throw new Error(
        `job ${jobId} was not stopped with a savepoint: ${ended.failure}; --without-savepoint ends one that cannot make it`,
      );
    if (ended !== null) {
      await awaitEnd(manager, jobId);
      return ended.path;
    }
    const { history } = await manager.checkpoints(jobId);
    const taken = history.find(({ status, is_savepoint }) => is_savepoint && status === 'IN_PROGRESS');
    if (taken !== undefined) onProgress(taken.num_acknowledged_subtasks, taken.num_subtasks);
    await sleep(LOOK_MS);
  }
}

async function triggered(manager: JobManager, jobId: string, folder: string | null): Promise<string> {
  try {
    return await manager.stop(jobId, folder);
  } catch (error) {
    if (!(error instanceof FlinkFailure) || error.status === null) throw error;
    throw new Error(`job ${jobId} cannot make a savepoint and goes on: ${error.message}`, { cause: error });
  }
}

async function cancelled(manager: JobManager, jobId: string): Promise<string | null> {
  await manager.cancel(jobId);
  await awaitEnd(manager, jobId);
  const { latest } = await manager.checkpoints(jobId);
  return latest.completed?.external_path ?? null;
}

/** Its tasks write until it is over. */
async function awaitEnd(manager: JobManager, jobId: string): Promise<void> {
  for (;;) {
    const job = await manager.job(jobId);
    if (job === null || isOver(job.state)) return;
    await sleep(LOOK_MS);
  }
}
