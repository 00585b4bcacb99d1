import type { Logger } from 'pino';
import type { FactKind, Facts, Lookup } from '../../holdings/facts.ts';
import { HoldingsFault } from '../../holdings/holdings-fault.ts';
import type { Question } from '../../holdings/question.ts';
import type { AnswerRules } from '../../holdings/summary-answer.ts';
import type { TableQuestion } from '../../holdings/table-question.ts';
import type { TableForm, TableText } from '../../holdings/table-rows.ts';
import { READING, startThread, type Thread, type ThreadContract, threadFile } from '../../threads/thread.ts';

/** Threads that work, and reads that wait for one. */
export type ReadLoad = { readonly busy: number; readonly waiting: number };

export interface ReaderContract extends ThreadContract {
  readonly data: { readonly dataDir: string; readonly rules: AnswerRules };
  readonly requests: {
    readonly json: (question: Question) => string;
    readonly table: (request: { readonly question: TableQuestion; readonly form: TableForm }) => TableText;
    readonly facts: (lookup: Lookup<FactKind>) => Facts<FactKind>;
  };
}

/** How long a thread may work on a question. */
const READ_MS_MAX = 10_000;
/** A ranking reads every owner, and is made once for all who ask; it may take as many times as long, which with the wait is less than a connection may be silent. */
const RANKING_TIMES_MAX = 4;
/** More would not help on a machine of few cores. */
const THREADS = 3;
/** How long a read may wait to begin, and how many may wait; more would reach their time limit before they begin. */
const WAIT_MS_MAX = 10_000;
const WAITING_MAX = 256;
const LOOKING = 'found' satisfies TableQuestion['table'];
/** The pause before a thread that failed is replaced: the next might fail at once. */
const RESTART_MS = 1_000;

interface Read {
  readonly name: string;
  readonly call: (thread: Thread<ReaderContract>) => Promise<void>;
  readonly readMsMax: number;
  readonly reject: (error: unknown) => void;
}

type Reader = { readonly thread: Thread<ReaderContract>; read: Read | null };

export type ReaderThreadsOptions = ReaderContract['data'] & {
  readonly logger: Logger;
  readonly readMsMax?: number;
};

/**
 * Starts a thread, and the others with the first question, to answer questions outside the event loop. One that exceeds its time limit
 * (`read_too_long`) is terminated and replaced. A question that waits too long for a thread, or whose signal aborts before one is
 * free, is dropped (`not_begun`). They are taken in the order they come.
 */
export function startReaderThreads({ logger, readMsMax = READ_MS_MAX, ...data }: ReaderThreadsOptions) {
  const readers = new Set<Reader>();
  const waiting = new Set<Read>();
  let stopping = false;
  let started = 0;

  function startReader(): void {
    if (stopping) return;
    const thread = startThread<ReaderContract>(threadFile('reader-worker', import.meta.url), {
      name: 'reader',
      data,
      on: {},
      errors: [HoldingsFault],
      worker: READING,
    });
    const reader: Reader = { thread, read: null };
    readers.add(reader);
    void thread.ended.then((death) => {
      if (death !== null) logger.error({ err: death }, 'a reader thread died');
      setTimeout(startReader, readers.delete(reader) ? RESTART_MS : 0).unref();
    });
    askNext();
  }

  /** Looking for an id reads all rows: only one thread does so at a time, and others find the rest free. */
  function nextRead(): Read | undefined {
    const isLooking = [...readers].some((reader) => reader.read?.name === LOOKING);
    return isLooking ? waiting.values().find(({ name }) => name !== LOOKING) : waiting.values().next().value;
  }

  function askNext(): void {
    for (const reader of readers) {
      if (reader.read !== null || reader.thread.hasEnded) continue;
      const read = nextRead();
      if (read === undefined) return;
      waiting.delete(read);
      reader.read = read;
      void ask(reader, read);
    }
  }

  async function ask(reader: Reader, read: Read): Promise<void> {
    const deadline = setTimeout(() => end(reader, read), read.readMsMax);
    try {
      await read.call(reader.thread);
    } catch (error) {
      read.reject(error);
    }
    clearTimeout(deadline);
    reader.read = null;
    askNext();
  }

  function end(reader: Reader, read: Read): void {
    const { name: question, readMsMax } = read;
    logger.warn({ question, readMsMax }, 'a read was ended at its time limit');
    readers.delete(reader);
    void reader.thread.terminate();
    read.reject(new HoldingsFault('read_too_long', `the read took longer than ${readMsMax / 1000} s; ask for less`));
  }

  function startReaders(threads: number): void {
    for (; started < threads; started++) startReader();
  }

  function stop(read: Read, why: string): void {
    if (waiting.delete(read)) read.reject(new HoldingsFault('not_begun', why));
  }

  async function read<Answer>(
    name: string,
    call: (thread: Thread<ReaderContract>) => Promise<Answer>,
    { signal, times = 1 }: { signal?: AbortSignal | undefined; times?: number } = {},
  ): Promise<Answer> {
    if (waiting.size >= WAITING_MAX)
      throw new HoldingsFault('not_begun', 'too many reads are waiting; try again later');
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const read: Read = {
      name,
      call: async (thread) => resolve(await call(thread)),
      readMsMax: readMsMax * times,
      reject,
    };
    const leave = (): void => stop(read, 'the client went away');
    const late = 'other reads took too long for this one to begin; try again later';
    const deadline = setTimeout(() => stop(read, late), WAIT_MS_MAX);
    signal?.addEventListener('abort', leave);
    waiting.add(read);
    if (signal?.aborted === true) leave();
    startReaders(THREADS);
    askNext();
    try {
      return await promise;
    } finally {
      clearTimeout(deadline);
      // The same signal is that of all pages of a long answer, and a listener would keep each of them in memory.
      signal?.removeEventListener('abort', leave);
    }
  }

  // Most services are asked nothing that needs a thread; the first such question finds one that is up.
  startReaders(1);
  return {
    load: (): ReadLoad => ({
      busy: [...readers].filter((reader) => reader.read !== null).length,
      waiting: waiting.size,
    }),
    json: (question: Question, signal?: AbortSignal) =>
      read(question.answer, (thread) => thread.call('json', question), { signal }),
    table: (question: TableQuestion, form: TableForm, signal?: AbortSignal) =>
      read(question.table, (thread) => thread.call('table', { question, form }), { signal }),
    facts: <K extends FactKind>(lookup: Lookup<K>, signal?: AbortSignal): Promise<Facts<K>> =>
      read(lookup.kind, (thread) => thread.call('facts', lookup as never) as Promise<Facts<K>>, {
        signal,
        times: lookup.kind === 'ranking' ? RANKING_TIMES_MAX : 1,
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      stopping = true;
      for (const read of waiting) stop(read, 'the service is stopping');
      await Promise.all([...readers].map(({ thread }) => thread.terminate()));
    },
  };
}
