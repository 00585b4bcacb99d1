import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { threadFile } from '../thread-file.ts';
import type { Question } from './holdings/answers.ts';
import type { AnswerRules } from './holdings/summary.ts';
import { HttpFault } from './http-fault.ts';

/** Answers questions off the event loop, each within a time limit. */
export interface SlowReads extends AsyncDisposable {
  /** The JSON text of the answer. Throws an HttpFault: the answer's own, or a 503 past the time limit. */
  answer(question: Question): Promise<string>;
}

/** What a thread is told when it starts. */
export interface ReaderWorkerData {
  readonly dataDir: string;
  readonly rules: AnswerRules;
}

export type ReaderReply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'fault'; readonly status: number; readonly message: string }
  | { readonly type: 'failure'; readonly stack: string };

/** From a question's arrival to its answer, waiting for a thread included. */
const READ_TIME_MS_MAX = 10_000;
/** Two, so that one hard question does not hold up all others; these machines have few cores. */
const THREADS = 2;
/** Questions that wait for a thread; more would be past their time before it was free. */
const WAITING_MAX = 256;
const RESTART_MS = 1_000;

interface Asked {
  readonly question: Question;
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}

/** A thread and the question it works on. */
interface Reader {
  readonly worker: Worker;
  asked: Asked | null;
}

export interface SlowReadsOptions extends ReaderWorkerData {
  readonly logger: Logger;
  readonly timeMsMax?: number;
}

/** Starts the threads. One that is past its time limit is ended and another takes its place. */
export function startSlowReads({ logger, timeMsMax = READ_TIME_MS_MAX, ...workerData }: SlowReadsOptions): SlowReads {
  const readers = new Set<Reader>();
  const waiting: Asked[] = [];
  let stopping = false;

  function startReader(): void {
    const worker = new Worker(threadFile('reader-worker', import.meta.url), { name: 'reader', workerData });
    const reader: Reader = { worker, asked: null };
    readers.add(reader);
    worker.on('message', (reply: ReaderReply) => {
      const asked = reader.asked!;
      reader.asked = null;
      settle(asked, reply);
      askNext();
    });
    askNext();
    worker.on('error', (error) => logger.error({ err: error }, 'a reader thread died'));
    worker.on('exit', () => replace(reader));
  }

  /** One that we ended is replaced at once; one that died might die again. */
  function replace(reader: Reader): void {
    const died = readers.delete(reader);
    if (reader.asked !== null) fail(reader.asked, new Error('the reader thread ended before it answered'));
    if (!stopping) setTimeout(startReader, died ? RESTART_MS : 0).unref();
  }

  function askNext(): void {
    for (const reader of readers) {
      if (reader.asked !== null) continue;
      const asked = waiting.shift();
      if (asked === undefined) return;
      reader.asked = asked;
      reader.worker.postMessage(asked.question);
    }
  }

  /** Past its time: a question that waits is dropped; the thread that works on one is ended with it. */
  function expire(asked: Asked): void {
    const reader = [...readers].find((each) => each.asked === asked);
    if (reader === undefined) waiting.splice(waiting.indexOf(asked), 1);
    else {
      logger.warn({ question: asked.question.answer, timeMsMax }, 'a read was ended at its time limit');
      reader.asked = null;
      readers.delete(reader);
      reader.worker.terminate();
    }
    asked.reject(new HttpFault(503, `the read took longer than ${timeMsMax / 1000} s; ask for less, or again later`));
  }

  for (let i = 0; i < THREADS; i++) startReader();
  return {
    answer(question) {
      if (waiting.length >= WAITING_MAX) throw new HttpFault(503, 'too many reads are waiting; ask again later');
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const asked: Asked = { question, resolve, reject, deadline: setTimeout(() => expire(asked), timeMsMax) };
      waiting.push(asked);
      askNext();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      stopping = true;
      await Promise.all([...readers].map(({ worker }) => worker.terminate()));
      for (const asked of waiting.splice(0)) fail(asked, new HttpFault(503, 'the service is stopping'));
    },
  };
}

function settle(asked: Asked, reply: ReaderReply): void {
  switch (reply.type) {
    case 'text':
      clearTimeout(asked.deadline);
      asked.resolve(reply.text);
      return;
    case 'fault':
      fail(asked, new HttpFault(reply.status, reply.message));
      return;
    case 'failure':
      fail(asked, new Error(`in the reader thread: ${reply.stack}`));
      return;
  }
}

function fail(asked: Asked, error: Error): void {
  clearTimeout(asked.deadline);
  asked.reject(error);
}
