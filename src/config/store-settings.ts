import { z } from 'zod';
import { count, durationMs, httpAddress, path, setting } from './setting.ts';
import { isPostgresUrl } from './value-schemas.ts';

/** Flink keeps a job's state in 128 parts, unless it is told otherwise, and gives each to one task. */
const FLINK_PARALLELISM_MAX = 128;

export const POSTGRES_SETTINGS = {
  postgres: setting(z.string().refine(isPostgresUrl), {
    expected:
      'a URL such as postgres://user@host:5432/database, without a password and with sslmode as its only parameter',
    help: 'store in PostgreSQL',
    placeholder: 'URL',
  }),
  postgresPasswordFile: path("file of the PostgreSQL user's password"),
  postgresCa: path('PEM file of the authorities that may sign the PostgreSQL server'),
} as const;

/** Of the job that fills a store in PostgreSQL. */
export const FLINK_SETTINGS = {
  flinkGateway: httpAddress("address of Flink's SQL gateway"),
  flinkRest: httpAddress("address of the REST API of Flink's JobManager"),
  flinkParallelism: count(1, FLINK_PARALLELISM_MAX, {
    help: 'tasks that share each step of the job, at most as many as the topic has partitions',
    default: '1',
  }),
  flinkCheckpointInterval: durationMs('1s', '1h', {
    help: 'how often the job keeps its state; a recovery goes back so far',
    default: '30s',
  }),
} as const;
