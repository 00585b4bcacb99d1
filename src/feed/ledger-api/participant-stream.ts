import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { LINE_BYTES_MAX } from '../limits.ts';
import { AnswerFailure, describeError, failureOf } from '../network/json-client.ts';
import { CA_SETTING, readError } from './participant-errors.ts';

/** What was received and is not taken yet; beyond it the socket is not read, and the participant waits. */
const QUEUE_BYTES_MAX = 4 * 2 ** 20;
/** Servers close connections that are silent for a minute. */
const PING_MS = 20_000;
/** Unanswered pings by which the connection is dead. */
const PINGS_UNANSWERED_MAX = 3;
const HANDSHAKE_TIMEOUT_MS = 30_000;
/** For the body of an answer that refuses the connection. */
const REFUSAL_TIMEOUT_MS = 10_000;
/** The protocol that participants know; the token goes as a header of its own. */
const PROTOCOL = 'daml.ws.auth';
const NORMAL_CLOSURE = 1000;

export interface StreamOptions {
  /** PEM of the authorities that may sign the server; null for the system's. */
  readonly ca: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The one message sent. */
  readonly request: object;
  readonly signal: AbortSignal;
  readonly onOpen?: () => void;
  readonly pingMs?: number;
  readonly refusalTimeoutMs?: number;
  readonly messageBytesMax?: number;
}

/** The elements of a participant's stream, in batches. Ends in good order or where the signal aborts; throws AnswerFailure otherwise. */
export async function* openStream(
  url: string,
  {
    ca,
    headers,
    request,
    signal,
    onOpen = () => {},
    pingMs = PING_MS,
    refusalTimeoutMs = REFUSAL_TIMEOUT_MS,
    messageBytesMax = LINE_BYTES_MAX,
  }: StreamOptions,
): AsyncGenerator<readonly Buffer[]> {
  if (signal.aborted) return;
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  let unanswered = 0;
  let end: 'closed' | AnswerFailure | null = null;
  let wake = (): void => {};
  const target = url.replace(/^http/, 'ws');
  const socket = new WebSocket(target, [PROTOCOL], {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: messageBytesMax,
    // A small message could unpack to any size.
    perMessageDeflate: false,
    // What is no UTF-8 is judged where every message is.
    skipUTF8Validation: true,
    ...(ca !== null && { ca }),
  });

  function finish(how: 'closed' | AnswerFailure): void {
    end ??= how;
    wake();
  }
  const cannot = (what: string, cause?: unknown): AnswerFailure => new AnswerFailure(`${target}: ${what}`, { cause });

  socket.on('unexpected-response', (_, response: IncomingMessage) => {
    const deadline = setTimeout(() => response.destroy(), refusalTimeoutMs);
    void failureOf(target, response, readError).then((failure) => {
      clearTimeout(deadline);
      finish(failure);
      socket.terminate();
    });
  });
  socket.on('open', () => {
    onOpen();
    socket.send(JSON.stringify(request));
  });
  socket.on('message', (data: Buffer) => {
    unanswered = 0;
    queue.push(data);
    queuedBytes += data.length;
    if (queuedBytes >= QUEUE_BYTES_MAX) socket.pause();
    wake();
  });
  socket.on('pong', () => {
    unanswered = 0;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const isTooLong = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    const tooLong = `${target}: sends an element of more than ${messageBytesMax} bytes, which is no update`;
    const stop = { cause: error, conduct: 'stop' } as const;
    finish(isTooLong ? new AnswerFailure(tooLong, stop) : cannot(describeError(error, CA_SETTING), error));
  });
  socket.on('close', (code) =>
    finish(code === NORMAL_CLOSURE ? 'closed' : cannot(`the connection was closed (${code})`)),
  );
  const abort = (): void => finish('closed');
  signal.addEventListener('abort', abort);
  const pinging = setInterval(() => {
    // An answer could not be read either.
    if (socket.isPaused || socket.readyState !== WebSocket.OPEN) return;
    if (unanswered >= PINGS_UNANSWERED_MAX) return finish(cannot(`has not answered ${unanswered} pings`));
    unanswered += 1;
    socket.ping();
  }, pingMs);

  try {
    for (;;) {
      while (queue.length === 0) {
        if (signal.aborted || end === 'closed') return;
        if (end !== null) throw end as AnswerFailure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const taken = queue;
      queue = [];
      queuedBytes = 0;
      if (socket.isPaused) socket.resume();
      yield taken;
    }
  } finally {
    clearInterval(pinging);
    signal.removeEventListener('abort', abort);
    socket.terminate();
  }
}
