import { Worker } from 'node:worker_threads';
import type { Answer, Asked, FromThread, RequestName, ThreadContract, ToThread } from './contract.ts';
import { type ErrorClass, fromPortable } from './portable-error.ts';

/** A thread as the one that started it sees it. Disposing it asks it to stop and waits until it has ended. */
export interface Thread<C extends ThreadContract> extends AsyncDisposable {
  /**
   * Asks, and waits for the answer. Rejects with what the thread threw, code and class included, or with what it died of;
   * `moved` buffers are given away, not copied.
   */
  call<Name extends RequestName<C>>(
    name: Name,
    asked: Asked<C, Name>,
    moved?: readonly ArrayBuffer[],
  ): Promise<Answer<C, Name>>;
  /** Asks without waiting for an answer; what the thread throws at it ends the thread. */
  notify<Name extends RequestName<C>>(name: Name, asked: Asked<C, Name>): void;
  /** Asks it to end; what is under way there is still answered. */
  stop(): void;
  /** Ends it whatever it is doing. */
  terminate(): Promise<void>;
  /** Resolves when it has ended: with what it died of, null where it was asked to end. */
  readonly ended: Promise<Error | null>;
  readonly hasEnded: boolean;
}

export interface ThreadOptions<C extends ThreadContract> {
  /** Shown in messages, and by debuggers. */
  readonly name: string;
  readonly data: C['data'];
  /** Called with what the thread says by itself. */
  readonly on: { readonly [Name in keyof C['notices']]: (said: C['notices'][Name]) => void };
  /** Classes that errors of the thread keep. */
  readonly errors: readonly ErrorClass[];
  /** How long disposing waits for the thread before it is ended as it is. */
  readonly stopGraceMs?: number;
  readonly worker?: typeof FEEDING;
}

/** To close a file, or to leave a Kafka group, so that the next start need not wait for a timeout. */
const STOP_GRACE_MS = 6_000;

/** Of every thread that feeds or writes: a thread started by one without them would not have the second. */
export const FEEDING = {
  // A nursery of 8 MiB: objects die young there, and larger ones let a thread hold hundreds of megabytes of garbage.
  resourceLimits: { maxYoungGenerationSizeMb: 24 },
  // The descriptor of a pipe is closed by its socket. Node would close that number again when the thread ends, whatever it
  // stands for by then: a client's connection, a database.
  trackUnmanagedFds: false,
};

/** The file of a thread beside the module that starts it: TypeScript in a checkout, JavaScript in the built package. */
export function threadFile(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Starts a thread that serves (`serve-thread.ts`) what its contract says. */
export function startThread<C extends ThreadContract>(file: URL, options: ThreadOptions<C>): Thread<C> {
  const { name, data, on, errors, stopGraceMs = STOP_GRACE_MS } = options;
  const worker = new Worker(file, { name, workerData: data, ...options.worker });
  const notices = on as Readonly<Record<string, (said: unknown) => void>>;
  const waiting = new Map<number, Waiting>();
  const ended = Promise.withResolvers<Error | null>();
  let lastId = 0;
  let isAskedToEnd = false;
  let hasEnded = false;
  let death: Error | null = null;

  worker.on('message', (message: FromThread) => {
    switch (message.type) {
      case 'answer':
        return take(message.id)?.resolve(message.answer);
      case 'failure':
        return take(message.id)?.reject(fromPortable(message.error, errors));
      case 'notice':
        return notices[message.name]!(message.said);
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
    for (const id of [...waiting.keys()]) take(id)!.reject(whyEnded(code));
    ended.resolve(isAskedToEnd ? death : whyEnded(code));
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

  async function terminate(): Promise<void> {
    isAskedToEnd = true;
    await worker.terminate();
  }

  return {
    call(request, asked, moved) {
      return new Promise((resolve, reject) => {
        if (hasEnded) return reject(death);
        const id = ++lastId;
        post({ type: 'request', name: request, id, asked }, moved);
        waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      });
    },
    notify: (request, asked) => post({ type: 'request', name: request, id: null, asked }),
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
