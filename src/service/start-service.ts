import type { Logger } from 'pino';
import type { Config } from '../config/load-config.ts';
import type { SourceSpec } from '../feed/source.ts';
import { createApp } from '../http/app.ts';
import { createClientAddress, startHttpServer } from '../http/http-server.ts';
import { servedDocuments } from '../http/openapi-documents.ts';
import { createMetrics, gauges } from '../http/prometheus.ts';
import { fetchOf } from '../http/routing.ts';
import type { Health } from '../http/service-operations.ts';
import type { StreamStatus } from '../http/streams.ts';
import { createStreams } from '../http/streams.ts';
import { createUsersArea } from '../http/users-area.ts';
import { followedSources } from '../sources.ts';
import { readVersion } from '../version.ts';
import { startComparison } from './peer-comparison.ts';
import { openReading, type Role, startWriting } from './roles.ts';
import { measureIngest, measureService } from './service-metrics.ts';

export interface Service extends AsyncDisposable {
  /** The URL at which it listens. */
  readonly url: string;
  /** Rejects when a part that the service needs has died. */
  readonly failed: Promise<never>;
}

/**
 * Starts what writes or reads the views, then HTTP; disposing stops them in reverse. Throws a Refusal for what the caller can
 * fix. `beforeListening` frees the address where another part of this process uses it. `sources` are read after the files.
 */
export async function startService(
  config: Config,
  {
    logger,
    beforeListening = async () => {},
    sources = followedSources(config),
  }: { logger: Logger; beforeListening?: () => Promise<void>; sources?: readonly SourceSpec[] },
): Promise<Service> {
  await using starting = new AsyncDisposableStack();
  const version = readVersion();
  const { host, port, reusePort, trustedProxies } = config;
  const role = starting.use(await startRole(config, { logger, sources, version }));
  const { users, force, failed, ingestStatus } = role;
  const { store, answers, name, measure } = role.holdings;

  const metrics = createMetrics();
  const { registry } = metrics;
  const comparison = starting.use(startComparison(config.compareWith ?? [], { store, logger, registry }));
  const withComparison = async <Status extends { readonly degraded: readonly string[] }>(
    asked: Promise<Status>,
  ): Promise<Status> => {
    const status = await asked;
    return { ...status, degraded: [...status.degraded, ...comparison.differences()] };
  };
  const health: Health = { ...role.health, ready: () => withComparison(role.health.ready()) };
  measureService(registry, { version, health, store });
  measure(registry);
  if (ingestStatus !== null) measureIngest(registry, ingestStatus);
  const clientAddress = createClientAddress(trustedProxies);
  const { streamLookMs: lookMs } = role;
  const status = (): Promise<StreamStatus> => withComparison(role.streamStatus());
  const streams = createStreams({ store, status, lookMs, logger });
  const app = createApp({
    answers,
    clientAddress: (c) => clientAddress(c as never),
    streams,
    health,
    force,
    limits: config,
    dashboard: config.dashboard === 'on',
    corsOrigins: config.corsOrigins,
    version,
    documents: servedDocuments({ version, areas: users === null ? ['holdings'] : ['holdings', 'ledger'], answers }),
    logger,
    metrics,
    clockMs: () => performance.now(),
  });
  const usersArea = users && createUsersArea({ users, logger, metrics, clientAddress });
  await beforeListening();
  const server = starting.use(
    await startHttpServer({
      fetch: fetchOf(app, usersArea),
      host,
      port,
      reusePort,
      logger,
    }),
  );
  gauges(registry, {
    holdfast_http_connections: { help: 'Connections that are open.', read: server.connections },
    holdfast_http_streams: { help: 'Streams of events that are open.', read: streams.openCount },
  });
  // Before the server, which waits for its connections.
  starting.defer(() => streams.end());
  logger.info({ url: server.url, ...name }, 'listening');
  const parts = starting.move();
  return { url: server.url, failed, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function startRole(config: Config, context: Parameters<typeof startWriting>[1]): Promise<Role> {
  const { postgres, readOnly } = config;
  if (postgres !== null) {
    // Loaded only here: no other service needs the client.
    const { openPostgres } = await import('./serve-postgres.ts');
    return openPostgres(postgres, { ...context, rules: config });
  }
  return readOnly ? openReading(config, context) : startWriting(config, context);
}
