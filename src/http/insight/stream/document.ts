import { parameter } from '../../../holdings/insight/parameters.ts';
import { ERROR, referenceTo, responses } from '../../server/openapi.ts';
import { STREAM_LIMITS } from './limits.ts';
import { STREAM_EVENTS, STREAM_OPERATION } from './operation.ts';

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
  example: '0 2025-02-12T00:40:00Z',
};

/** The stream in the document of the holdings area; it is at the root only. */
export function describeStream(): object {
  const { operationId, summary } = STREAM_OPERATION;
  const owners = { type: 'array', items: parameter('party').schema, maxItems: STREAM_LIMITS.ownersMax };
  const description = 'An owner whose changes are sent; may be given several times.';
  return {
    operationId,
    summary,
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
      ...responses({ ...FAULTS, 500: 'Our fault; the request id is in the log.' }, ERROR),
    },
  };
}
