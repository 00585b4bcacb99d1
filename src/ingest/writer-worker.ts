import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';
import { countDeadLetters, type DeadLetter } from '../views/dead-letters.ts';
import { ViewsWriter } from '../views/writer.ts';
import { type Feed, startFeedThread } from './feed-thread.ts';
import { awaitClock, runLoop } from './loop.ts';
import { stillHalted } from './replay.ts';
import { retryTransient } from './retry.ts';
import type { HaltStatus, IngestStatus } from './status.ts';
import type { IngestReply, IngestRequest, IngestSettings } from './writer-thread.ts';

/** How often the main thread is told at most; a halt or a turn is told at once. */
const STATUS_INTERVAL_MS = 200;

/** The writer's thread of `serve`: its sources one after the other, and forced snapshots between batches. */
async function run(settings: IngestSettings): Promise<void> {
  const port = parentPort!;
  const post = (reply: IngestReply): void => port.postMessage(reply);
  const stop = new AbortController();
  const options = { ...settings, now: () => Date.now() * 1000 };
  using writer = new ViewsWriter(settings.dataDir, options);

  let phase: IngestStatus['phase'] = 'starting';
  let halted: DeadLetter | null = null;
  let source: { name: string; feed: Feed | null } | null = null;
  let lastError: IngestStatus['lastError'] = null;
  let toldAt = 0;
  const tell = (now: boolean): void => {
    if (!now && Date.now() - toldAt < STATUS_INTERVAL_MS) return;
    toldAt = Date.now();
    const partitions = [...writer.state.partitions].map(([partition, { nextOffset }]) => [partition, nextOffset]);
    const { read = null, total = null } = source?.feed?.progress ?? {};
    post({
      type: 'status',
      status: {
        phase,
        source: source && {
          name: source.name,
          position: Object.fromEntries(partitions),
          readBytes: read,
          totalBytes: total,
        },
        halted: halted && haltStatus(halted),
        dso: { party: writer.state.dso, pinned: writer.state.dsoPinned },
        counts: writer.counts,
        deadLetters: countDeadLetters(writer.db),
        lastError,
      },
    });
  };
  const turn = (next: IngestStatus['phase']): void => {
    phase = next;
    tell(true);
  };
  const persist = <T>(step: () => T): Promise<T> =>
    retryTransient(step, {
      signal: stop.signal,
      onFailure: (error) => {
        lastError = { at: new Date().toISOString(), message: error.message };
        turn('retrying');
      },
      onSuccess: () => turn('reading'),
    });

  port.on('message', (request: IngestRequest) => {
    if (request.type === 'stop') return stop.abort();
    try {
      post({ type: 'forced', id: request.id, outcome: writer.force({ maySeal: request.maySeal }) });
    } catch (error) {
      post({ type: 'force_failed', id: request.id, message: (error as Error).message });
    }
    tell(true);
  });

  const onHalt = (letter: DeadLetter | null): void => {
    halted = letter;
    turn(letter === null ? 'reading' : letter.kind === 'ahead' ? 'waiting_for_clock' : 'halted');
  };
  const loop = {
    signal: stop.signal,
    now: options.now,
    recordTimeAheadMaxUs: settings.recordTimeAheadMaxUs,
    persist,
    onHalt,
  };

  halted = stillHalted(writer, options);
  if (halted?.kind === 'ahead') {
    onHalt(halted);
    halted = await awaitClock(writer, halted, loop);
  } else tell(true);
  for (const path of settings.files) {
    if (halted !== null || stop.signal.aborted) break;
    await using feed = startFeedThread({ kind: 'file', path }, { migrationId: writer.sourceMigrationId });
    source = { name: path, feed };
    turn('reading');
    halted = await runLoop(writer, feed, {
      ...loop,
      source: { name: path, topic: false },
      onAhead: 'wait',
      onCommit: () => tell(false),
    });
    source = { name: path, feed: null };
  }
  turn(halted === null ? 'caught_up' : 'halted');
  if (!stop.signal.aborted) {
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
  }
  turn('stopped');
  port.close();
}

function haltStatus({ id, kind, source, offset, updateId, reason }: DeadLetter): HaltStatus {
  return { deadLetter: id, kind, source, offset, updateId, reason };
}

try {
  await run(workerData as IngestSettings);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  parentPort!.postMessage({ type: 'refused', message: error.message } satisfies IngestReply);
}
