import type { Registry } from 'prom-client';
import type { Cors } from '../server/cors.ts';
import { jsonRoute, type ServedLimits } from '../server/operation.ts';
import { get, type Route } from '../server/routes.ts';
import { docsRoutes, type ServedDocument } from './docs.ts';
import { SERVICE_OPERATIONS, type ServiceCall } from './operations.ts';

export interface ServiceDeps extends ServiceCall {
  readonly registry: Registry;
  /** The documents of /docs and /openapi/; the page opens with the first. */
  readonly documents: readonly ServedDocument[];
  readonly limits: ServedLimits;
}

/** Every route of the service itself. Metrics and documents are not under /api/scan, and not for pages of other origins. */
export function serviceRoutes(deps: ServiceDeps, cors: Cors): readonly Route[] {
  const { registry, documents, limits } = deps;
  return [
    ...SERVICE_OPERATIONS.map((operation) => jsonRoute(operation, { callOf: () => deps, limits, cors })),
    get('/metrics', async () => {
      return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } });
    }),
    ...docsRoutes(documents),
  ];
}
