import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { HoldingsStore, SealedSnapshot } from '../holdings/facts.ts';
import { requireFollowed } from '../holdings/holdings-fault.ts';
import { COMMENT, eventText } from './event-text.ts';
import { int64, party } from './holdings-fields.ts';
import { HttpFault, throwAsHttpFault } from './routing.ts';
import { createPosition, type Heads, type StreamPosition, type StreamRequest } from './stream-events.ts';
import { createMovementWatch } from './stream-movements.ts';
import { changes, movementAnswer, snapshots } from './table-operations.ts';

/** Limits of one stream, of those of one address, and of all. */
export const STREAM_LIMITS = {
  /** Each has a connection, and of those there may be 900. */
  streamsMax: 500,
  /** Tabs of one browser, or programs of one machine; a proxy that is trusted has none of its own. */
  streamsPerAddressMax: 20,
  ownersMax: 100,
  /** In the body of a request. */
  bodyOwnersMax: 1_000,
  /** A client that takes nothing of what waits for it in so long is cut: it can resume. */
  takeTimeoutMs: 10_000,
  /** More waits for no client. What is read ahead for one is less, unless amounts have thousands of digits. */
  heldBytesMax: 256 * 1024,
  /** A comment is sent after so long without a byte; usual proxies cut what is silent for 60 s. */
  silenceMs: 15_000,
  /** Between two statuses of one phase. */
  statusIntervalMs: 5_000,
  /** Between two snapshots while the service is behind its source. */
  behindIntervalMs: 1_000,
  /** A client that is further behind gets the newest snapshot instead: a week of the default period. */
  snapshotsBehindMax: 1_000,
};

export type StreamLimits = Readonly<typeof STREAM_LIMITS>;

const migration = { migration_id: int64('The migration of the snapshot.', 4) };
const row = snapshots.answer.shape.snapshots.element.shape;

const OWNER_EVENT = z
  .strictObject({ ...migration, party_id: party, ...changes.answer.shape.changes.element.shape })
  .meta({ id: 'OwnerEvent' });

const SNAPSHOT_EVENT = z
  .strictObject({
    ...migration,
    ...row,
    skipped: z.literal(true).optional().meta({
      description: 'There where snapshots of its migration before it were left out, because the service was behind.',
    }),
  })
  .meta({ id: 'SnapshotEvent' });

const MOVEMENT_EVENT = z
  .strictObject({ migration_id: int64('The migration of the update.', 4), party_id: party, ...movementAnswer.shape })
  .meta({ id: 'MovementEvent' });

/** The data of the event `status`. */
const STREAM_STATUS = z
  .strictObject({
    phase: z.enum(['starting', 'reading', 'caught_up', 'halted', 'stopping']).meta({
      description: 'Reading: the service is behind its source, and only the newest snapshots are sent.',
    }),
    lag_seconds: z.union([z.number(), z.null()]).meta({
      description: 'How far the views are behind the source, in record time; null where that is not known.',
    }),
    updates: z.int().nonnegative().meta({ description: 'Applied since the process started.' }),
    halted: z.union([z.strictObject({ location: z.string(), reason: z.string() }), z.null()]).meta({
      description: 'Where and why the ingest is halted.',
    }),
    degraded: z.array(z.string()).meta({ description: 'What is wrong although the service goes on.' }),
    ready: z.boolean().meta({ description: 'As `/readyz` answers.' }),
    reasons: z.array(z.string()).meta({ description: 'Why the service is not ready; empty where it is.' }),
    source: z.union([z.string(), z.null()]).meta({ description: 'The source that is followed; null where none is.' }),
  })
  .meta({ id: 'StreamStatus' });

export type StreamStatus = z.infer<typeof STREAM_STATUS>;

/** The data of each event, by the event's name. */
export const STREAM_EVENTS = {
  owner: OWNER_EVENT,
  movement: MOVEMENT_EVENT,
  snapshot: SNAPSHOT_EVENT,
  reset: SNAPSHOT_EVENT,
  status: STREAM_STATUS,
} as const;

/** All streams of a process: one timer looks for what is new, and each is sent it as its client takes. */
export type Streams = ReturnType<typeof createStreams>;

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
}) {
  const streams = new Set<Stream>();
  const watch = createMovementWatch(store);
  /** Those that may have something to send. */
  const queue = new Set<Stream>();
  /** Null before the first look, and so before the first stream. */
  let news: News | null = null;
  /** The look that is under way, or was the last. */
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;
  /** The last snapshot known whose movements were looked up, and the one after it that is waited for. */
  let lookedTo: SealedSnapshot | null = null;
  let awaited: SealedSnapshot | null = null;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let isSending = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | undefined;

  /** One after the other: what a later one finds must not be replaced by what an earlier one did. */
  function look(withMovements: boolean): Promise<void> {
    const begin = async (): Promise<void> => {
      isLooking = true;
      lookedMs = performance.now();
      try {
        await lookNow(withMovements);
      } finally {
        isLooking = false;
      }
    };
    looking = looking.then(begin, begin);
    return looking;
  }

  async function lookNow(withMovements: boolean): Promise<void> {
    const status = await statusNow();
    // Before the newest snapshot: no other one is before this update.
    const last = withMovements || watch.isUsed() ? await store.facts({ kind: 'last update' }) : 0;
    const newest = await store.facts({ kind: 'last sealed' });
    const isBehind = status.phase === 'reading';
    await watch.lookUpTo(Math.max(last, newest?.updateNo ?? 0), { isBehind });
    // What was sealed until the end of the source was reached.
    const behind = isBehind || news?.heads.isBehind ? newest : (news?.heads.behind ?? null);
    const reached = watch.lookedTo();
    if (awaited === null || awaited.updateNo <= reached) {
      lookedTo = (newest?.updateNo ?? 0) <= reached ? newest : (awaited ?? lookedTo);
      awaited = newest;
    }
    // Behind the last snapshot looked up to there may be others, which come before the movements behind them.
    const updateNo = lookedTo?.no === newest?.no ? reached : (lookedTo?.updateNo ?? 0);
    news = { heads: { newest, lookedTo, behind, isBehind, updateNo }, status };
    isFailing = false;
  }

  async function lookAtAll(): Promise<void> {
    if (!isLooking) await look(false).catch(failed);
    for (const stream of streams) {
      const fault = stream.fault();
      if (fault === null) queue.add(stream);
      else cut(stream, fault);
    }
    void sendQueued();
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

  /** A piece for each in turn; other requests are answered in between. */
  async function sendQueued(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (const stream of queue) {
      await nextTurn();
      queue.delete(stream);
      // Not waited for: what one reads of a long backlog holds up no other.
      void stream.send(news!).catch((error: unknown) => {
        failed(error);
        cut(stream, 'what it is sent cannot be read');
      });
    }
    isSending = false;
  }

  function queued(stream: Stream): void {
    if (!streams.has(stream)) return;
    queue.add(stream);
    void sendQueued();
  }

  function close(stream: Stream): void {
    streams.delete(stream);
    queue.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Looks for what is new now. Rejects with an HttpFault where an owner is not followed, or the views cannot be read. */
    async lookFor({ owners, events }: StreamRequest): Promise<void> {
      if (owners.length > 0) await requireFollowed(store, owners).catch(throwAsHttpFault);
      await look(events.has('movements')).catch(throwAsHttpFault);
    },
    /** Looks for movements now, because something was committed, unless it was done a moment ago or the service is behind its source. */
    wake(): void {
      const isDue = watch.isUsed() && !isLooking && performance.now() - lookedMs >= WAKE_MS;
      if (isDue && news?.heads.isBehind !== true) look(true).catch(failed);
    },
    /** Throws a 503 where there are too many, in all or of this client. What opens a stream then awaits nothing in between. */
    requireRoom(client: string): void {
      const full = (why: string): HttpFault => new HttpFault(503, why, { 'Retry-After': '10' });
      if (isEnding) throw full('the service is stopping');
      const { streamsMax, streamsPerAddressMax } = limits;
      const own = [...streams].filter((stream) => stream.client === client).length;
      if (own >= streamsPerAddressMax)
        throw full(`${own} streams of yours are open, and at most ${streamsPerAddressMax} may be`);
      if (streams.size >= streamsMax)
        throw full(`${streams.size} streams are open, and no more may be; try again later`);
    },
    /** Begins to send what there was at the last look; the head of the answer is sent already. */
    open(request: StreamRequest, response: ServerResponse, client: string): void {
      const onNews = (): void => queued(stream);
      const movements = request.events.has('movements') ? watch.open(request.owners, onNews) : null;
      const position = createPosition(request, { store, movements, limits });
      const stream: Stream = createStream(response, client, { position, limits, onTaken: onNews });
      streams.add(stream);
      response.once('close', () => {
        close(stream);
        movements?.close();
      });
      timer ??= setInterval(() => void lookAtAll(), lookMs).unref();
      queued(stream);
    },
    openCount: () => streams.size,
    /** Ends all, and opens none from now on. */
    end(): void {
      isEnding = true;
      clearInterval(timer);
      queue.clear();
      for (const stream of streams) stream.end(news && { ...news.status, phase: 'stopping' });
    },
  };
}

/** How often commits may cause a look. */
const WAKE_MS = 50;

/** What a stream is sent from. */
interface News {
  readonly heads: Heads;
  readonly status: StreamStatus;
}

/** One client. It is sent a piece at a time, and the next one when it has taken that. */
type Stream = ReturnType<typeof createStream>;

function createStream(
  response: ServerResponse,
  client: string,
  { position, limits, onTaken }: { position: StreamPosition; limits: StreamLimits; onTaken: () => void },
) {
  let isTaken = true;
  let isReading = false;
  let heldBytes = 0;
  let writtenMs = performance.now();
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
    /** Writes the next piece, where there is one and the client has taken the one before; then `onTaken` is called. */
    async send({ status, heads }: News): Promise<void> {
      if (!isTaken || isReading) return;
      isReading = true;
      const text = statusText(status) + (await position.next(heads));
      isReading = false;
      if (text !== '') write(text);
      else if (performance.now() - writtenMs >= limits.silenceMs) write(COMMENT);
    },
    /** Why it must be cut; null while it takes what it is sent. */
    fault(): string | null {
      if (heldBytes > limits.heldBytesMax) return `${heldBytes} bytes wait for it`;
      if (!isTaken && performance.now() - writtenMs >= limits.takeTimeoutMs)
        return 'it takes nothing of what waits for it';
      return null;
    },
    /** Ends it, with a last event unless the client still has to take others. */
    end(status: StreamStatus | null): void {
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
