import { z } from 'zod';
import type { TimeQuery } from '../../holdings/question.ts';
import { type RequestForm, requestForm } from '../server/operation.ts';
import { int64, time } from './answer-fields.ts';
import { type HoldingsOperation, NO_SNAPSHOT } from './operation.ts';
import * as requestFields from './request-fields.ts';

const answer = z.strictObject({ record_time: time('The time of the snapshot.') }).meta({ id: 'SnapshotTime' });
const faults = { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT };

/** A time and a migration; the time has the operation's own name for it. */
const timeRequest = (name: 'before' | 'after'): RequestForm<TimeQuery> =>
  requestForm({
    in: 'query',
    fields: () => ({ [name]: requestFields.queryTime, migration_id: requestFields.migrationId }),
    query: (given) => ({ recordTime: given[name]!, migrationId: given.migration_id }),
    example: { [name]: '2025-02-12T00:35:00Z', migration_id: 0 },
  });

export const snapshotBefore: HoldingsOperation<TimeQuery> = {
  method: 'GET',
  path: '/v0/state/acs/snapshot-timestamp',
  operationId: 'getDateOfMostRecentSnapshotBefore',
  summary: 'The time of the newest snapshot at or before a time, in that migration only.',
  request: timeRequest('before'),
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
  request: timeRequest('after'),
  answer,
  faults,
  handle: (query, { ask }) => ask({ answer: 'snapshot after', query }),
};

export const lastMigration: HoldingsOperation = {
  method: 'GET',
  path: '/v0/migrations/last',
  operationId: 'getLastMigration',
  summary: 'The largest migration seen.',
  answer: z.strictObject({ migration_id: int64('The largest migration seen.', 4) }).meta({ id: 'LastMigration' }),
  faults: { 404: 'No migration has been seen.' },
  handle: (_, { ask }) => ask({ answer: 'last migration' }),
};
