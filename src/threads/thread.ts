import { Worker, type WorkerOptions } from 'node:worker_threads';

/** A thread's start data, its requests, and the notices that it sends. */
export interface ThreadContract {
  readonly data: unknown;
  /** By name, functions from a request's argument to its answer. */
  readonly requests: Readonly<Record<string, (argument: never) => unknown>>;
  /** By name, what the thread sends without being asked; not answered. */
  readonly notices: object;
}

export type RequestName<C extends ThreadContract> = keyof C['requests'] & string;
export type Argument<C extends ThreadContract, Name extends RequestName<C>> = Parameters<C['requests'][Name]>[0];
export type Answer<C extends ThreadContract, Name extends RequestName<C>> = ReturnType<C['requests'][Name]>;

/** `id`: null where no answer is wanted. */
export type ToThread =
  | { readonly type: 'request'; readonly name: string; readonly id: number | null; readonly argument: unknown }
  | { readonly type: 'stop' };

export type FromThread =
  /** Its `open` is done. */
  | { readonly type: 'open' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: PortableError }
  | { readonly type: 'notice'; readonly name: string; readonly notice: unknown }
  | { readonly type: 'log'; readonly line: LogLine }
  /** The thread failed to start, and ends. */
  | { readonly type: 'dead'; readonly error: PortableError };

/** A thread's line for the log; the process has one logger, in its main thread. */
export interface LogLine {
  readonly level: Level;
  readonly fields: object;
  readonly message: string;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
export type ThreadLogger = Readonly<Record<Level, (fields: object, message: string) => void>>;

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
 * Options of every thread that decodes. With semi-spaces of 8 MiB nearly all of what a batch was decoded from is dead when they
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
      if (hasEnded) throw whyEnded(0);
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

/** An error in the form in which threads send it: a structured clone keeps neither its code nor its class. */
interface PortableError {
  /** The names of its classes, its own first. */
  readonly classes: readonly string[];
  readonly message: string;
  readonly stack: string | undefined;
  /** Its own properties, such as `name`, `code`, or `path` of a system error. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly cause: PortableError | null;
}

// Constructors may need any arguments, so none is called.
type ErrorClass = abstract new (...given: never[]) => Error;

export function toPortable(thrown: unknown): PortableError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, message, stack, cause } = error;
  return {
    classes: classesOf(error),
    message,
    stack,
    properties: { ...Object.fromEntries(Object.entries(error).filter(([, value]) => isCloneable(value))), name },
    cause: cause === undefined ? null : toPortable(cause),
  };
}

/** The error, as one of these classes where it was one; otherwise an Error with its class's name. */
export function fromPortable(portable: PortableError, classes: readonly ErrorClass[]): Error {
  const { message, stack, properties, cause } = portable;
  const error = new Error(message, cause === null ? {} : { cause: fromPortable(cause, classes) });
  const known = portable.classes.map((name) => classes.find((each) => each.name === name)).find(Boolean);
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  return Object.assign(error, { ...properties, ...(stack === undefined ? {} : { stack }) });
}

function classesOf(error: Error): string[] {
  const prototype: unknown = Object.getPrototypeOf(error);
  return prototype instanceof Error ? [prototype.constructor.name, ...classesOf(prototype)] : [];
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
