import { z } from 'zod';
import { parameter } from '../holdings/table-question.ts';
import { int64, party } from './holdings-fields.ts';
import type { OperationFacts } from './json-operation.ts';
import { errorResponses, referenceTo } from './openapi.ts';
import { changes, snapshots } from './table-operations.ts';

/** Limits of one stream, of those of one address, and of all. */
export const STREAM_LIMITS = {
  /** Each has a connection, and of those there may be 900. */
  streamsMax: 500,
  /** Tabs of one browser, or programs of one machine; a proxy that is trusted has none of its own. */
  streamsPerAddressMax: 20,
  ownersMax: 100,
  /** A client that takes nothing of what waits for it in so long is cut: it can resume. */
  takeTimeoutMs: 10_000,
  /** More waits for no client. What is read ahead for one is less, unless amounts have thousands of digits. */
  heldBytesMax: 256 * 1024,
  /** A comment is sent after so long without a byte; usual proxies cut what is silent for 60 s. */
  silenceMs: 15_000,
  /** Between two statuses of one phase. */
  statusIntervalMs: 5_000,
  /** Between two snapshots while the service is behind its source. */
  behindIntervalMs: 1_000,
  /** A client that is further behind gets the newest snapshot instead: a week of the default period. */
  snapshotsBehindMax: 1_000,
};

export type StreamLimits = Readonly<typeof STREAM_LIMITS>;

const migration = { migration_id: int64('The migration of the snapshot.', 4) };
const row = snapshots.answer.shape.snapshots.element.shape;

const OWNER_EVENT = z
  .strictObject({ ...migration, party_id: party, ...changes.answer.shape.changes.element.shape })
  .meta({ id: 'OwnerEvent' });

const SNAPSHOT_EVENT = z
  .strictObject({
    ...migration,
    ...row,
    skipped: z.literal(true).optional().meta({
      description: 'There where snapshots of its migration before it were left out, because the service was behind.',
    }),
  })
  .meta({ id: 'SnapshotEvent' });

/** The data of the event `status`. */
const STREAM_STATUS = z
  .strictObject({
    phase: z.enum(['starting', 'reading', 'caught_up', 'halted', 'stopping']).meta({
      description: 'Reading: the service is behind its source, and only the newest snapshots are sent.',
    }),
    lag_seconds: z.union([z.number(), z.null()]).meta({
      description: 'How far the views are behind the source, in record time; null where that is not known.',
    }),
    updates: z.int().nonnegative().meta({ description: 'Applied since the process started.' }),
    halted: z.union([z.strictObject({ place: z.string(), reason: z.string() }), z.null()]).meta({
      description: 'Where and why the ingest is halted.',
    }),
    degraded: z.array(z.string()).meta({ description: 'What is wrong although the service goes on.' }),
    ready: z.boolean().meta({ description: 'As `/readyz` answers.' }),
    reasons: z.array(z.string()).meta({ description: 'Why the service is not ready; empty where it is.' }),
    source: z.union([z.string(), z.null()]).meta({ description: 'The source that is followed; null where none is.' }),
  })
  .meta({ id: 'StreamStatus' });

export type StreamStatus = z.infer<typeof STREAM_STATUS>;

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

const EVENTS = `\`status\` first and on each change, then \`snapshot\` for each one sealed, its \`id\` the migration id and the
record time, with an \`owner\` before it for each owner asked for that changed in it. \`reset\` has the newest snapshot, where the
client cannot be sent all since its last id. A comment comes after 15 s without an event.`;

const FAULTS = {
  400: 'A parameter is wrong, unknown or given twice; the message names it.',
  503: 'Too many streams are open, in all or of one address; `Retry-After` says when to try again.',
};

const ID = {
  description: 'The id of the last event that the client had: what was sealed after it is sent, oldest first.',
  schema: { type: 'string' },
};

/** The stream in the document of the holdings area; it is at the root only. */
export function describeStream(): object {
  const owners = { type: 'array', items: parameter('party').schema, maxItems: STREAM_LIMITS.ownersMax };
  const description = 'An owner whose changes are sent; may be given several times.';
  return {
    servers: [{ url: '/' }],
    parameters: [
      { name: 'owner', in: 'query', required: false, description, schema: owners },
      { name: 'last_event_id', in: 'query', required: false, ...ID },
      { name: 'Last-Event-ID', in: 'header', required: false, ...ID },
    ],
    responses: {
      200: {
        description: EVENTS.replaceAll('\n', ' '),
        content: {
          'text/event-stream': {
            schema: { type: 'string' },
            'x-events': Object.fromEntries(
              Object.entries(STREAM_EVENTS).map(([name, schema]) => [name, referenceTo(schema)]),
            ),
          },
        },
      },
      ...errorResponses(FAULTS),
    },
  };
}
