import { Hono } from 'hono';
import type { Logger } from 'pino';
import { dashboardRoutes } from './dashboard/routes.ts';
import { type HoldingsDeps, holdingsRoutes } from './holdings/routes.ts';
import { type InsightDeps, insightRoutes } from './insight/routes.ts';
import { createCors } from './server/cors.ts';
import { jsonResponse } from './server/json-response.ts';
import type { Metrics } from './server/metrics.ts';
import { addRoutes, methodsOf } from './server/routes.ts';
import { type ServiceDeps, serviceRoutes } from './service/routes.ts';

export interface AppDeps extends HoldingsDeps, InsightDeps, Omit<ServiceDeps, 'registry'> {
  /** Whether there is a page at `/`. */
  readonly dashboard: boolean;
  readonly corsOrigins: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Every area but the users', with 404 and 405 for all other paths and methods outside that one. */
export function createApp(deps: AppDeps): Hono {
  const { logger, metrics, corsOrigins, dashboard } = deps;
  const cors = createCors(corsOrigins);
  const app = new Hono();
  const routes = [
    ...holdingsRoutes(deps, cors),
    ...insightRoutes(deps, cors),
    ...serviceRoutes({ ...deps, registry: metrics.registry }, cors),
    ...(dashboard ? dashboardRoutes() : []),
  ];
  addRoutes(app, routes, { logger, metrics: metrics.requests });
  app.notFound((c) => {
    const methods = methodsOf(app, c);
    const headers = cors.headers(c);
    if (methods.length === 0) return jsonResponse(404, { error: `no such path: ${c.req.path.slice(0, 200)}` }, headers);
    const error = `${c.req.method} is not allowed here, only ${methods.join(', ')}`;
    return jsonResponse(405, { error }, { ...headers, Allow: methods.join(', ') });
  });
  return app;
}
