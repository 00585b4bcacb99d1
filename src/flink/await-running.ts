import { setTimeout as sleep } from 'node:timers/promises';
import { isOver, type JobManager } from './job-manager.ts';

/** For the tasks of a job to be given out, to read their state, and to connect. */
const START_MS_MAX = 120_000;
/** What fails as often as this will not mend itself. */
const RESTARTS_MAX = 3;
const LOOK_MS = 500;

/** Waits until all tasks of a job run. Throws an error with the root cause where they do not come to it. */
export async function awaitRunning(
  manager: JobManager,
  jobId: string,
  onLook: (tasks: { readonly running: number; readonly total: number; readonly state: string }) => void,
): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  for (;;) {
    const job = await manager.job(jobId);
    const vertices = job?.vertices ?? [];
    const running = vertices.filter(({ status }) => status === 'RUNNING').length;
    const state = job?.state ?? 'unknown to the cluster';
    onLook({ running, total: vertices.length, state });
    if (state === 'RUNNING' && running === vertices.length) return;
    const restarts = job === null ? null : await manager.restarts(jobId);
    const isGivenUp = job === null || isOver(state) || (restarts ?? 0) >= RESTARTS_MAX;
    if (isGivenUp || performance.now() > deadline) {
      const last = job === null ? null : await manager.lastException(jobId);
      const why = last === null ? '' : `: ${last.cause}`;
      throw new Error(`job ${jobId} is ${state}, with ${running} of ${vertices.length} tasks at work${why}`);
    }
    await sleep(LOOK_MS);
  }
}
