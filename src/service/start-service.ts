import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/load-config.ts';
import type { SourceSpec } from '../feed/source.ts';
import type { Answers } from '../holdings/answer.ts';
import type { HoldingsStore } from '../holdings/facts.ts';
import { openApiKeys } from '../http/api-keys.ts';
import { createApp } from '../http/app.ts';
import type { ForceSnapshot } from '../http/holdings-operations.ts';
import { createClientAddress, startHttpServer } from '../http/http-server.ts';
import { startMetricsServer } from '../http/metrics-server.ts';
import { servedDocuments } from '../http/openapi-documents.ts';
import { createMetrics, gauges } from '../http/prometheus.ts';
import { fetchOf } from '../http/routing.ts';
import type { Health, Readiness } from '../http/service-operations.ts';
import { createStreams, type StreamStatus } from '../http/streams.ts';
import { createUsersArea } from '../http/users-area.ts';
import { lookBeforeMaking } from '../ingest/file-order.ts';
import { dsoWarning, type IngestStatus, type Timed } from '../ingest/ingest-status.ts';
import { startIngest } from '../ingest/writer-thread.ts';
import { followedSources } from '../sources.ts';
import { openUsers, type Users } from '../users/open-users.ts';
import { readVersion } from '../version.ts';
import { commandOn, deadLetterJson, type PrintCommand } from '../views/dead-letter-advice.ts';
import type { ReadLoad } from '../views/read/reader-thread.ts';
import { startAnswers } from '../views/read/server-answers.ts';
import { openStoredStatus } from '../views/read/stored-status.ts';
import { openEventLoopStore } from '../views/read/views-store.ts';
import { makeDataDirectory, viewsFile } from '../views/store/database.ts';
import { SCHEMA_VERSION } from '../views/store/views-schema.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import { createHealth, createReadOnlyHealth, readOnlyStreamStatus, streamStatus } from './health.ts';
import { startComparison } from './peer-comparison.ts';
import { measureIngest, measureService, noteTimed } from './service-metrics.ts';

export interface Service extends AsyncDisposable {
  /** The URL at which it listens. */
  readonly url: string;
  /** Whose coins count; null until that is known. */
  readonly dso: () => Promise<string | null>;
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
  const { host, port, reusePort, metricsAddress, trustedProxies, apiKeysFile } = config;
  const metrics = createMetrics();
  const { registry } = metrics;
  const clockMs = (): number => performance.now();
  const apiKeys = apiKeysFile === null ? null : starting.use(openApiKeys(apiKeysFile, { registry, logger, clockMs }));
  const role = starting.use(await startRole(config, { logger, sources, version }));
  const { users, force, failed, ingestStatus, store, answers, name, measure } = role;

  const comparison = starting.use(startComparison(config.compareWith ?? [], { store, logger, registry }));
  const health: Health = {
    ...role.health,
    async ready() {
      const readiness = await role.health.ready();
      return { ...readiness, degraded: readiness.degraded.concat(comparison.differences(), apiKeys?.failures() ?? []) };
    },
  };
  measureService(registry, { version, health, store });
  measure(registry);
  if (ingestStatus !== null) measureIngest(registry, ingestStatus);
  const clientAddress = createClientAddress(trustedProxies);
  const status = async (): Promise<StreamStatus> => role.streamStatus(await health.ready());
  const streams = createStreams({ store: role.streamStore, status, lookMs: role.streamLookMs, logger });
  role.onCommit?.(() => streams.wake());
  const app = createApp({
    answers,
    clientAddress: (c) => clientAddress(c as never),
    streams,
    health,
    force,
    limits: config,
    dashboard: config.dashboard === 'on',
    instrumentNames: config.instrumentNames,
    labels: config.labels,
    corsOrigins: config.corsOrigins,
    version,
    documents: servedDocuments({
      version,
      areas: users === null ? ['holdings'] : ['holdings', 'ledger'],
      answers,
      hasDirectory: config.postgres === null,
    }),
    logger,
    metrics,
    hasMetrics: metricsAddress === null,
    apiKeys,
    clockMs,
  });
  const usersArea = users && createUsersArea({ users, logger, metrics, clientAddress });
  await beforeListening();
  if (metricsAddress !== null) starting.use(await startMetricsServer(registry, { ...metricsAddress, logger }));
  const server = starting.use(await startHttpServer({ fetch: fetchOf(app, usersArea), host, port, reusePort, logger }));
  gauges(registry, {
    holdfast_http_connections: { help: 'Connections that are open.', read: server.connections },
    holdfast_http_streams: { help: 'Streams of events that are open.', read: streams.openCount },
  });
  // Before the server, which waits for its connections.
  starting.defer(() => streams.end());
  logger.info({ url: server.url, ...name }, 'listening');
  const parts = starting.move();
  const dso = async (): Promise<string | null> => (await health.status()).dso ?? null;
  return { url: server.url, dso, failed, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function startRole(config: Config, context: RoleContext): Promise<Role> {
  const { postgres, readOnly } = config;
  if (postgres !== null) {
    // Loaded only here: no other service needs the client.
    const { openPostgres } = await import('../scale/serve-postgres.ts');
    return openPostgres(postgres, { ...context, rules: config });
  }
  return readOnly ? openReading(config, context) : startWriting(config, context);
}

/** The part of a service that depends on whether it writes the views or only reads them, and on where they are. */
interface Role extends AsyncDisposable {
  /** What its store is, for the log. */
  readonly name: Readonly<Record<string, string>>;
  readonly store: HoldingsStore;
  readonly streamStore: HoldingsStore;
  readonly answers: Answers;
  /** Adds the metrics of this kind of store. */
  readonly measure: (registry: Registry) => void;
  readonly health: Health;
  /** The status as streams are sent it. */
  readonly streamStatus: (readiness: Readiness) => StreamStatus;
  /** How often streams look for what is new. */
  readonly streamLookMs: number;
  /** Sets what is called after commits; null where another process writes. */
  readonly onCommit: ((listener: () => void) => void) | null;
  /** Null where nothing is written. */
  readonly ingestStatus: (() => IngestStatus) | null;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  /** Null where there is no users' area. */
  readonly users: Users | null;
  /** Rejects when a part that the service needs has died. */
  readonly failed: Promise<never>;
}

interface RoleContext {
  readonly logger: Logger;
  readonly sources: readonly SourceSpec[];
  readonly version: string;
}

/** Takes the directory's lock, starts the ingest and opens the users. Throws a Refusal for what the caller can fix. */
async function startWriting(config: Config, { logger, sources, version }: RoleContext): Promise<Role> {
  await using starting = new AsyncDisposableStack();
  const { dataDir, participantId } = config;
  await lookBeforeMaking(dataDir, config.files, { ...config, signal: new AbortController().signal });
  makeDataDirectory(dataDir);
  starting.use(lockForWriting(dataDir));
  const print = commandOn(dataDir);
  const onStatus = (now: IngestStatus, before: IngestStatus | null): void => logTurn(logger, print, { now, before });
  let onCommit = (): void => {};
  const onTimed = (timed: Timed): void => {
    noteTimed(timed);
    if (timed.what === 'commit') onCommit();
  };
  const ingest = starting.use(await startIngest({ ...config, sources }, onStatus, { logger, onTimed }));
  const views = starting.use(openViews(config, logger));
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
  const parts = starting.move();
  const { readyLagMaxMs } = config;
  return {
    ...views,
    health: createHealth(version, views.store, { status: () => ingest.status, failure: () => failure, readyLagMaxMs }),
    streamStatus: (readiness) => streamStatus(ingest.status, readiness, readyLagMaxMs),
    streamLookMs: 250,
    onCommit: (listener) => {
      onCommit = listener;
    },
    ingestStatus: () => ingest.status,
    force: config.forceSnapshots ? (options) => ingest.force(options) : null,
    users,
    failed,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Logs each change that an operator should know. */
function logTurn(
  logger: Logger,
  print: PrintCommand,
  { now, before }: { now: IngestStatus; before: IngestStatus | null },
): void {
  const warning = before === null || before.dso.party === null ? dsoWarning(now.dso) : null;
  if (warning !== null) logger.warn({ dso: now.dso.party }, warning);
  if (now.counts.viewDiffers > 0 && (before?.counts.viewDiffers ?? 0) === 0)
    logger.warn('the views of a coin name another owner or amount than its arguments, which count (view_differs)');
  const { quarantined } = now;
  if (quarantined !== null && quarantined.id !== before?.quarantined?.id)
    logger.warn(
      { ...deadLetterJson(quarantined, print), ...now.deadLetters },
      'updates are quarantined; this is the newest',
    );
  if (now.phase === (before?.phase ?? 'starting')) return;
  const about = { phase: now.phase, source: now.source?.name, updates: now.counts.updates };
  if (now.halted !== null && now.phase !== 'stopped')
    logger.error({ ...about, ...deadLetterJson(now.halted, print) }, 'ingest is halted');
  else if (now.phase === 'refused') logger.error(about, `the feed is refused: ${now.lastError?.message}`);
  else if (now.phase === 'retrying')
    logger.error({ ...about, ...now.lastError }, 'the views cannot be written; trying again');
  else logger.info(about, 'ingest');
}

/** Throws a Refusal where there are no views yet; nothing is created. */
function openReading(config: Config, { version, logger }: RoleContext): Role {
  using starting = new DisposableStack();
  const standing = starting.use(openStoredStatus(config.dataDir));
  const views = openViews(config, logger);
  const opened = starting.move();
  return {
    ...views,
    health: createReadOnlyHealth(version, views.store, standing.read),
    streamStatus: (readiness) => readOnlyStreamStatus(standing.read(), readiness),
    // It reads what another process writes, at some cost each time.
    streamLookMs: 1_000,
    onCommit: null,
    ingestStatus: null,
    force: null,
    users: null,
    failed: standing.replaced,
    async [Symbol.asyncDispose]() {
      await views[Symbol.asyncDispose]();
      opened.dispose();
    },
  };
}

/** The views of a data directory, and the threads that read them. */
function openViews({ dataDir, emptyOwners }: Config, logger: Logger) {
  using starting = new DisposableStack();
  const store = starting.use(openEventLoopStore(dataDir));
  const answers = startAnswers(store, { dataDir, rules: { emptyOwners }, logger });
  const opened = starting.move();
  return {
    name: { data: dataDir },
    store,
    streamStore: answers.streamStore,
    answers,
    measure: (registry: Registry) => measureViews(registry, dataDir, answers.load),
    async [Symbol.asyncDispose]() {
      await answers[Symbol.asyncDispose]();
      opened.dispose();
    },
  };
}

/** What `/metrics` says of a data directory. */
function measureViews(registry: Registry, dataDir: string, reads: () => ReadLoad): void {
  gauges(registry, {
    holdfast_schema_version: { help: 'The version of the tables of views.db.', read: () => SCHEMA_VERSION },
    holdfast_reader_threads_busy: {
      help: 'Threads that read what a request does not bound.',
      read: () => reads().busy,
    },
    holdfast_reads_waiting: { help: 'Reads that wait for such a thread.', read: () => reads().waiting },
    holdfast_file_bytes: {
      help: 'Size of views.db and of its write-ahead log.',
      label: 'file',
      read: () => ({ 'views.db': sizeOf(viewsFile(dataDir)), 'views.db-wal': sizeOf(`${viewsFile(dataDir)}-wal`) }),
    },
    holdfast_disk_free_bytes: {
      help: 'Free on the disk of the data directory, for a process that is not of root.',
      read: async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return bavail * bsize;
      },
    },
  });
}

/** 0 where it is not there: the write-ahead log goes with the last connection. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
