import { pino } from 'pino';
import { createClientAddress, startHttpServer } from '../../../src/http/http-server.ts';
import {
  createStreams,
  STREAM_LIMITS,
  type StreamLimits,
  type StreamStatus,
  type Streams,
} from '../../../src/http/streams.ts';
import { startAnswers } from '../../../src/views/read/server-answers.ts';
import { openEventLoopStore } from '../../../src/views/read/views-store.ts';
import { openHoldings, STATUS } from './holdings-service.ts';

/** The streams of a data directory that another part of the test writes to, after a socket. */
export interface StreamingService extends AsyncDisposable {
  readonly url: string;
  readonly streams: Streams;
  readonly log: readonly string[];
  /** The status of the ingest that streams are sent from now on. */
  set(status: Partial<StreamStatus>): void;
}

const LOOK_MS = 20;

export async function startStreaming(
  dataDir: string,
  { trustedProxies = [], ...limits }: Partial<StreamLimits> & { readonly trustedProxies?: readonly string[] } = {},
): Promise<StreamingService> {
  await using parts = new AsyncDisposableStack();
  const log: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const eventLoop = parts.use(openEventLoopStore(dataDir));
  const { streamStore: store } = parts.use(
    startAnswers(eventLoop, { dataDir, rules: { emptyOwners: 'zero' }, logger }),
  );
  let status: StreamStatus = { ...STATUS, lag_seconds: 0 };
  const of = { store, status: async () => status, lookMs: LOOK_MS, logger, limits: { ...STREAM_LIMITS, ...limits } };
  const streams = createStreams(of);
  const clientAddress = createClientAddress(trustedProxies);
  const { app } = parts.use(openHoldings(dataDir, { streams, clientAddress: (c) => clientAddress(c as never) }));
  const { url } = parts.use(await startHttpServer({ fetch: app.fetch, host: '127.0.0.1', port: 0, logger }));
  parts.defer(() => streams.end());
  const started = parts.move();
  return {
    url,
    streams,
    log,
    set(change) {
      status = { ...status, ...change };
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
