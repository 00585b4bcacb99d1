import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { optionName } from '../setting-kinds.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { jsonResponse } from './routing.ts';

export async function metricsResponse(registry: Registry): Promise<Response> {
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } });
}

/** Serves `/metrics` at the address of `--metrics-address`, and `/livez` for what starts containers. */
export async function startMetricsServer(
  registry: Registry,
  { host, port, logger }: { readonly host: string; readonly port: number; readonly logger: Logger },
): Promise<HttpServer> {
  const server = await startHttpServer({
    host,
    port,
    named: `${optionName('metricsAddress')} ${host.includes(':') ? `[${host}]` : host}:${port}`,
    logger,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname !== '/metrics' && pathname !== '/livez')
        return jsonResponse(404, { error: 'no such path: there is /metrics and /livez' });
      return pathname === '/livez' ? jsonResponse(200, {}) : metricsResponse(registry);
    },
  });
  logger.info({ url: server.url }, 'metrics are served');
  return server;
}
