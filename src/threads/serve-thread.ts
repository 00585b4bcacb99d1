import { access } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import {
  type Answer,
  type Argument,
  type FromThread,
  fromPortable,
  type LogLine,
  type RequestName,
  type ThreadContract,
  type ThreadLogger,
  type ToThread,
  toPortable,
} from './thread.ts';

/** Names the buffers that are transferred with an answer. */
export type Move = (buffers: readonly ArrayBuffer[]) => void;

/** A handler for each request. Disposed of after the last answer. */
export type Handlers<C extends ThreadContract> = {
  readonly [Name in RequestName<C>]: (
    argument: Argument<C, Name>,
    move: Move,
  ) => Answer<C, Name> | Promise<Answer<C, Name>>;
} & Partial<AsyncDisposable>;

/** A thread, seen from inside. */
export interface ServedThread<C extends ThreadContract> {
  readonly data: C['data'];
  /** Aborts when the thread should end. */
  readonly stop: AbortSignal;
  /** Its lines go to the log of its starter. */
  readonly logger: ThreadLogger;
  readonly notify: <Name extends keyof C['notices'] & string>(name: Name, notice: C['notices'][Name]) => void;
}

/** The whole life of a thread. An error of `open` ends it, and is sent to its starter. */
export async function serveThread<C extends ThreadContract>(
  open: (thread: ServedThread<C>) => Handlers<C> | Promise<Handlers<C>>,
): Promise<void> {
  const port = parentPort!;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  const underWay = new Set<Promise<void>>();
  const opened = Promise.withResolvers<Handlers<C>>();

  function post(message: FromThread, moved: ArrayBuffer[] = []): void {
    port.postMessage(message, moved);
  }

  async function answer({ name, id, argument }: Extract<ToThread, { type: 'request' }>): Promise<void> {
    const handlers = (await opened.promise) as Readonly<Record<string, (argument: unknown, move: Move) => unknown>>;
    const moved: ArrayBuffer[] = [];
    try {
      const given = await handlers[name]!(argument, (buffers) => moved.push(...buffers));
      if (id !== null) post({ type: 'answer', id, answer: given }, moved);
    } catch (error) {
      if (id === null) throw error;
      post({ type: 'failure', id, error: toPortable(error) });
    }
  }

  port.on('message', (message: ToThread) => {
    if (message.type === 'stop') return stop.abort();
    const answering = answer(message).finally(() => underWay.delete(answering));
    underWay.add(answering);
  });

  try {
    const handlers = await open({
      data: workerData as C['data'],
      stop: stop.signal,
      logger: forwardingLogger((line) => post({ type: 'log', line })),
      notify: (name, notice) => post({ type: 'notice', name, notice }),
    });
    opened.resolve(handlers);
    post({ type: 'open' });
    await stopped;
    await Promise.all(underWay);
    await handlers[Symbol.asyncDispose]?.();
  } catch (error) {
    post({ type: 'dead', error: toPortable(error) });
  }
  // An open port keeps the thread and the process alive.
  port.close();
}

/** A logger that sends its lines to the thread's starter. */
export function forwardingLogger(forward: (line: LogLine) => void): ThreadLogger {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    forward({ level, fields: sendable(fields), message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** An error may hold what no other thread can be sent. */
function sendable(fields: object): object {
  return 'err' in fields ? { ...fields, err: fromPortable(toPortable(fields.err), []) } : fields;
}

const NICENESS = 10;

/**
 * Requests take precedence over this thread's work where there are fewer cores than threads. On Linux a niceness is one thread's, and
 * the threads that it starts inherit it; elsewhere it would apply to the whole process.
 */
export async function giveWay(): Promise<void> {
  if (process.platform !== 'linux' || getPriority() >= NICENESS) return;
  // The thread pool that libuv shares among all of our threads would inherit it too, so it is started first.
  await access('/');
  try {
    setPriority(NICENESS);
  } catch {
    // Where the system forbids this, the thread runs at the usual priority.
  }
}
