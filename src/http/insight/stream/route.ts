import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { parameter } from '../../../holdings/insight/parameters.ts';
import type { Cors } from '../../server/cors.ts';
import { HttpFault, wrongValue } from '../../server/http-fault.ts';
import type { Route } from '../../server/routes.ts';
import type { StreamRequest } from './cursor.ts';
import { STREAM_LIMITS } from './limits.ts';
import { STREAM_OPERATION } from './operation.ts';
import type { Streams } from './streams.ts';

/** A proxy must neither keep what it gets, nor wait for more. */
const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

export function streamRoute(
  { streams, clientAddress }: { readonly streams: Streams; readonly clientAddress: (c: Context) => string },
  cors: Cors,
): Route {
  const { method, path } = STREAM_OPERATION;
  const handle = async (c: Context): Promise<Response> => {
    const request = readStreamRequest(new URL(c.req.url).searchParams, c.req.header('last-event-id'));
    const client = clientAddress(c);
    await streams.lookFor(request);
    streams.requireRoom(client);
    const headers = { ...cors.headers(c), ...HEADERS };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const response = c.env.outgoing;
    response.writeHead(200, headers);
    streams.open(request, response, client);
    return RESPONSE_ALREADY_SENT;
  };
  return { method, path, cors, handle };
}

/** Reads a request strictly, as those of the tables are. Throws a 400 that names the parameter. */
function readStreamRequest(query: URLSearchParams, header: string | undefined): StreamRequest {
  for (const [name, text] of query)
    if (name !== 'owner' && name !== 'last_event_id')
      throw wrongValue(name, text, 'no such parameter, only owner, last_event_id');
  const owners = query.getAll('owner');
  const { parse, expected } = parameter('party');
  if (owners.length > STREAM_LIMITS.ownersMax)
    throw new HttpFault(400, `owner: given ${owners.length} times, expected at most ${STREAM_LIMITS.ownersMax}`);
  for (const owner of owners) if (parse(owner) === null) throw wrongValue('owner', owner, expected);
  const [id = '', ...others] = query.getAll('last_event_id');
  if (others.length > 0) throw wrongValue('last_event_id', others[0]!, 'it once, and it is given twice');
  // A client without one may send an empty id, as the standard has it.
  return { owners: [...new Set(owners)], lastEventId: header || id || null };
}
