import { z } from 'zod';
import { createAsk } from './ask.ts';
import { FlinkFailure, redacted, rootCause } from './failure.ts';

/** States of a job that is over and will not come back by itself. */
const OVER: readonly string[] = ['FINISHED', 'CANCELED', 'FAILED'];

const OVERVIEW = z.object({
  'flink-version': z.string(),
  'slots-total': z.number(),
  'slots-available': z.number(),
});
const JOBS = z.object({ jobs: z.array(z.object({ jid: z.string(), name: z.string(), state: z.string() })) });
const JOB = z.object({
  state: z.string(),
  timestamps: z.record(z.string(), z.number()),
  vertices: z.array(z.object({ id: z.string(), name: z.string(), status: z.string() })),
});
const EXCEPTIONS = z.object({
  exceptionHistory: z.object({ entries: z.array(z.object({ timestamp: z.number(), stacktrace: z.string() })) }),
});
const CHECKPOINT = z.object({
  id: z.number(),
  latest_ack_timestamp: z.number(),
  state_size: z.number(),
  end_to_end_duration: z.number(),
  external_path: z.string().nullish(),
  failure_message: z.string().nullish(),
});
const CHECKPOINTS = z.object({
  counts: z.object({ completed: z.number(), failed: z.number() }),
  latest: z.object({
    completed: CHECKPOINT.nullable(),
    failed: CHECKPOINT.nullable(),
  }),
  history: z.array(
    z.object({
      status: z.string(),
      is_savepoint: z.boolean(),
      num_subtasks: z.number(),
      num_acknowledged_subtasks: z.number(),
    }),
  ),
});
const TRIGGERED = z.object({ 'request-id': z.string() });
const SAVEPOINT = z.object({
  status: z.object({ id: z.string() }),
  operation: z
    .object({ location: z.string().nullish(), 'failure-cause': z.object({ 'stack-trace': z.string() }).nullish() })
    .nullish(),
});
const METRICS = z.array(
  z.object({ id: z.string(), min: z.number().optional(), max: z.number().optional(), sum: z.number().optional() }),
);
const VALUES = z.array(z.object({ id: z.string(), value: z.string().optional() }));

type Overview = z.output<typeof OVERVIEW>;
type Jobs = z.output<typeof JOBS>['jobs'];
type Job = z.output<typeof JOB>;
export type Checkpoints = z.output<typeof CHECKPOINTS>;
export type Metrics = z.output<typeof METRICS>;

export function isOver(state: string): boolean {
  return OVER.includes(state);
}

/**
 * The REST API of Flink's JobManager. Its methods throw a FlinkFailure where it gives no answer, or refuses. `secrets`: what of the
 * job's settings no message may show.
 */
export function createJobManager(url: string, secrets: readonly string[] = []) {
  const ask = createAsk(url, 'the JobManager', secrets);
  const causeOf = (stack: string): string => redacted(rootCause(stack), secrets);
  return {
    overview: (): Promise<Overview> => ask(OVERVIEW, '/v1/overview'),
    jobs: async (): Promise<Jobs> => (await ask(JOBS, '/v1/jobs/overview')).jobs,
    /** Null where the cluster does not know it. */
    async job(id: string): Promise<Job | null> {
      try {
        return await ask(JOB, `/v1/jobs/${id}`);
      } catch (error) {
        if (error instanceof FlinkFailure && error.status === 404) return null;
        throw error;
      }
    },
    async restarts(id: string): Promise<number | null> {
      const [found] = await ask(VALUES, `/v1/jobs/${id}/metrics?get=numRestarts`);
      return found?.value === undefined ? null : Number(found.value);
    },
    /** The last one, by its root cause. */
    async lastException(id: string): Promise<{ readonly atMs: number; readonly cause: string } | null> {
      const { exceptionHistory } = await ask(EXCEPTIONS, `/v1/jobs/${id}/exceptions?maxExceptions=1`);
      const [last] = exceptionHistory.entries;
      return last === undefined ? null : { atMs: last.timestamp, cause: causeOf(last.stacktrace) };
    },
    checkpoints: (id: string): Promise<Checkpoints> => ask(CHECKPOINTS, `/v1/jobs/${id}/checkpoints`),
    /** Of a vertex: the names of its metrics, or those that are named, over all its tasks. */
    metrics(id: string, vertex: string, names?: readonly string[]): Promise<Metrics> {
      const get = names === undefined ? '' : `?get=${names.map(encodeURIComponent).join(',')}`;
      return ask(METRICS, `/v1/jobs/${id}/vertices/${vertex}/subtasks/metrics${get}`);
    },
    /** Stops it with a savepoint in that folder, or that of the cluster; gives the request's id. */
    async stop(id: string, folder: string | null): Promise<string> {
      const body = { drain: false, ...(folder === null ? {} : { targetDirectory: folder }) };
      return (await ask(TRIGGERED, `/v1/jobs/${id}/stop`, { method: 'POST', body }))['request-id'];
    },
    /** What a savepoint that was asked for has come to; null while it is under way. */
    async savepoint(id: string, request: string): Promise<{ path: string } | { failure: string } | null> {
      const { status, operation } = await ask(SAVEPOINT, `/v1/jobs/${id}/savepoints/${request}`);
      if (status.id !== 'COMPLETED') return null;
      if (operation?.location != null) return { path: operation.location };
      return { failure: causeOf(operation?.['failure-cause']?.['stack-trace'] ?? 'no reason given') };
    },
    async cancel(id: string): Promise<void> {
      await ask(z.unknown(), `/v1/jobs/${id}?mode=cancel`, { method: 'PATCH' });
    },
  };
}

export type JobManager = ReturnType<typeof createJobManager>;
