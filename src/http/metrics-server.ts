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
  address: { readonly host: string; readonly port: number; readonly logger: Logger },
): Promise<HttpServer> {
  const server = await startHttpServer({
    ...address,
    named: `${optionName('metricsAddress')} ${address.host}:${address.port}`,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === '/metrics') return metricsResponse(registry);
      if (pathname === '/livez') return jsonResponse(200, {});
      return jsonResponse(404, { error: 'no such path: there is /metrics and /livez' });
    },
  });
  address.logger.info({ url: server.url }, 'metrics are served');
  return server;
}
