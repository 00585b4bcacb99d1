import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { Cors } from '../../server/cors.ts';
import type { Route } from '../../server/routes.ts';
import { STREAM_OPERATION } from './operation.ts';
import { readStreamRequest } from './request.ts';
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
    await streams.admit(request, client);
    const headers = { ...cors.headers(c), ...HEADERS };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const response = c.env.outgoing;
    response.writeHead(200, headers);
    streams.open(request, response, client);
    return RESPONSE_ALREADY_SENT;
  };
  return { method, path, cors, handle };
}
