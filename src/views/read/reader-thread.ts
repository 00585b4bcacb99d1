import type { Logger } from 'pino';
import type { Asker } from '../../holdings/answer.ts';
import type { Lookup, PartyTotals, Ranking, SnapshotPlace } from '../../holdings/facts.ts';
import { HoldingsFault } from '../../holdings/holdings-fault.ts';
import type { Question } from '../../holdings/question.ts';
import { WaitingReads } from '../../holdings/reading/waiting-reads.ts';
import type { AnswerRules } from '../../holdings/summary-answer.ts';
import type { TableQuestion } from '../../holdings/table-question.ts';
import type { TableForm, TableText } from '../../holdings/table-rows.ts';
import { READING, startThread, type Thread, type ThreadContract, threadFile } from '../../threads/thread.ts';

/** Threads that work, and reads that wait for one. */
export interface ReadLoad {
  readonly busy: number;
  readonly waiting: number;
}

export type ReaderThreads = ReturnType<typeof startReaderThreads>;

export type NumberedLookup = Lookup<'numbered owners'>;

export interface ReaderContract extends ThreadContract {
  readonly data: { readonly dataDir: string; readonly rules: AnswerRules };
  readonly requests: {
    readonly json: (question: Question) => string;
    readonly table: (request: { readonly question: TableQuestion; readonly form: TableForm }) => TableText;
    readonly ranking: (place: SnapshotPlace) => Ranking;
    readonly numbered: (lookup: NumberedLookup) => readonly PartyTotals[];
  };
}

/** How long a thread may work on a question. */
const READ_MS_MAX = 10_000;
/** A ranking reads every owner, and is made once for all who ask; it may take as many times as long, which with the wait is less than a connection may be silent. */
const RANKING_TIMES_MAX = 4;
/** One more than a client may use, so that one client cannot delay the others; more would not help on a machine of few cores. */
const THREADS = 3;
const THREADS_PER_CLIENT_MAX = 2;
/** The pause before a thread that failed is replaced: the next might fail at once. */
const RESTART_MS = 1_000;

interface Read {
  /** As the log names it. */
  readonly name: string;
  /** Asks a thread. */
  readonly call: (thread: Thread<ReaderContract>) => Promise<void>;
  /** Who waits for it: several only for a ranking. */
  readonly clients: Set<string>;
  readonly readMsMax: number;
  readonly reject: (error: unknown) => void;
}

/** A thread and its current question. */
interface Reader {
  readonly thread: Thread<ReaderContract>;
  read: Read | null;
}

export type ReaderThreadsOptions = ReaderContract['data'] & {
  readonly logger: Logger;
  readonly readMsMax?: number;
};

/**
 * Starts a thread, and the others with the first question, to answer questions outside the event loop. One that exceeds its time limit
 * (`read_too_long`) is terminated and replaced. A question whose signal aborts before a thread is free is dropped
 * (`not_begun`). No `client` gets all threads.
 */
export function startReaderThreads({ logger, readMsMax = READ_MS_MAX, ...data }: ReaderThreadsOptions) {
  const readers = new Set<Reader>();
  const waiting = new WaitingReads<Read>();
  const threadsOf = (client: string): number => [...readers].filter(({ read }) => read?.clients.has(client)).length;
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

  function askNext(): void {
    for (const reader of readers) {
      if (reader.read !== null || reader.thread.hasEnded) continue;
      const read = waiting.take(threadsOf, THREADS_PER_CLIENT_MAX);
      if (read === undefined) return;
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

  async function read<Answer>(
    name: string,
    asker: Asker,
    call: (thread: Thread<ReaderContract>) => Promise<Answer>,
    times = 1,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const read: Read = {
      name,
      call: async (thread) => resolve(await call(thread)),
      clients: new Set([asker.client]),
      readMsMax: readMsMax * times,
      reject,
    };
    await waiting.wait(read, asker, () => {
      startReaders(THREADS);
      askNext();
    });
    return promise;
  }

  // Most services are asked nothing that needs a thread; the first such question finds one that is up.
  startReaders(1);
  return {
    load: (): ReadLoad => ({
      busy: [...readers].filter((reader) => reader.read !== null).length,
      waiting: waiting.length,
    }),
    json: (question: Question, asker: Asker) => read(question.answer, asker, (thread) => thread.call('json', question)),
    table: (question: TableQuestion, form: TableForm, asker: Asker) =>
      read(question.table, asker, (thread) => thread.call('table', { question, form })),
    ranking: (place: SnapshotPlace, asker: Asker) =>
      read(rankingOf(place), asker, (thread) => thread.call('ranking', place), RANKING_TIMES_MAX),
    /** Another client waits for that ranking too: where it has not begun, it begins when either may have a thread. */
    joinRanking(place: SnapshotPlace, client: string): void {
      waiting.find(({ name }) => name === rankingOf(place))?.clients.add(client);
      askNext();
    },
    numbered: (lookup: NumberedLookup, asker: Asker) =>
      read('owners by number', asker, (thread) => thread.call('numbered', lookup)),
    async [Symbol.asyncDispose](): Promise<void> {
      stopping = true;
      waiting.stopAll('the service is stopping');
      await Promise.all([...readers].map(({ thread }) => thread.terminate()));
    },
  };
}

function rankingOf({ migrationId, recordTime }: SnapshotPlace): string {
  return `ranking of migration ${migrationId} at ${recordTime}`;
}
