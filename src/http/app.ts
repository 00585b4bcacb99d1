import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { ApiKeys } from './api-keys.ts';
import { type HoldingsDeps, holdingsRoutes } from './holdings-operations.ts';
import { ANSWERS_BYTES_MAX, createAnswerHold } from './http-server.ts';
import { gauges, type Metrics } from './prometheus.ts';
import { addRoutes, createCors, faultResponse, HttpFault, methodsOf } from './routing.ts';
import { type ServiceDeps, serviceRoutes } from './service-operations.ts';
import { type StreamDeps, streamRoutes } from './stream-requests.ts';
import { type TableDeps, tableRoutes } from './table-routes.ts';
import { openDashboard } from './web-pages.ts';

export interface AppDeps
  extends Omit<HoldingsDeps, 'holdAnswer'>,
    Omit<TableDeps, 'holdAnswer'>,
    Omit<ServiceDeps, 'registry'>,
    Omit<StreamDeps, 'limits'> {
  /** Whether there is a page at `/`. */
  readonly dashboard: boolean;
  /** Symbol, name and decimals of instruments, for that page. */
  readonly instrumentNames?: readonly object[];
  /** What the page calls parties, as JSON. */
  readonly labels?: object;
  readonly corsOrigins: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Null where anybody may ask. */
  readonly apiKeys: ApiKeys | null;
  readonly answersBytesMax?: number;
}

/** Every area but the users', with 404 and 405 for all other paths and methods outside that one. */
export function createApp(deps: AppDeps): Hono {
  const { logger, metrics, corsOrigins, answersBytesMax = ANSWERS_BYTES_MAX } = deps;
  const { hold: holdAnswer, bytes } = createAnswerHold(answersBytesMax);
  gauges(metrics.registry, {
    holdfast_http_answers_waiting_bytes: { help: 'Bytes of large answers that are being written.', read: bytes },
  });
  const answering = { ...deps, holdAnswer };
  const cors = createCors(corsOrigins);
  const app = new Hono();
  const dashboard = deps.dashboard
    ? openDashboard({ labels: deps.labels ?? {}, instruments: deps.instrumentNames ?? [] })
    : null;
  const routes = [
    ...holdingsRoutes(answering, cors),
    ...tableRoutes(answering, cors),
    ...streamRoutes(deps, cors),
    ...serviceRoutes({ ...deps, registry: metrics.registry }, cors),
    ...(dashboard?.routes ?? []),
  ];
  addRoutes(app, routes, { logger, metrics: metrics.requests, admit: deps.apiKeys?.admit ?? null });
  app.notFound((c) => {
    const methods = methodsOf(app, c);
    const headers = cors.headers(c);
    const page = methods.length === 0 && wantsPage(c) ? dashboard?.notFound(c) : undefined;
    if (page) return page;
    const fault =
      methods.length === 0
        ? new HttpFault(404, `no such path: ${c.req.path.slice(0, 200)}; /docs has all of them`)
        : new HttpFault(405, `${c.req.method} is not allowed here, only ${methods.join(', ')}`, {
            Allow: methods.join(', '),
          });
    return faultResponse(fault, c, headers);
  });
  return app;
}

function wantsPage(c: Context): boolean {
  return c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html');
}
