import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { Answers } from '../../holdings/answer.ts';
import type { Question } from '../../holdings/question.ts';
import { createCors } from '../server/cors.ts';
import { docsOperations, type ServedDocument } from '../server/docs.ts';
import type { Health } from '../server/health.ts';
import { jsonResponse, jsonTextResponse } from '../server/json-response.ts';
import type { Metrics } from '../server/metrics.ts';
import { addOperations, type Operation } from '../server/routes.ts';
import { parseFields } from './field-fault.ts';
import { createForceHandler, type ForceSnapshot } from './force.ts';
import { throwAsHttpFault } from './holdings-fault.ts';
import { readJsonBody } from './request-body.ts';
import { createRequestSchemas } from './requests.ts';

export interface HoldingsDeps {
  readonly answers: Answers;
  /** Who asks, so that nobody has all of these reads to himself. */
  readonly clientAddress: (c: Context) => string;
  /** Throws a 503 where more answers wait to be taken than may, in all or by whom this request is from. */
  readonly requireRoom: (c: Context) => void;
  readonly health: Health;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  readonly limits: { readonly ownersMax: number; readonly bodyBytesMax: number };
  readonly corsOrigins: readonly string[];
  readonly version: string;
  /** What /docs shows and /openapi/ serves, first the one that the page opens with. */
  readonly documents: readonly ServedDocument[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** For how long ago something was: a clock that never jumps. */
  readonly clockMs: () => number;
}

/** The day of the first release, whose v1 summary takes the place of v0 (RFC 9745). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 21) / 1000}`;

/** The holdings area, the service's own routes, and the answers 404 and 405 for the whole server. */
export function createHoldingsApp(deps: HoldingsDeps): Hono {
  const { limits, logger } = deps;
  const cors = createCors(deps.corsOrigins);
  const schemas = createRequestSchemas(limits);

  const answer = (c: Context, question: Question): Promise<string> =>
    deps.answers
      .json(question, () => ({ client: deps.clientAddress(c), signal: c.req.raw.signal }))
      .catch(throwAsHttpFault);
  /** A page may be large. It is made only where there is room, and sent only where there still is. */
  const answerPage = async (c: Context, name: 'state v0' | 'state v1'): Promise<Response> => {
    const query = parseFields(schemas.state, await body(c));
    deps.requireRoom(c);
    const text = await answer(c, { answer: name, query });
    deps.requireRoom(c);
    return reply(c, text);
  };
  const body = (c: Context): Promise<unknown> => readJsonBody(c, limits.bodyBytesMax);
  const reply = (c: Context, text: string, headers?: Record<string, string>): Response =>
    jsonTextResponse(200, text, { ...cors.headers(c), ...headers });

  const read = (method: Operation['method'], path: string, handle: Operation['handle']): Operation => ({
    method,
    path,
    underScan: true,
    cors: true,
    handle,
  });

  const operations: readonly Operation[] = [
    read('POST', '/v0/holdings/summary', async (c) => {
      const query = parseFields(schemas.summaryV0, await body(c));
      return reply(c, await answer(c, { answer: 'summary v0', query }), deprecated(c));
    }),
    read('POST', '/v1/holdings/summary', async (c) => {
      const query = parseFields(schemas.summaryV1, await body(c));
      return reply(c, await answer(c, { answer: 'summary v1', query }));
    }),
    read('POST', '/v0/holdings/state', (c) => answerPage(c, 'state v0')),
    read('POST', '/v1/holdings/state', (c) => answerPage(c, 'state v1')),
    read('GET', '/v0/state/acs/snapshot-timestamp', async (c) => {
      const query = parseFields(schemas.before, c.req.query());
      return reply(c, await answer(c, { answer: 'snapshot before', query }));
    }),
    read('GET', '/v0/state/acs/snapshot-timestamp-after', async (c) => {
      const query = parseFields(schemas.after, c.req.query());
      return reply(c, await answer(c, { answer: 'snapshot after', query }));
    }),
    read('GET', '/v0/migrations/last', async (c) => reply(c, await answer(c, { answer: 'last migration' }))),
    {
      method: 'POST',
      path: '/v0/state/acs/force',
      underScan: true,
      cors: false,
      handle: createForceHandler({ force: deps.force, clockMs: deps.clockMs }),
    },
    ...serviceOperations(deps, (c, status, value) => jsonResponse(status, value, cors.headers(c))),
    ...docsOperations(deps.documents),
  ];

  const app = new Hono();
  addOperations(app, operations, { cors, logger, metrics: deps.metrics.requests });
  return app;
}

function deprecated(c: Context): Record<string, string> {
  return {
    Deprecation: DEPRECATED_SINCE,
    'Access-Control-Expose-Headers': 'Deprecation, Link',
    Link: `<${c.req.path.replace('/v0/', '/v1/')}>; rel="successor-version"`,
  };
}

/** What is asked of the service itself (interface.md, section 3). */
function serviceOperations(
  { health, version, metrics }: HoldingsDeps,
  reply: (c: Context, status: number, value: unknown) => Response,
): readonly Operation[] {
  const get = (path: string, handle: Operation['handle']): Operation => ({
    method: 'GET',
    path,
    underScan: true,
    cors: true,
    handle,
  });
  return [
    get('/livez', (c) => reply(c, 200, {})),
    get('/readyz', async (c) => {
      const { ready, reasons, degraded } = await health.ready();
      return reply(c, ready ? 200 : 503, { ready, reasons, degraded });
    }),
    get('/status', async (c) => reply(c, 200, await health.status())),
    get('/version', (c) => reply(c, 200, { version })),
    {
      method: 'GET',
      path: '/metrics',
      underScan: false,
      cors: false,
      handle: async () =>
        new Response(await metrics.registry.metrics(), { headers: { 'Content-Type': metrics.registry.contentType } }),
    },
  ];
}
