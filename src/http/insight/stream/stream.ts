import type { ServerResponse } from 'node:http';
import type { Cursor, Heads } from './cursor.ts';
import { COMMENT, eventText } from './event-text.ts';
import type { StreamLimits } from './limits.ts';
import type { StreamStatus } from './operation.ts';

/** What a stream is sent from. */
export interface News {
  readonly heads: Heads;
  readonly status: StreamStatus;
}

/** One client. It is sent a piece at a time, and the next one when it has taken that. */
export interface Stream {
  readonly client: string;
  /** Writes the next piece, where there is one and the client has taken the one before; then `onTaken` is called. */
  send(news: News): Promise<void>;
  /** Why it must be cut; null while it takes what it is sent. */
  fault(): string | null;
  /** Ends it, with a last event unless the client still has to take others. */
  end(status: StreamStatus | null): void;
  cut(): void;
}

export function createStream(
  response: ServerResponse,
  { client, cursor, limits, onTaken }: { client: string; cursor: Cursor; limits: StreamLimits; onTaken: () => void },
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
    const text = await cursor.next(heads, mayLeaveOut);
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
