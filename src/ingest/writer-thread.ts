import { Worker } from 'node:worker_threads';
import type { KafkaConnection } from '../feed/kafka/client.ts';
import { Refusal } from '../refusal.ts';
import { threadFile } from '../thread-file.ts';
import type { DirectorySettings } from '../views/store/database.ts';
import { noCounts } from '../views/write/counts.ts';
import type { ForceOutcome } from '../views/write/force.ts';
import { type LogLine, THREAD_OPTIONS } from './feed-thread.ts';
import type { IngestStatus } from './status.ts';

/** What the writer's thread is told at its start. */
export interface IngestSettings extends DirectorySettings {
  readonly dataDir: string;
  readonly files: readonly string[];
  /** Read after the files. */
  readonly kafka: TopicSettings | null;
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly recordTimeAheadMaxUs: number;
  readonly recordTimeGapMaxUs: number;
}

/** Which topic to read and how to reach it. */
export interface TopicSettings extends KafkaConnection {
  readonly topic: string;
  /** Null: one made with the data directory. */
  readonly group: string | null;
  readonly partitionIdleMs: number | null;
  readonly sessionTimeoutMs?: number;
}

export type IngestRequest =
  | { readonly type: 'stop' }
  | { readonly type: 'force'; readonly id: number; readonly maySeal: boolean };

export type IngestReply =
  | { readonly type: 'status'; readonly status: IngestStatus }
  | { readonly type: 'log'; readonly line: LogLine }
  | { readonly type: 'forced'; readonly id: number; readonly outcome: ForceOutcome }
  | { readonly type: 'force_failed'; readonly id: number; readonly message: string }
  | { readonly type: 'refused'; readonly message: string };

export interface Ingest extends AsyncDisposable {
  readonly status: IngestStatus;
  /** Seals a snapshot between batches. */
  force(wish: { readonly maySeal: boolean }): Promise<ForceOutcome>;
  /** Resolves when the thread has ended; rejects with what killed it. */
  readonly ended: Promise<void>;
}

/** How long a stop waits for the batch under way to be committed, before the thread is ended as it is. */
const STOP_GRACE_MS = 20_000;

const STARTING: IngestStatus = {
  phase: 'starting',
  source: null,
  halted: null,
  quarantined: null,
  dso: { party: null, pinned: false },
  counts: noCounts(),
  deadLetters: {},
  lastError: null,
};

/** Starts the writer's thread and returns when views.db is open. Throws a Refusal where the directory is refused. */
export async function startIngest(
  settings: IngestSettings,
  onStatus: (status: IngestStatus, before: IngestStatus) => void,
  onLog: (line: LogLine) => void = () => {},
): Promise<Ingest> {
  const worker = new Worker(threadFile('writer-worker', import.meta.url), {
    name: 'writer',
    workerData: settings,
    ...THREAD_OPTIONS,
  });
  const waiting = new Map<number, { resolve: (outcome: ForceOutcome) => void; reject: (error: Error) => void }>();
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let status = STARTING;
  let lastId = 0;

  function settle(id: number, answer: ForceOutcome | Error): void {
    const wish = waiting.get(id);
    waiting.delete(id);
    if (answer instanceof Error) wish?.reject(answer);
    else wish?.resolve(answer);
  }

  worker.on('message', (reply: IngestReply) => {
    switch (reply.type) {
      case 'status': {
        const before = status;
        status = reply.status;
        opened.resolve();
        return onStatus(status, before);
      }
      case 'log':
        return onLog(reply.line);
      case 'forced':
        return settle(reply.id, reply.outcome);
      case 'force_failed':
        return settle(reply.id, new Error(reply.message));
      case 'refused': {
        const refusal = new Refusal(reply.message);
        opened.reject(refusal);
        ended.reject(refusal);
      }
    }
  });
  worker.on('error', (error) => {
    opened.reject(error);
    ended.reject(error);
  });
  worker.on('exit', () => {
    const gone = new Error('the writer has stopped');
    for (const id of [...waiting.keys()]) settle(id, gone);
    const byItself = new Error('the writer thread ended by itself');
    opened.reject(byItself);
    if (status.phase === 'stopped') ended.resolve();
    else ended.reject(byItself);
  });
  ended.promise.catch(() => {});
  await opened.promise;

  return {
    get status() {
      return status;
    },
    force({ maySeal }) {
      const id = ++lastId;
      worker.postMessage({ type: 'force', id, maySeal } satisfies IngestRequest);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    ended: ended.promise,
    async [Symbol.asyncDispose]() {
      worker.postMessage({ type: 'stop' } satisfies IngestRequest);
      const late = setTimeout(() => void worker.terminate(), STOP_GRACE_MS);
      await exited;
      clearTimeout(late);
    },
  };
}
