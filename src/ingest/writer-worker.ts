import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';
import { ViewsWriter } from '../views/write/writer.ts';
import { followSources } from './follow-sources.ts';
import { isTransient } from './retry.ts';
import { createStatusTeller } from './status-reporter.ts';
import type { IngestReply, IngestRequest, IngestSettings } from './writer-thread.ts';

const NICENESS = 10;

/** The writer's thread of `serve`: its sources one after the other, and forced snapshots between batches. */
async function run(settings: IngestSettings): Promise<void> {
  const port = parentPort!;
  const post = (reply: IngestReply): void => port.postMessage(reply);
  const stop = new AbortController();
  const now = (): number => Date.now() * 1000;
  using writer = new ViewsWriter(settings.dataDir, { ...settings, now });
  const status = createStatusTeller(writer, (status) => post({ type: 'status', status }));
  port.on('message', (request: IngestRequest) => {
    if (request.type === 'stop') return stop.abort();
    post(answerForce(writer, request));
    status.turn({});
  });
  const { signal } = stop;
  await followSources({ writer, status, signal, now, onLog: (line) => post({ type: 'log', line }) }, settings);
  if (!signal.aborted) await once(signal, 'abort');
  status.turn({ phase: 'stopped' });
  port.close();
}

/** What passes by itself is told apart here: an error that crosses a thread keeps its words only. */
function answerForce(writer: ViewsWriter, { id, maySeal }: Extract<IngestRequest, { type: 'force' }>): IngestReply {
  try {
    return { type: 'forced', id, outcome: writer.force({ maySeal }) };
  } catch (error) {
    const { message } = error as Error;
    if (!isTransient(error)) return { type: 'force_failed', id, message };
    return { type: 'forced', id, outcome: { kind: 'held_up', reason: message } };
  }
}

/**
 * Requests come before the ingest where there are fewer cores than threads. On Linux a niceness is one thread's, and the feed's
 * thread inherits this one's; elsewhere it would be the whole process's.
 */
async function giveWay(): Promise<void> {
  if (process.platform !== 'linux' || getPriority() >= NICENESS) return;
  // The threads that libuv shares among all of ours inherit it as well, unless they are there already.
  await access('/');
  try {
    setPriority(NICENESS);
  } catch {
    // A system that forbids even this runs the ingest as before.
  }
}

try {
  await giveWay();
  await run(workerData as IngestSettings);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  parentPort!.postMessage({ type: 'refused', message: error.message } satisfies IngestReply);
  // While it is open, the thread lives and the process with it.
  parentPort!.close();
}
