import { DURATION_EXPECTED } from '../ledger/duration.ts';
import { durationMs, httpAddress, setting } from './setting.ts';
import { wholeNumber } from './value-schemas.ts';

/** Flink keeps a job's state in 128 parts, unless it is told otherwise, and gives each to one task. */
const FLINK_PARALLELISM_MAX = 128;

/** Of the job that fills a store in PostgreSQL. */
export const FLINK_SETTINGS = {
  flinkGateway: httpAddress("address of Flink's SQL gateway"),
  flinkRest: httpAddress("address of the REST API of Flink's JobManager"),
  flinkParallelism: setting(wholeNumber({ min: 1, max: FLINK_PARALLELISM_MAX }), {
    expected: `a whole number from 1 to ${FLINK_PARALLELISM_MAX}`,
    help: 'tasks that share each step of the job, at most as many as the topic has partitions',
    default: '1',
    placeholder: 'N',
  }),
  flinkCheckpointInterval: setting(durationMs({ min: '1s', max: '1h' }), {
    expected: `${DURATION_EXPECTED}, from 1s to 1h`,
    help: 'how often the job keeps its state; a recovery goes back so far',
    default: '30s',
    placeholder: 'D',
  }),
} as const;
