import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { HoldingsStore } from '../../../holdings/facts.ts';
import { requireFollowed } from '../../../holdings/followed.ts';
import { throwAsHttpFault } from '../../holdings/holdings-fault.ts';
import { HttpFault } from '../../server/http-fault.ts';
import { createCursor, type StreamRequest } from './cursor.ts';
import { STREAM_LIMITS, type StreamLimits } from './limits.ts';
import type { StreamStatus } from './operation.ts';
import { createSealedLog } from './sealed-log.ts';
import { createStream, type News, type Stream } from './stream.ts';

/** All streams of a process: one timer looks for what is new, and each is sent it as its client takes. */
export interface Streams {
  /** Looks for what is new now. Rejects with an HttpFault where an owner is not followed, or the views cannot be read. */
  lookFor(request: StreamRequest): Promise<void>;
  /** Throws a 503 where there are too many, in all or of this client. What opens a stream then awaits nothing in between. */
  requireRoom(client: string): void;
  /** Begins to send what there was at the last look; the head of the answer is sent already. */
  open(request: StreamRequest, response: ServerResponse, client: string): void;
  openCount(): number;
  /** Ends all, and opens none from now on. */
  end(): void;
}

/** Other requests wait for no longer than this while streams are sent what is new. */
const SLICE_MS = 5;
const RETRY_AFTER = { 'Retry-After': '10' };

export function createStreams({
  store,
  status: statusNow,
  lookMs,
  logger,
  limits = STREAM_LIMITS,
}: {
  readonly store: HoldingsStore;
  readonly status: () => Promise<StreamStatus>;
  /** How often to look for what is new, and for clients that take nothing. */
  readonly lookMs: number;
  readonly logger: Logger;
  readonly limits?: StreamLimits;
}): Streams {
  const log = createSealedLog(store);
  const { snapshotsBehindMax } = limits;
  const streams = new Set<Stream>();
  /** Those that may have something to send. */
  const queue = new Set<Stream>();
  /** Null before the first look, and so before the first stream. */
  let news: News | null = null;
  let isFailing = false;
  let isSending = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const status = await statusNow();
    const newest = await store.facts({ kind: 'last sealed' });
    // What was sealed until the end of the source was reached.
    const wasBehind = status.phase === 'reading' || news?.status.phase === 'reading';
    news = { heads: { newest, behind: wasBehind ? newest : (news?.heads.behind ?? null) }, status };
    isFailing = false;
  }

  async function lookAtAll(): Promise<void> {
    await look().catch(failed);
    for (const stream of streams) {
      const fault = stream.fault();
      if (fault === null) queue.add(stream);
      else cut(stream, fault);
    }
    sendQueued();
  }

  /** Clients resume, so nothing is lost to them. */
  function cut(stream: Stream, reason: string): void {
    logger.info({ client: stream.client, reason }, 'a stream was cut');
    stream.cut();
  }

  /** Once until it works again: it is tried several times a second. */
  function failed(error: unknown): void {
    if (!isFailing) logger.error({ err: error }, 'the views cannot be read for streams; trying again');
    isFailing = true;
  }

  function sendQueued(): void {
    if (isSending || queue.size === 0) return;
    isSending = true;
    setImmediate(() => void sendSlice());
  }

  /** A piece for each in turn. */
  async function sendSlice(): Promise<void> {
    const startMs = performance.now();
    for (const stream of queue) {
      queue.delete(stream);
      await stream.send(news!).catch((error: unknown) => {
        failed(error);
        cut(stream, 'what it is sent cannot be read');
      });
      if (performance.now() - startMs >= SLICE_MS) break;
    }
    isSending = false;
    sendQueued();
  }

  function queued(stream: Stream): void {
    if (!streams.has(stream)) return;
    queue.add(stream);
    sendQueued();
  }

  function close(stream: Stream): void {
    streams.delete(stream);
    queue.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    async lookFor({ owners }) {
      if (owners.length > 0) await requireFollowed(store, owners).catch(throwAsHttpFault);
      await look().catch(throwAsHttpFault);
    },
    requireRoom(client) {
      if (isEnding) throw new HttpFault(503, 'the service is stopping', RETRY_AFTER);
      const { streamsMax, streamsPerAddressMax } = limits;
      const own = [...streams].filter((stream) => stream.client === client).length;
      if (own >= streamsPerAddressMax)
        throw new HttpFault(
          503,
          `${own} streams of yours are open, and at most ${streamsPerAddressMax} may be`,
          RETRY_AFTER,
        );
      if (streams.size >= streamsMax)
        throw new HttpFault(503, `${streams.size} streams are open, and no more may be; try again later`, RETRY_AFTER);
    },
    open(request, response, client) {
      const cursor = createCursor(request, { store, log, snapshotsBehindMax });
      const stream: Stream = createStream(response, { client, cursor, limits, onTaken: () => queued(stream) });
      streams.add(stream);
      response.once('close', () => close(stream));
      timer ??= setInterval(() => void lookAtAll(), lookMs).unref();
      queued(stream);
    },
    openCount: () => streams.size,
    end() {
      isEnding = true;
      clearInterval(timer);
      queue.clear();
      for (const stream of streams) stream.end(news && { ...news.status, phase: 'stopping' });
    },
  };
}
