import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { type Answers, offsetOf } from './answers.ts';
import { type ApiError, ERRORS } from './errors.ts';

/** What a stream does behind so many elements: an error, a cut connection, a closed one, half an element, one without end. */
export interface StreamFault {
  readonly after: number;
  readonly does: ApiError | 'cut' | 'close' | 'half' | 'oversized';
}

export interface Streaming {
  readonly body: Readonly<Record<string, unknown>>;
  readonly answers: Answers;
  /** Called when updates were added. */
  readonly added: Set<() => void>;
  readonly checkpointMs: number;
  readonly fault: StreamFault | null;
  readonly isExpired: () => boolean;
}

const CLOSED = Symbol('closed');

/** Serves the one request of a stream until it ends. A slow reader is waited for. */
export async function serveStream(client: WebSocket, streaming: Streaming): Promise<void> {
  const { fault, isExpired } = streaming;
  let sent = 0;

  async function element(text: string): Promise<void> {
    if (fault !== null && sent === fault.after) await misbehave(client, fault.does, text);
    if (isExpired()) await end(client, ERRORS.expired);
    sent += 1;
    await sendText(client, text);
  }

  try {
    await serveUpdates(client, streaming, element);
  } catch (error) {
    if (error !== CLOSED) client.terminate();
  }
}

async function serveUpdates(
  client: WebSocket,
  { body, answers, added, checkpointMs }: Streaming,
  element: (text: string) => Promise<void>,
): Promise<void> {
  const { includeTransactions } = body.updateFormat as {
    includeTransactions: { eventFormat: Record<string, unknown> };
  };
  const wanted = answers.wantedBy(includeTransactions.eventFormat);
  if ('status' in wanted) return end(client, wanted);
  let at = Number(body.beginExclusive);
  let wake = (): void => {};
  const tell = (): void => wake();
  const closed = new Promise<void>((resolve) => {
    client.once('close', () => resolve());
  });
  added.add(tell);
  try {
    for (;;) {
      const lines = answers.updates(at, wanted);
      if ('status' in lines) return await end(client, lines);
      const end_ = answers.end();
      for (const line of lines) {
        await element(line);
        at = offsetOf(line);
      }
      await Promise.race([sleep(checkpointMs), closed]);
      if (client.readyState !== client.OPEN) return;
      if (answers.end() !== end_) continue;
      // From here on: what is added while the checkpoint is sent must wake it too.
      const more = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (answers.end() > 0) await element(answers.checkpoint());
      at = end_;
      await Promise.race([more, closed]);
      if (client.readyState !== client.OPEN) return;
    }
  } finally {
    added.delete(tell);
  }
}

async function end(client: WebSocket, { body }: ApiError): Promise<never> {
  await sendText(client, JSON.stringify(body));
  client.close(1011);
  throw CLOSED;
}

async function misbehave(client: WebSocket, does: StreamFault['does'], text: string): Promise<void> {
  const { _socket: socket } = client as unknown as { _socket: { write(bytes: Buffer): void; destroy(): void } };
  switch (does) {
    case 'cut':
      socket.destroy();
      throw CLOSED;
    case 'close':
      client.close(1001);
      throw CLOSED;
    case 'half':
      socket.write(Buffer.from([0x81, 126, 0x40, 0, ...Buffer.from(text.slice(0, 50))]));
      socket.destroy();
      throw CLOSED;
    case 'oversized':
      // A frame that says it has 1 TiB.
      socket.write(Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0]));
      throw CLOSED;
    default:
      return end(client, does);
  }
}

function sendText(client: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.send(text, (error) => (error ? reject(CLOSED) : resolve()));
  });
}
