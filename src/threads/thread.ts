import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Answer, Argument, FromThread, RequestName, ThreadContract, ToThread } from './contract.ts';
import type { ThreadLogger } from './log-line.ts';
import { type ErrorClass, fromPortable } from './portable-error.ts';

/** A thread, seen from its starter. Disposing it requests a stop and waits for its end. */
export interface Thread<C extends ThreadContract> extends AsyncDisposable {
  /**
   * Sends a request and waits for the answer. Rejects with the handler's error, code and class included, or with the error that
   * ended the thread; `moved` buffers are transferred, not copied.
   */
  call<Name extends RequestName<C>>(
    name: Name,
    argument: Argument<C, Name>,
    moved?: readonly ArrayBuffer[],
  ): Promise<Answer<C, Name>>;
  /** Sends a request that is not answered; an error of its handler ends the thread. */
  notify<Name extends RequestName<C>>(name: Name, argument: Argument<C, Name>): void;
  /** Requests its end; pending requests are still answered. */
  stop(): void;
  /** Ends it without an answer to pending requests: at once, or as soon as it has opened. */
  terminate(): Promise<void>;
  /** Resolves when it has ended: with the error that ended it, null after a requested stop. */
  readonly ended: Promise<Error | null>;
  readonly hasEnded: boolean;
}

export interface ThreadOptions<C extends ThreadContract> {
  /** Its name in messages and debuggers. */
  readonly name: string;
  readonly data: C['data'];
  /** Handlers of its notices. */
  readonly on: { readonly [Name in keyof C['notices']]: (notice: C['notices'][Name]) => void };
  /** Error classes that are kept when an error comes from the thread. */
  readonly errors: readonly ErrorClass[];
  /** Of its starter; without one its lines are left out. */
  readonly logger?: ThreadLogger | undefined;
  /** How long disposing waits before the thread is terminated. */
  readonly stopGraceMs?: number;
  readonly worker?: WorkerOptions;
}

/** Enough to close files and to leave a Kafka group, so that the next start need not wait for a timeout. */
const STOP_GRACE_MS = 6_000;

/** Options of every thread that writes; a thread inherits the second from the one that starts it. */
export const WRITING = {
  // Semi-spaces of 2 MiB: most objects die there, and larger ones let a thread keep hundreds of megabytes of garbage.
  resourceLimits: { maxYoungGenerationSizeMb: 6 },
  // The descriptor of a pipe is closed by its socket. Node would close the same number again when the thread ends, which may
  // be a client's connection or a database by then.
  trackUnmanagedFds: false,
};

/**
 * Options of every thread that decodes. With semi-spaces of 8 MiB nearly all of what a chunk was decoded from is dead when they
 * are full; smaller ones are collected four times as often, at the same cost each.
 */
export const DECODING = { ...WRITING, resourceLimits: { maxYoungGenerationSizeMb: 24 } };

/** Options of a thread that reads: without a bound V8 gives each 128 MiB for young objects as soon as many questions come. */
export const READING = { resourceLimits: { maxYoungGenerationSizeMb: 24 } };

/** A thread's file, next to the module that starts it: TypeScript in a checkout, JavaScript in the built package. */
export function threadFile(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}

type Waiting = Omit<PromiseWithResolvers<never>, 'promise'>;

/** Starts a thread that serves its contract (`serve-thread.ts`). */
export function startThread<C extends ThreadContract>(file: URL, options: ThreadOptions<C>): Thread<C> {
  const { name, data, on, errors, stopGraceMs = STOP_GRACE_MS } = options;
  const worker = new Worker(file, { name, workerData: data, ...options.worker });
  const notices = on as Readonly<Record<string, (notice: unknown) => void>>;
  const waiting = new Map<number, Waiting>();
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Error | null>();
  let lastId = 0;
  let isAskedToEnd = false;
  let hasEnded = false;
  let death: Error | null = null;

  worker.on('message', (message: FromThread) => {
    switch (message.type) {
      case 'open':
        return opened.resolve();
      case 'answer':
        return take(message.id)?.resolve(message.answer as never);
      case 'failure':
        return take(message.id)?.reject(fromPortable(message.error, errors));
      case 'notice':
        return notices[message.name]!(message.notice);
      case 'log':
        return options.logger?.[message.line.level](message.line.fields, message.line.message);
      case 'dead':
        death = fromPortable(message.error, errors);
    }
  });
  worker.on('error', (error) => {
    death ??= error instanceof Error ? error : new Error(String(error));
  });
  worker.on('messageerror', (error) => {
    death ??= error;
    void worker.terminate();
  });
  worker.on('exit', (code) => {
    hasEnded = true;
    opened.resolve();
    ended.resolve(isAskedToEnd ? death : whyEnded(code));
    for (const id of [...waiting.keys()]) take(id)!.reject(whyEnded(code));
  });

  function take(id: number): Waiting | undefined {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  }

  function whyEnded(code: number): Error {
    death ??= new Error(`the ${name} thread ${isAskedToEnd ? 'was stopped' : `ended by itself (code ${code})`}`);
    return death;
  }

  function post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    worker.postMessage(message, [...moved]);
  }

  function stop(): void {
    isAskedToEnd = true;
    post({ type: 'stop' });
  }

  /** A thread that is ended while it loads a native module takes the whole process with it (SIGABRT). */
  async function terminate(): Promise<void> {
    isAskedToEnd = true;
    const late = setTimeout(opened.resolve, stopGraceMs);
    await opened.promise;
    clearTimeout(late);
    await worker.terminate();
  }

  return {
    async call(request, argument, moved) {
      if (hasEnded) throw death;
      const id = ++lastId;
      post({ type: 'request', name: request, id, argument }, moved);
      const { promise, ...settle } = Promise.withResolvers<Answer<C, typeof request>>();
      waiting.set(id, settle);
      return promise;
    },
    notify: (request, argument) => post({ type: 'request', name: request, id: null, argument }),
    stop,
    terminate,
    ended: ended.promise,
    get hasEnded() {
      return hasEnded;
    },
    async [Symbol.asyncDispose]() {
      stop();
      const late = setTimeout(() => void worker.terminate(), stopGraceMs);
      await ended.promise;
      clearTimeout(late);
    },
  };
}
