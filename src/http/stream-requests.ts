import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { instrumentIn } from '../holdings/instrument-answers.ts';
import { INSTRUMENT, PARAMETERS } from '../holdings/table-question.ts';
import { isObject } from '../json/untrusted.ts';
import type { OperationFacts } from './json-operation.ts';
import { readJsonBody } from './json-request.ts';
import { type Cors, HttpFault, type Route, throwAsHttpFault, wrongValue } from './routing.ts';
import type { StreamRequest } from './stream-events.ts';
import { STREAM_LIMITS, type Streams } from './streams.ts';
import { queryOf, textsOf } from './table-routes.ts';

const PATH = '/holdfast/v1/stream';

export const STREAM_OPERATION = {
  method: 'GET',
  path: PATH,
  operationId: 'streamEvents',
  summary: 'Snapshots as they are sealed, the changes or movements of owners, and the status, as server-sent events.',
} as const satisfies OperationFacts;

export const STREAM_OF_MANY_OPERATION = {
  method: 'POST',
  path: PATH,
  operationId: 'streamEventsOfMany',
  summary: 'The same for more owners.',
} as const satisfies OperationFacts;

export interface StreamDeps {
  readonly streams: Streams;
  /** The client of a request, whose streams are limited. */
  readonly clientAddress: (c: Context) => string;
  readonly limits: { readonly bodyBytesMax: number };
}

/** A proxy must neither keep what it gets, nor wait for more. */
const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

export function streamRoutes({ streams, clientAddress, limits }: StreamDeps, cors: Cors): readonly Route[] {
  const answer = async (c: Context, asked: Promise<StreamRequest>): Promise<Response> => {
    const client = clientAddress(c);
    const request = await streams.lookFor(await asked.catch(throwAsHttpFault));
    streams.requireRoom(client);
    const headers = { ...cors.headers(c), ...HEADERS };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const response = c.env.outgoing;
    response.writeHead(200, headers);
    streams.open(request, response, client);
    return RESPONSE_ALREADY_SENT;
  };
  return [
    { ...STREAM_OPERATION, cors, handle: (c) => answer(c, readQuery(c)) },
    { ...STREAM_OF_MANY_OPERATION, cors, handle: (c) => answer(c, readBody(c, limits.bodyBytesMax)) },
  ];
}

/** The first is the default. */
const STREAM_EVENTS_ASKED = ['snapshots', 'movements', 'movements,snapshots', 'snapshots,movements'] as const;

/** Reads a request strictly, as those of the tables are. Throws a 400 that names the parameter. */
async function readQuery(c: Context): Promise<StreamRequest> {
  const query = queryOf(c.req.url);
  const texts = textsOf(['owner', 'events', 'last_event_id', ...INSTRUMENT], query, 'owner');
  const owners = query.getAll('owner');
  const { ownersMax } = STREAM_LIMITS;
  if (owners.length > ownersMax)
    throw new HttpFault(400, `owner: given ${owners.length} times, expected at most ${ownersMax}`);
  const { events: asked = null, last_event_id: id = null, ...instrument } = Object.fromEntries(texts);
  return requestOf(c, { owners, asked, id, instrument }, () => 'owner');
}

/** The same of a body. */
async function readBody(c: Context, bytesMax: number): Promise<StreamRequest> {
  for (const [name, text] of new URL(c.req.url).searchParams)
    throw wrongValue(name, text, 'no parameter, only fields of the body');
  const body = await readJsonBody(c, bytesMax);
  if (!isObject(body)) throw wrongValue('body', body, 'a JSON object');
  const { owners = [], events = null, last_event_id: id = '', instrument_admin, instrument_id, ...others } = body;
  for (const [name, value] of Object.entries(others))
    throw wrongValue(name, value, `no such field, only owners, events, last_event_id, ${INSTRUMENT.join(', ')}`);
  const { bodyOwnersMax } = STREAM_LIMITS;
  if (!Array.isArray(owners)) throw wrongValue('owners', owners, 'a list of party ids');
  if (owners.length > bodyOwnersMax)
    throw new HttpFault(400, `owners: given ${owners.length}, expected at most ${bodyOwnersMax}`);
  if (id !== null && typeof id !== 'string') throw wrongValue('last_event_id', id, 'the id of an event');
  const instrument = { instrument_admin, instrument_id };
  return requestOf(c, { owners, asked: events, id, instrument }, (at) => `owners[${at}]`);
}

function requestOf(
  c: Context,
  given: {
    owners: readonly unknown[];
    asked: unknown;
    id: string | null;
    instrument: Readonly<Record<string, unknown>>;
  },
  ownerName: (at: number) => string,
): StreamRequest {
  const { owners, asked, id } = given;
  const { parse, expected } = PARAMETERS.party;
  const parties = owners.map((owner, at) => {
    const party = typeof owner === 'string' ? parse(owner) : null;
    if (party === null) throw wrongValue(ownerName(at), owner, expected);
    return party;
  });
  const kinds = STREAM_EVENTS_ASKED.find((each) => each === (asked ?? STREAM_EVENTS_ASKED[0]));
  if (kinds === undefined) throw wrongValue('events', asked, STREAM_EVENTS_ASKED.slice(0, 3).join(' or '));
  const events = new Set(kinds.split(',')) as StreamRequest['events'];
  if (events.has('movements') && parties.length === 0)
    throw wrongValue('events', asked, 'an owner whose movements to send');
  // A client without one may send an empty id, as the standard has it.
  const [admin, name] = INSTRUMENT.map((each) => {
    const text = given.instrument[each] ?? null;
    const value = typeof text === 'string' ? PARAMETERS[each].parse(text) : null;
    if (text !== null && value === null) throw wrongValue(each, text, PARAMETERS[each].expected);
    return value;
  });
  const instrument = instrumentIn({ instrument_admin: admin!, instrument_id: name! });
  return {
    owners: [...new Set(parties)],
    instrument,
    events,
    lastEventId: c.req.header('last-event-id') || id || null,
  };
}

const DESCRIPTION = `\`status\` first and on each change, then \`snapshot\` for each one sealed, its \`id\` the migration id, the record
time and the first digits of the digest. With \`events=snapshots\` an \`owner\` is before it for each owner asked for that changed in it.
With \`events=movements\` a \`movement\` comes for each as soon as its update is applied, before the snapshot that holds it; none is left
out. Its \`id\` is the migration id, record time, update id and party id, of a token also
provider, account id, admin and instrument id, each percent-encoded. A stream is of one instrument; one not known yet may come. \`reset\` has the newest snapshot, where
the client cannot be sent all since its last id. A comment comes after 15 s without an event.`;

const ID = {
  required: false,
  description:
    'The id of the last event that the client had: what is after it is sent, oldest first. One not reached yet is waited for.',
  schema: { type: 'string' },
};

const ownersOf = (maxItems: number) => ({ type: 'array', items: PARAMETERS.party.schema, maxItems });
const EVENTS = { type: 'string', enum: STREAM_EVENTS_ASKED, default: STREAM_EVENTS_ASKED[0] };
const OWNER = 'An owner whose changes or movements are sent; may be given several times.';

const INSTRUMENT_SCHEMAS = Object.fromEntries(INSTRUMENT.map((name) => [name, PARAMETERS[name].schema]));

/** What the OpenAPI document says of both operations: the query of the one, the body of the other. */
export const STREAM_DOCUMENT = {
  description: DESCRIPTION.replaceAll('\n', ' '),
  parameters: [
    { name: 'owner', in: 'query', required: false, description: OWNER, schema: ownersOf(STREAM_LIMITS.ownersMax) },
    { name: 'events', in: 'query', required: false, description: 'What is sent of the owners.', schema: EVENTS },
    ...INSTRUMENT.map((name) => {
      const { description, schema } = PARAMETERS[name];
      return { name, in: 'query', required: false, description, schema };
    }),
    { name: 'last_event_id', in: 'query', ...ID },
    { name: 'Last-Event-ID', in: 'header', ...ID },
  ],
  body: {
    type: 'object',
    properties: {
      owners: ownersOf(STREAM_LIMITS.bodyOwnersMax),
      events: EVENTS,
      last_event_id: ID.schema,
      ...INSTRUMENT_SCHEMAS,
    },
    required: [],
    additionalProperties: false,
  },
  faults: {
    400: 'A parameter or field is wrong, unknown or given twice; the message names it.',
    404: 'This store or directory has no tokens.',
    501: 'This store keeps no movements.',
    503: 'Too many streams are open, in all or of one address; `Retry-After` says when to try again.',
  },
};
