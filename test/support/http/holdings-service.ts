import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { pino } from 'pino';
import { answersFrom } from '../../../src/holdings/answer.ts';
import type { AnswerRules } from '../../../src/holdings/summary-answer.ts';
import { type AppDeps, createApp } from '../../../src/http/app.ts';
import { SERVER_LIMITS, type ServerLimits, startHttpServer } from '../../../src/http/http-server.ts';
import { createMetrics } from '../../../src/http/prometheus.ts';
import type { StreamStatus } from '../../../src/http/streams.ts';
import { createStreams } from '../../../src/http/streams.ts';
import { startAnswers } from '../../../src/views/read/server-answers.ts';
import { openEventLoopStore, openViewsStore, type ViewsStore } from '../../../src/views/read/views-store.ts';
import { replayInto, SMALL_EPOCHS } from '../views/replayed.ts';
import { fixture } from './expected-answers.ts';

/** A data directory with the views of feed files; it goes with the process. */
export async function makeDataDirectory(files: readonly string[]): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-http-'));
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const { halted } = await replayInto(dataDir, files, SMALL_EPOCHS);
  if (halted !== null) throw new Error(`the feed was halted: ${halted.reason}`);
  return dataDir;
}

export interface HoldingsService extends Disposable {
  readonly app: Hono;
  readonly store: ViewsStore;
  /** What was logged, a JSON line each. */
  readonly log: readonly string[];
}

/** What streams are sent of the ingest where there is none. */
export const STATUS: StreamStatus = {
  phase: 'caught_up',
  lag_seconds: null,
  updates: 0,
  halted: null,
  degraded: [],
  ready: true,
  reasons: [],
  source: null,
};

/** The holdings app on a data directory, with settings of the test's own. */
export function openHoldings(
  dataDir: string,
  { emptyOwners = 'zero', ...deps }: Partial<AppDeps & AnswerRules> = {},
): HoldingsService {
  const store = openViewsStore(dataDir);
  const log: string[] = [];
  const app = createApp({
    answers: answersFrom(store, { emptyOwners }),
    clientAddress: () => 'a test',
    streams: createStreams({ store, status: async () => STATUS, lookMs: 50, logger: pino({ level: 'silent' }) }),
    health: {
      ready: async () => ({ ready: true, reasons: [], causes: [], degraded: [] }),
      status: async () => ({ source: null }),
    },
    force: null,
    dashboard: false,
    hasMetrics: true,
    apiKeys: null,
    limits: { ownersMax: 1000, bodyBytesMax: 1_048_576 },
    corsOrigins: ['*'],
    version: '1.2.3',
    documents: [],
    logger: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }),
    metrics: createMetrics(),
    clockMs: Date.now,
    ...deps,
  });
  return { app, store, log, [Symbol.dispose]: () => store[Symbol.dispose]() };
}

export interface ListeningHoldings extends AsyncDisposable {
  readonly port: number;
  /** How many are open. */
  readonly connections: () => Promise<number>;
  /** What the app logged. */
  readonly log: readonly string[];
}

/** The holdings app on the views of a feed, with reader threads, after a socket. */
export async function listenHoldings(
  deps: Partial<AppDeps> = {},
  { limits = SERVER_LIMITS, feed = fixture('story.scan.ndjson') }: { limits?: ServerLimits; feed?: string } = {},
): Promise<ListeningHoldings> {
  const logger = pino({ level: 'silent' });
  await using parts = new AsyncDisposableStack();
  const dataDir = await makeDataDirectory([feed]);
  const store = parts.use(openEventLoopStore(dataDir));
  const answers = parts.use(startAnswers(store, { dataDir, rules: { emptyOwners: 'zero' }, logger }));
  const { app, log } = parts.use(openHoldings(dataDir, { answers, ...deps }));
  const server = parts.use(await startHttpServer({ fetch: app.fetch, host: '127.0.0.1', port: 0, logger, limits }));
  const started = parts.move();
  return {
    port: Number(new URL(server.url).port),
    connections: server.connections,
    log,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The lines of the story that have nothing to do with rounds, so that none is ever open. */
export function storyWithoutRounds(): string[] {
  const lines = readFileSync(fixture('story.scan.ndjson'), 'utf8').trimEnd().split('\n');
  return lines.filter((line) => !line.includes('OpenMiningRound'));
}

/** Sends JSON, or text as it is. */
export function post(app: Hono, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } };
  return Promise.resolve(app.request(path, init));
}
