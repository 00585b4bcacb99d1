import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { HoldingsStore } from '../holdings/facts.ts';
import { requireFollowed } from '../holdings/holdings-fault.ts';
import { parameter } from '../holdings/table-question.ts';
import { throwAsHttpFault } from './fault-status.ts';
import { type Cors, HttpFault, type Route, wrongValue } from './routing.ts';
import {
  COMMENT,
  createPosition,
  createSealedLog,
  eventText,
  type Heads,
  type StreamPosition,
  type StreamRequest,
} from './stream-events.ts';
import { STREAM_LIMITS, STREAM_OPERATION, type StreamLimits, type StreamStatus } from './stream-operation.ts';

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
      const position = createPosition(request, { store, log, snapshotsBehindMax });
      const stream: Stream = createStream(response, { client, position, limits, onTaken: () => queued(stream) });
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

/** What a stream is sent from. */
interface News {
  readonly heads: Heads;
  readonly status: StreamStatus;
}

/** One client. It is sent a piece at a time, and the next one when it has taken that. */
interface Stream {
  readonly client: string;
  /** Writes the next piece, where there is one and the client has taken the one before; then `onTaken` is called. */
  send(news: News): Promise<void>;
  /** Why it must be cut; null while it takes what it is sent. */
  fault(): string | null;
  /** Ends it, with a last event unless the client still has to take others. */
  end(status: StreamStatus | null): void;
  cut(): void;
}

function createStream(
  response: ServerResponse,
  {
    client,
    position,
    limits,
    onTaken,
  }: { client: string; position: StreamPosition; limits: StreamLimits; onTaken: () => void },
): Stream {
  let isTaken = true;
  let heldBytes = 0;
  let writtenMs = performance.now();
  let snapshotsMs = Number.NEGATIVE_INFINITY;
  let statusMs = Number.NEGATIVE_INFINITY;
  let sent: StreamStatus | null = null;

  function statusText(status: StreamStatus): string {
    // Sent at once where one of these has changed; the updates and the reasons, which have ages, in their turn.
    if (sent !== null && !differ(sent, status, ['phase', 'halted', 'degraded', 'ready', 'source'])) {
      const isLate = performance.now() - statusMs >= limits.statusIntervalMs;
      if (!isLate || !differ(sent, status, ['updates', 'reasons'])) return '';
    }
    sent = status;
    statusMs = performance.now();
    return eventText('status', status);
  }

  async function snapshotsText({ heads, status }: News): Promise<string> {
    const mayLeaveOut = status.phase !== 'reading' || performance.now() - snapshotsMs >= limits.behindIntervalMs;
    const text = await position.next(heads, mayLeaveOut);
    if (text !== '') snapshotsMs = performance.now();
    return text;
  }

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    isTaken = false;
    heldBytes = Buffer.byteLength(text);
    writtenMs = performance.now();
    response.write(text, () => {
      isTaken = true;
      heldBytes = 0;
      onTaken();
    });
  }

  return {
    client,
    async send(news) {
      if (!isTaken) return;
      const text = statusText(news.status) + (await snapshotsText(news));
      if (text !== '') write(text);
      else if (performance.now() - writtenMs >= limits.silenceMs) write(COMMENT);
    },
    fault() {
      if (heldBytes > limits.heldBytesMax) return `${heldBytes} bytes wait for it`;
      if (!isTaken && performance.now() - writtenMs >= limits.takeTimeoutMs)
        return 'it takes nothing of what waits for it';
      return null;
    },
    end(status) {
      if (!isTaken) return void response.destroy();
      const { socket } = response;
      response.end(status === null ? '' : eventText('status', status));
      // The server waits for its connections when it stops.
      socket?.destroySoon();
    },
    cut: () => void response.destroy(),
  };
}

function differ(before: StreamStatus, now: StreamStatus, fields: readonly (keyof StreamStatus)[]): boolean {
  return before !== now && fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(now[field]));
}

/** A proxy must neither keep what it gets, nor wait for more. */
const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

export function streamRoute(
  { streams, clientAddress }: { readonly streams: Streams; readonly clientAddress: (c: Context) => string },
  cors: Cors,
): Route {
  const { method, path } = STREAM_OPERATION;
  const handle = async (c: Context): Promise<Response> => {
    const request = readStreamRequest(new URL(c.req.url).searchParams, c.req.header('last-event-id'));
    const client = clientAddress(c);
    await streams.lookFor(request);
    streams.requireRoom(client);
    const headers = { ...cors.headers(c), ...HEADERS };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const response = c.env.outgoing;
    response.writeHead(200, headers);
    streams.open(request, response, client);
    return RESPONSE_ALREADY_SENT;
  };
  return { method, path, cors, handle };
}

/** Reads a request strictly, as those of the tables are. Throws a 400 that names the parameter. */
function readStreamRequest(query: URLSearchParams, header: string | undefined): StreamRequest {
  for (const [name, text] of query)
    if (name !== 'owner' && name !== 'last_event_id')
      throw wrongValue(name, text, 'no such parameter, only owner, last_event_id');
  const owners = query.getAll('owner');
  const { parse, expected } = parameter('party');
  if (owners.length > STREAM_LIMITS.ownersMax)
    throw new HttpFault(400, `owner: given ${owners.length} times, expected at most ${STREAM_LIMITS.ownersMax}`);
  for (const owner of owners) if (parse(owner) === null) throw wrongValue('owner', owner, expected);
  const [id = '', ...others] = query.getAll('last_event_id');
  if (others.length > 0) throw wrongValue('last_event_id', others[0]!, 'it once, and it is given twice');
  // A client without one may send an empty id, as the standard has it.
  return { owners: [...new Set(owners)], lastEventId: header || id || null };
}
