import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { commandOn, type PrintCommand } from './dead-letters/advice-text.ts';
import { haltFacts } from './dead-letters/halt-line.ts';
import type { SourceSpec } from './feed/source.ts';
import { createHealth } from './health.ts';
import { createApp } from './http/app.ts';
import { DOCUMENTS } from './http/documents.ts';
import { createClientAddress } from './http/server/client-address.ts';
import { createConnections } from './http/server/connections.ts';
import { createMetrics, measureConnections } from './http/server/metrics.ts';
import { startHttpServer } from './http/server/server.ts';
import { createUsersArea } from './http/users/area.ts';
import { dsoWarning, type IngestStatus } from './ingest/status.ts';
import { startIngest } from './ingest/writer-thread.ts';
import { topicSpec } from './sources.ts';
import { openUsers } from './users/open-users.ts';
import { readVersion } from './version.ts';
import { startAnswers } from './views/read/answers.ts';
import { openEventLoopStore } from './views/read/store.ts';
import { makeDataDirectory } from './views/store/database.ts';
import { lockForWriting } from './views/store/writer-lock.ts';

export interface Service extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string;
  /** Rejects when a part that the service cannot do without has died. */
  readonly failed: Promise<never>;
}

/**
 * Starts store, ingest and HTTP in this order; disposing stops them in reverse. Throws a Refusal for what the caller can mend.
 * `beforeListening` frees the address where somebody else of this process has it. `sources` are read behind the files.
 */
export async function startService(
  config: Config,
  {
    logger,
    beforeListening = async () => {},
    sources = config.kafka === null ? [] : [topicSpec(config.kafka)],
  }: { logger: Logger; beforeListening?: () => Promise<void>; sources?: readonly SourceSpec[] },
): Promise<Service> {
  await using starting = new AsyncDisposableStack();
  const version = readVersion();
  makeDataDirectory(config.dataDir);
  starting.use(lockForWriting(config.dataDir));
  const print = commandOn(config.dataDir);
  const onStatus = (now: IngestStatus, before: IngestStatus): void => logTurn(logger, print, { now, before });
  const ingest = starting.use(
    await startIngest({ ...config, sources }, onStatus, ({ level, fields, message }) => logger[level](fields, message)),
  );
  const { dataDir, participantId, emptyOwners } = config;
  const store = starting.use(openEventLoopStore(dataDir));
  const answers = starting.use(startAnswers(store, { dataDir, rules: { emptyOwners }, logger }));
  const users = starting.use(openUsers({ dataDir, config: config.users, participantId, logger }));
  let failure: Error | null = null;
  const failed = ingest.ended.then(
    () => new Promise<never>(() => {}),
    (error: Error) => {
      failure = error;
      throw error;
    },
  );
  failed.catch(() => {});

  const metrics = createMetrics();
  const { trustedProxies } = config;
  const clientAddress = createClientAddress(trustedProxies);
  const connections = createConnections({ logger, trustedProxies });
  measureConnections(metrics.registry, connections);
  const app = createApp({
    answers,
    clientAddress: (c) => clientAddress(c as never),
    requireRoom: (c) => connections.requireRoom(c.env.incoming.socket),
    health: createHealth({
      store,
      status: () => ingest.status,
      version,
      failure: () => failure,
      readyLagMaxMs: config.readyLagMaxMs,
      clockMs: Date.now,
    }),
    force: config.forceSnapshots ? (wish) => ingest.force(wish) : null,
    limits: config,
    corsOrigins: config.corsOrigins,
    version,
    documents: Object.entries(DOCUMENTS).map(([area, { name, create }]) => {
      return { name, path: `/openapi/${area}.json`, document: create(version) };
    }),
    logger,
    metrics,
    clockMs: () => performance.now(),
  });
  const usersArea = createUsersArea({
    users,
    logger,
    metrics: metrics.requests,
    clientAddress,
  });
  await beforeListening();
  const server = starting.use(
    await startHttpServer({
      fetch: (request, env) => (isUsersPath(request.url) ? usersArea : app).fetch(request, env as never),
      host: config.host,
      port: config.port,
      logger,
      connections,
    }),
  );
  logger.info({ url: server.url, data: config.dataDir }, 'listening');
  const parts = starting.move();
  return { url: server.url, failed, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** The users' area is everything under /v2; the path begins behind `http://host`. */
function isUsersPath(url: string): boolean {
  const path = url.indexOf('/', url.indexOf('://') + 3);
  return url.startsWith('/v2', path) && (url.length === path + 3 || url[path + 3] === '/' || url[path + 3] === '?');
}

/** Says in the log what an operator should know of a change, once. */
function logTurn(
  logger: Logger,
  print: PrintCommand,
  { now, before }: { now: IngestStatus; before: IngestStatus },
): void {
  const warning = before.dso.party === null ? dsoWarning(now.dso) : null;
  if (warning !== null) logger.warn({ dso: now.dso.party }, warning);
  const { quarantined } = now;
  if (quarantined !== null && quarantined.id !== before.quarantined?.id)
    logger.warn(
      { ...haltFacts(quarantined, print), ...now.deadLetters },
      'updates are quarantined; this is the newest',
    );
  if (now.phase === before.phase) return;
  const about = { phase: now.phase, source: now.source?.name, updates: now.counts.updates };
  if (now.halted !== null && now.phase !== 'stopped')
    logger.error({ ...about, ...haltFacts(now.halted, print) }, 'ingest is halted');
  else if (now.phase === 'refused') logger.error(about, `the feed is refused: ${now.lastError?.message}`);
  else if (now.phase === 'retrying')
    logger.error({ ...about, ...now.lastError }, 'the views cannot be written; trying again');
  else logger.info(about, 'ingest');
}
