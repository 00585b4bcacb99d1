import { z } from 'zod';
import type { TimeQuery } from '../../holdings/question.ts';
import type { NamedSchema } from '../server/operation.ts';
import { int64, time } from './answer-fields.ts';
import { type HoldingsOperation, NO_SNAPSHOT } from './operation.ts';
import { migrationId, OBJECT, queryTime } from './request-fields.ts';

const answer: NamedSchema = {
  name: 'SnapshotTime',
  schema: z.strictObject({ record_time: time('The time of the snapshot.') }),
};
const faults = { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT };
const EXAMPLE_TIME = '2025-02-12T00:35:00Z';

export const snapshotBefore: HoldingsOperation<TimeQuery> = {
  method: 'GET',
  path: '/v0/state/acs/snapshot-timestamp',
  operationId: 'getDateOfMostRecentSnapshotBefore',
  summary: 'The time of the newest snapshot at or before a time, in that migration only.',
  request: {
    in: 'query',
    schema: () =>
      z
        .object({ before: queryTime, migration_id: migrationId }, OBJECT)
        .transform((given) => ({ recordTime: given.before, migrationId: given.migration_id })),
    example: { before: EXAMPLE_TIME, migration_id: 0 },
  },
  answer,
  faults,
  handle: (query, { ask }) => ask({ answer: 'snapshot before', query }),
};

export const snapshotAfter: HoldingsOperation<TimeQuery> = {
  method: 'GET',
  path: '/v0/state/acs/snapshot-timestamp-after',
  operationId: 'getDateOfFirstSnapshotAfter',
  summary:
    'The time of the first snapshot strictly after a time in that migration, else the first of the next migration that has one.',
  request: {
    in: 'query',
    schema: () =>
      z
        .object({ after: queryTime, migration_id: migrationId }, OBJECT)
        .transform((given) => ({ recordTime: given.after, migrationId: given.migration_id })),
    example: { after: EXAMPLE_TIME, migration_id: 0 },
  },
  answer,
  faults,
  handle: (query, { ask }) => ask({ answer: 'snapshot after', query }),
};

export const lastMigration: HoldingsOperation = {
  method: 'GET',
  path: '/v0/migrations/last',
  operationId: 'getLastMigration',
  summary: 'The largest migration seen.',
  request: null,
  answer: { name: 'LastMigration', schema: z.strictObject({ migration_id: int64('The largest migration seen.', 4) }) },
  faults: { 404: 'No migration has been seen.' },
  handle: (_, { ask }) => ask({ answer: 'last migration' }),
};
