import { parentPort, workerData } from 'node:worker_threads';
import { FeedRefused } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { PossibleGap } from '../views/apply.ts';
import { createDeadLetterCounter, type DeadLetter, type LetterFacts } from '../views/dead-letters.ts';
import { ViewsWriter } from '../views/writer.ts';
import { type Feed, type SourceSpec, startFeedThread } from './feed-thread.ts';
import { awaitClock, runLoop } from './loop.ts';
import { stillHalted } from './replay.ts';
import { isOutOfFiles, isTransient, retryTransient } from './retry.ts';
import type { IngestStatus, TopicStatus } from './status.ts';
import type { IngestReply, IngestRequest, IngestSettings, TopicSettings } from './writer-thread.ts';

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
  let deadLetters: IngestStatus['deadLetters'] | null = null;
  let quarantined: LetterFacts | null = null;
  const countDeadLetters = createDeadLetterCounter(writer.db);
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (now: boolean): void => {
    if (!now && performance.now() - toldAt < STATUS_INTERVAL_MS) return;
    toldAt = performance.now();
    whileReadable(lookAtLetters);
    const partitions = [...writer.state.partitions].map(([partition, { storedOffset }]) => [partition, storedOffset]);
    // A topic counts in offsets, not in bytes.
    const { read = null, total = null } = source?.feed?.status === null ? source.feed.progress : {};
    post({
      type: 'status',
      status: {
        phase,
        source: source && {
          name: source.name,
          position: Object.fromEntries(partitions),
          readBytes: read,
          totalBytes: total,
          topic: source.feed && topicStatus(source.feed, writer),
        },
        halted: halted && letterFacts(halted),
        quarantined,
        dso: { party: writer.state.dso, pinned: writer.state.dsoPinned },
        counts: writer.counts,
        deadLetters: deadLetters ?? {},
        lastError,
      },
    });
  };
  /** Those of earlier starts are no news. */
  function lookAtLetters(): void {
    const before = deadLetters;
    deadLetters = countDeadLetters();
    if (before !== null && deadLetters.quarantined !== before.quarantined)
      quarantined = writer.letters.newestQuarantined();
  }

  const turn = (next: IngestStatus['phase']): void => {
    phase = next;
    tell(true);
  };
  const retrying = {
    signal: stop.signal,
    onFailure: (error: Error) => {
      lastError = { at: new Date().toISOString(), message: error.message };
      turn('retrying');
    },
    onSuccess: () => turn('reading'),
  };
  const persist = <T>(step: () => T): Promise<T> => retryTransient(step, retrying);

  port.on('message', (request: IngestRequest) => {
    if (request.type === 'stop') return stop.abort();
    post(answerForce(writer, request));
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

  /** A source is gone on from where the views are, so it may be opened as often as need be. */
  function follow(name: string, specNow: () => SourceSpec): Promise<void> {
    return retryTransient(() => followOnce(name, specNow()), {
      ...retrying,
      passes: isOutOfFiles,
      onSuccess: () => {},
    });
  }

  async function followOnce(name: string, spec: SourceSpec): Promise<void> {
    await using feed = startFeedThread(spec, {
      migrationId: writer.sourceMigrationId,
      onLog: (line) => post({ type: 'log', line }),
      onStatus: () => tell(false),
    });
    source = { name, feed };
    turn('reading');
    halted = await runLoop(writer, feed, {
      ...loop,
      source: { name, topic: spec.kind === 'topic' },
      onAhead: 'wait',
      onCommit: () => tell(false),
    });
    source = { name, feed: null };
  }

  halted = await persist(() => stillHalted(writer, options));
  if (halted?.kind === 'ahead') {
    onHalt(halted);
    halted = await awaitClock(writer, halted, loop);
  } else tell(true);
  try {
    for (const path of settings.files) {
      if (halted === null && !stop.signal.aborted) await follow(path, () => ({ kind: 'file', path }));
    }
    const { kafka } = settings;
    if (kafka !== null && halted === null && !stop.signal.aborted) {
      await follow(`topic ${kafka.topic}`, () => topicSpec(kafka, writer));
    }
    if (!stop.signal.aborted) turn(halted === null ? 'caught_up' : 'halted');
  } catch (error) {
    // What could not be written when the stop came is read again at the next start.
    const isStopped = stop.signal.aborted && isTransient(error);
    if (!(isStopped || error instanceof FeedRefused || error instanceof PossibleGap)) throw error;
    lastError = { at: new Date().toISOString(), message: error.message };
    if (!isStopped) turn('refused');
  }
  if (!stop.signal.aborted) {
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
  }
  turn('stopped');
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

/** The disk or the database may refuse for now: a status must not end what only waits. */
function whileReadable(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

function topicSpec({ brokers, ssl, sasl, group, ...rest }: TopicSettings, writer: ViewsWriter): SourceSpec {
  const connection = { brokers, ssl, sasl };
  const stored = writer.topicPosition;
  return {
    kind: 'topic',
    topic: { ...rest, connection, group: group ?? `holdfast-${writer.directoryId}`, stored },
  };
}

/** How a topic stands; null for files. */
function topicStatus({ status }: Feed, writer: ViewsWriter): TopicStatus | null {
  if (status === null) return null;
  const times = [...writer.state.migrations.values()].flatMap(({ timeReached }) => timeReached ?? []);
  return { ...status, appliedRecordTime: times.length === 0 ? null : Math.max(...times) };
}

function letterFacts({
  sha256: _hash,
  length: _length,
  bytes: _bytes,
  createdAt: _at,
  ...told
}: DeadLetter): LetterFacts {
  return told;
}

try {
  await run(workerData as IngestSettings);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  parentPort!.postMessage({ type: 'refused', message: error.message } satisfies IngestReply);
}
