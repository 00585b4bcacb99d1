import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { DecodedBatch } from '../feed/decoded-batch.ts';
import { BrokenContainer, FeedRefused, type NamedSource } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { DeadLetter } from '../views/store/dead-letter-store.ts';
import { furthestOf } from '../views/write/source-start.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import type { Feed } from './feed-thread.ts';

/** Events of one transaction during a replay: larger ones cost memory, 1.5 KB an event; smaller ones time. */
const BATCH_EVENTS_MAX = 50_000;
/** Messages of one transaction where few concern coins: they stay in memory until the commit. */
const BATCH_MESSAGES_MAX = 50_000;
/** At the end of a feed, where no more come, new messages are committed after about this long. */
const COMMIT_IDLE_MS = 250;
/** Where more come, but more slowly than they are applied: a transaction writes whole pages, so fewer and larger ones write less. */
const COMMIT_WAITING_MS = 1_000;
/** The same where what comes is older than `OLD_US`: nobody waits for it. */
const COMMIT_OLD_MS = 5_000;
const OLD_US = 600_000_000;
/** How long to wait for the feed before the signal and the clock are checked again. */
export const FEED_WAIT_MS = 100;

export interface LoopOptions {
  readonly source: NamedSource;
  readonly signal: AbortSignal;
  /** `wait`: a halt that is only ahead of the clock ends by itself; `stop`: it halts like any other. */
  readonly onAhead: 'wait' | 'stop';
  readonly batchEventsMax?: number;
  /** Runs a step that writes to the disk; may retry it. */
  readonly persist: <T>(step: () => T) => Promise<T>;
  /** Called after each commit. */
  readonly onCommit: (feed: Feed) => void;
  /** Called with the dead letter when a halt begins, and with null when one has ended by itself. */
  readonly onHalt: (halted: DeadLetter | null) => void;
}

/** Feed -> views until the source ends or the signal aborts (null), or a message halts it (its dead letter). */
export async function runLoop(writer: ViewsWriter, feed: Feed, options: LoopOptions): Promise<DeadLetter | null> {
  const { signal, source, persist } = options;
  const batchEventsMax = options.batchEventsMax ?? BATCH_EVENTS_MAX;
  // By performance.now(): a clock that is set must not delay a commit.
  let openSince = 0;
  let openMessages = 0;
  const commit = async (): Promise<void> => {
    await persist(() => writer.commit());
    if (source.kind.resumes) feed.stored(storedTokens(writer), furthestOf(writer.state));
    options.onCommit(feed);
  };
  await persist(() => writer.beginSource(source));
  try {
    while (!signal.aborted) {
      const next = await feed.next(FEED_WAIT_MS);
      if (next === 'end') break;
      if (typeof next === 'object' && 'identity' in next) {
        await persist(() => writer.followSource(next));
        await commit();
      } else if (next !== 'idle') {
        if (!writer.hasPending) {
          openSince = performance.now();
          openMessages = 0;
        }
        openMessages += next.length;
        const halted = await applyBatch(writer, next, { ...options, feed });
        if (halted !== null) return halted;
        feed.applied(next);
        // Where its last message was bad, the writer has stored all of it already.
        if (source.kind.resumes && !writer.hasPending) feed.stored(storedTokens(writer), furthestOf(writer.state));
        // Stops and forced snapshots arrive as messages, which are not handled while batches come without a pause.
        await turn();
      }
      const late = !feed.ready && performance.now() - openSince >= waitMs(writer, next === 'idle');
      const full = writer.pendingEvents >= batchEventsMax || openMessages >= BATCH_MESSAGES_MAX;
      if (writer.hasPending && (late || full)) await commit();
    }
  } catch (error) {
    // What came before it is good.
    if (error instanceof FeedRefused || error instanceof Refusal) await commit();
    if (!(error instanceof BrokenContainer)) throw error;
    const halted = await persist(() => writer.halt(error));
    options.onHalt(halted);
    return halted;
  }
  await commit();
  return null;
}

/** How long the first message of an open transaction may wait for its commit. */
function waitMs({ state, options }: ViewsWriter, idle: boolean): number {
  if (idle) return COMMIT_IDLE_MS;
  const reached = furthestOf(state)?.recordTime ?? 0;
  return reached < options.now() - OLD_US ? COMMIT_OLD_MS : COMMIT_WAITING_MS;
}

function storedTokens(writer: ViewsWriter): Map<string, string> {
  return new Map([...writer.storedSource.lanes].map(([lane, { resumeToken }]) => [lane, resumeToken]));
}

/** Null where the batch is applied, or the signal aborted within a long gap. */
async function applyBatch(
  writer: ViewsWriter,
  batch: DecodedBatch,
  options: LoopOptions & { readonly feed: Feed },
): Promise<DeadLetter | null> {
  for (;;) {
    const applied = await options.persist(() => writer.apply(batch));
    if (applied.done) return null;
    if (applied.halted === null) {
      options.onCommit(options.feed);
      await turn();
      if (options.signal.aborted) return null;
      continue;
    }
    options.onHalt(applied.halted);
    if (applied.halted.kind !== 'ahead' || options.onAhead === 'stop') return applied.halted;
    if ((await awaitClock(writer, applied.halted, options)) !== null) return applied.halted;
  }
}

/**
 * Waits until the clock has come near a time that was ahead of it, and ends that halt (docs/rules.md, rule 6). Null then; the
 * dead letter where the signal aborts first.
 */
export async function awaitClock(
  writer: ViewsWriter,
  deadLetter: DeadLetter,
  { signal, persist, onHalt }: Pick<LoopOptions, 'signal' | 'persist' | 'onHalt'>,
): Promise<DeadLetter | null> {
  while (!isDue(writer, deadLetter)) {
    if (signal.aborted) return deadLetter;
    await sleep(FEED_WAIT_MS);
  }
  await persist(() => writer.resolve(deadLetter, 'resolved', { moveOn: false }));
  onHalt(null);
  return null;
}

/** Whether the clock has come near enough to a time that was ahead of it (docs/rules.md, rule 6). */
function isDue({ options: { now, recordTimeAheadMaxUs } }: ViewsWriter, { kind, recordTime }: DeadLetter): boolean {
  return kind === 'ahead' && (recordTime ?? 0) <= now() + recordTimeAheadMaxUs;
}

/** A halt survives restarts, except for one that only waits for the clock (docs/rules.md, rule 6). */
export function stillHalted(writer: ViewsWriter): DeadLetter | null {
  const halted = writer.deadLetters.halted();
  if (halted === null || !isDue(writer, halted)) return halted;
  writer.resolve(halted, 'resolved', { moveOn: false });
  return null;
}
