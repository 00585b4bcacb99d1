import { z } from 'zod';
import { int64, party } from '../../holdings/answer-fields.ts';
import type { OperationFacts } from '../../server/operation.ts';
import { changes, snapshots } from '../operations.ts';
import { STREAM_STATUS } from './status.ts';

const migration = { migration_id: int64('The migration of the snapshot.', 4) };
const row = snapshots.answer.shape.snapshots.element.shape;

export const OWNER_EVENT = z
  .strictObject({ ...migration, party_id: party, ...changes.answer.shape.changes.element.shape })
  .meta({ id: 'OwnerEvent' });

export const SNAPSHOT_EVENT = z
  .strictObject({
    ...migration,
    ...row,
    skipped: z.literal(true).optional().meta({
      description: 'There where snapshots of its migration before it were left out, because the service was behind.',
    }),
  })
  .meta({ id: 'SnapshotEvent' });

/** The data of each event, by the event's name. */
export const STREAM_EVENTS = {
  owner: OWNER_EVENT,
  snapshot: SNAPSHOT_EVENT,
  reset: SNAPSHOT_EVENT,
  status: STREAM_STATUS,
} as const;

export const STREAM_OPERATION = {
  method: 'GET',
  path: '/holdfast/v1/stream',
  operationId: 'streamEvents',
  summary: 'Snapshots as they are sealed, the changes of owners in them, and the status, as server-sent events.',
} as const satisfies OperationFacts;
