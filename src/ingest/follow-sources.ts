import { FILE_PARTITION } from '../chunk/chunk.ts';
import { FeedRefused } from '../feed/source.ts';
import { explained, mayPass } from '../machine-errors.ts';
import { RETRY_DISK, RETRY_OPENING, retry } from '../retry.ts';
import type { LogLine } from '../threads/log-line.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';
import { PossibleGap } from '../views/write/apply.ts';
import { MigrationIdMissing } from '../views/write/source-migration.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import { type SourceSpec, startFeedThread, type TopicSpec } from './feed-thread.ts';
import { lookAtFiles } from './look-at-files.ts';
import { awaitClock, type LoopOptions, runLoop } from './loop.ts';
import { stillHalted } from './replay.ts';
import type { StatusReporter } from './status-reporter.ts';
import type { IngestSettings, TopicSettings } from './writer-thread.ts';

export interface Following {
  readonly writer: ViewsWriter;
  readonly status: StatusReporter;
  readonly signal: AbortSignal;
  /** Our clock, microseconds. */
  readonly now: () => number;
  readonly onLog: (line: LogLine) => void;
}

/** How long one wait for a feed lasts before the signal is looked at again. */
const WAIT_MS = 100;

/** What the loop of every source is given. */
type LoopOfAll = Omit<LoopOptions, 'source' | 'onAhead' | 'onCommit'>;

/**
 * Reads the files and then the topic of `serve`, until a message halts one of them, the topic is refused or the signal
 * aborts. Behind a halt that the directory was left with nothing is read, unless that only waited for the clock.
 */
export async function followSources(following: Following, settings: IngestSettings): Promise<void> {
  const { writer, status, signal } = following;
  const loop = createLoop(following, settings);
  const { migrationId, files } = settings;
  await lookAtFiles(files, writer, { migrationId, signal });
  await takeUpHalt(following, loop, settings.kafka);
  const mayGoOn = (): boolean => status.standing.halted === null && !signal.aborted;
  try {
    for (const path of files) {
      if (mayGoOn()) await follow(following, loop, { name: path, specNow: () => ({ kind: 'file', path }) });
    }
    const { kafka } = settings;
    if (kafka !== null && mayGoOn()) {
      await follow(following, loop, { name: `topic ${kafka.topic}`, specNow: () => topicSpec(kafka, writer) });
    }
    if (!signal.aborted) status.turn({ phase: status.standing.halted === null ? 'caught_up' : 'halted' });
    await watchHalted(following, kafka);
  } catch (error) {
    // What could not be written when the stop came is read again at the next start.
    const isStopped = signal.aborted && mayPass(error, 'running');
    if (!(isStopped || isOfTopic(error, status.standing.source?.isTopic === true))) throw error;
    status.note({ lastError: errorNow(error) });
    if (!isStopped) status.turn({ phase: 'refused' });
  }
}

/** What a topic is refused for, and the service goes on without it; a feed file that is refused ends the process. */
function isOfTopic(error: unknown, isTopic: boolean): error is Error {
  return (
    error instanceof FeedRefused || error instanceof PossibleGap || (isTopic && error instanceof MigrationIdMissing)
  );
}

function createLoop(following: Following, { recordTimeAheadMaxUs }: IngestSettings): LoopOfAll {
  const { status, signal, now } = following;
  const onFailure = failing(following);
  const onRecovery = (): void => status.turn({ phase: 'reading' });
  return {
    signal,
    now,
    recordTimeAheadMaxUs,
    persist: (step) => retry(RETRY_DISK, step, { signal, onFailure, onRecovery }),
    onHalt: (halted) => status.turn({ halted, phase: phaseOf(halted) }),
  };
}

function phaseOf(halted: DeadLetter | null): 'reading' | 'waiting_for_clock' | 'halted' {
  if (halted === null) return 'reading';
  return halted.kind === 'ahead' ? 'waiting_for_clock' : 'halted';
}

function failing({ status }: Following): (failed: { readonly error: Error }) => void {
  return ({ error }) => status.turn({ lastError: errorNow(error), phase: 'retrying' });
}

function errorNow(error: Error): { at: string; message: string } {
  return { at: new Date().toISOString(), message: explained(error) };
}

/** Notes the halt that the directory was left with, and waits for the clock where that ends it. */
async function takeUpHalt(following: Following, loop: LoopOfAll, kafka: TopicSettings | null): Promise<void> {
  const { writer, status } = following;
  const halted = await loop.persist(() => stillHalted(writer, loop));
  if (halted !== null) {
    status.note({ source: { name: halted.source, isTopic: halted.partition !== FILE_PARTITION, feed: null } });
  }
  if (halted?.kind !== 'ahead') return status.turn({ halted });
  loop.onHalt(halted);
  const over = new AbortController();
  const signal = AbortSignal.any([following.signal, over.signal]);
  const watching = watchHalted({ ...following, signal }, kafka);
  try {
    await Promise.race([awaitClock(writer, halted, loop), watching.then(() => new Promise<never>(() => {}))]);
  } finally {
    over.abort();
    await watching;
  }
}

/** A source is gone on from where the views are, so it may be opened as often as need be. */
function follow(
  following: Following,
  loop: LoopOfAll,
  { name, specNow }: { name: string; specNow: () => SourceSpec },
): Promise<void> {
  const { signal } = following;
  const once = (): Promise<void> => followOnce(following, loop, { name, spec: specNow() });
  return retry(RETRY_OPENING, once, { signal, onFailure: failing(following) });
}

async function followOnce(
  { writer, status, onLog }: Following,
  loop: LoopOfAll,
  { name, spec }: { name: string; spec: SourceSpec },
): Promise<void> {
  await using feed = startFeedThread(spec, {
    migrationId: writer.sourceMigrationId,
    onLog,
    onStatus: () => status.report(),
  });
  const isTopic = spec.kind === 'topic';
  status.turn({ source: { name, isTopic, feed }, phase: 'reading' });
  const halted = await runLoop(writer, feed, {
    ...loop,
    source: { name, topic: isTopic },
    onAhead: 'wait',
    onCommit: () => status.report(),
  });
  // What was last heard of a topic goes on being told.
  status.note({ halted, source: { name, isTopic, feed: isTopic ? feed : null } });
}

/** Behind a halt at a topic, how much of it there is goes on being told, for the lag grows: until the signal aborts. */
async function watchHalted(following: Following, kafka: TopicSettings | null): Promise<void> {
  const { status, signal } = following;
  const { halted, source } = status.standing;
  if (kafka === null || halted === null || signal.aborted) return;
  if (source?.isTopic !== true || source.name !== `topic ${kafka.topic}`) return;
  await retry(RETRY_OPENING, () => watchOnce(following, kafka), { signal });
}

async function watchOnce({ writer, status, signal, onLog }: Following, kafka: TopicSettings): Promise<void> {
  const name = `topic ${kafka.topic}`;
  const spec: TopicSpec = { ...topicSpec(kafka, writer), kind: 'watch' };
  await using feed = startFeedThread(spec, { migrationId: writer.sourceMigrationId, onLog, onStatus: tell });
  function tell(): void {
    // Until this one has heard something, what the feed heard before the halt is the newest.
    const isFirst = status.standing.source?.feed === null;
    const hasHeard = (feed.status?.partitions.length ?? 0) > 0;
    if (!signal.aborted && (isFirst || hasHeard)) status.note({ source: { name, isTopic: true, feed } });
    status.report();
  }
  while (!signal.aborted) await feed.next(WAIT_MS);
}

function topicSpec({ brokers, ssl, sasl, group, ...rest }: TopicSettings, writer: ViewsWriter): TopicSpec {
  const connection = { brokers, ssl, sasl };
  const stored = writer.topicPosition;
  return {
    kind: 'topic',
    topic: { ...rest, connection, group: group ?? `holdfast-${writer.directoryId}`, stored },
  };
}
