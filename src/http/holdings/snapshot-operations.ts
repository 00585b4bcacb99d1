import { z } from 'zod';
import type { JsonOperation, OperationFacts } from '../server/operation.ts';
import { int64, party, time } from './answer-fields.ts';
import { type HoldingsCall, holdingsOperation, NO_SNAPSHOT } from './operation.ts';
import * as requestFields from './request-fields.ts';

const answer = z.strictObject({ record_time: time('The time of the snapshot.') }).meta({ id: 'SnapshotTime' });

/** Asks about a time and a migration; the time has the operation's own name for it. */
const askingForTime = (
  name: 'before' | 'after',
  facts: Pick<OperationFacts, 'path' | 'operationId' | 'summary'>,
): JsonOperation<HoldingsCall> =>
  holdingsOperation({
    ...facts,
    method: 'GET',
    request: {
      fields: () => ({ [name]: requestFields.queryTime, migration_id: requestFields.int64 }),
      // No snapshot is after the newest.
      example: ({ recordTime, migrationId }) => ({
        [name]: name === 'before' ? recordTime : '1970-01-01T00:00:00Z',
        migration_id: migrationId,
      }),
    },
    answer,
    faults: { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT },
    handle: (given, { ask }) =>
      ask({ answer: `snapshot ${name}`, query: { recordTime: given[name]!, migrationId: given.migration_id } }),
  });

export const snapshotBefore = askingForTime('before', {
  path: '/v0/state/acs/snapshot-timestamp',
  operationId: 'getDateOfMostRecentSnapshotBefore',
  summary: 'The time of the newest snapshot at or before a time, in that migration only.',
});

export const snapshotAfter = askingForTime('after', {
  path: '/v0/state/acs/snapshot-timestamp-after',
  operationId: 'getDateOfFirstSnapshotAfter',
  summary:
    'The time of the first snapshot strictly after a time in that migration, else the first of the next migration that has one.',
});

export const lastMigration = holdingsOperation({
  method: 'GET',
  path: '/v0/migrations/last',
  operationId: 'getLastMigration',
  summary: 'The largest migration seen.',
  answer: z.strictObject({ migration_id: int64('The largest migration seen.', 4) }).meta({ id: 'LastMigration' }),
  faults: { 404: 'No migration has been seen.' },
  handle: (_, { ask }) => ask({ answer: 'last migration' }),
});

export const dsoPartyId = holdingsOperation({
  method: 'GET',
  path: '/v0/dso-party-id',
  operationId: 'getDsoPartyId',
  summary: 'The DSO, whose coins count.',
  scanProxy: true,
  answer: z.strictObject({ dso_party_id: party }).meta({ id: 'DsoPartyId' }),
  faults: { 404: 'The DSO is not known yet.' },
  handle: (_, { ask }) => ask({ answer: 'dso' }),
});
