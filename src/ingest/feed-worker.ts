import { setImmediate as turn } from 'node:timers/promises';
import { decodeBatch } from '../feed/decoded-batch.ts';
import type { Message } from '../feed/source.ts';
import { sourceKind } from '../sources.ts';
import { type Move, serveThread } from '../threads/serve-thread.ts';
import { DecodeThreads, decodeWorkersDefault, timed } from './decode-threads.ts';
import type { FeedContract, Next, TimedBatch } from './feed-thread.ts';
import { messageBatches, RawBuffers, sendable } from './message-batches.ts';
import { STATUS_INTERVAL_MS } from './status.ts';

/** A small feed is decoded in this thread alone: it would have ended before another had started. */
const ALONE_BYTES = 1024 * 1024;

/** The feed thread: reads messages, decodes them or has them decoded, and answers each request with the next batch. */
await serveThread<FeedContract>(async (thread) => {
  const { source: spec, watch, decodeWorkers, context } = thread.data;
  const { migrationId } = context;
  const kind = await sourceKind(spec.kind);
  const opening = { ...context, logger: thread.logger };
  const source = await (watch ? kind.watch!(spec.settings, opening) : kind.open(spec.settings, opening));
  // This thread decodes too, whatever the others have no room for.
  const decoders = new DecodeThreads((decodeWorkers ?? decodeWorkersDefault()) - 1, { migrationId });
  const buffers = new RawBuffers();
  const batches = messageBatches(source, thread.stop);
  let last: Promise<unknown> = Promise.resolve();
  let decodedBytes = 0;
  const telemetryTimer = setInterval(reportTelemetry, STATUS_INTERVAL_MS);

  function reportTelemetry(): void {
    const telemetry = source.telemetry?.();
    if (telemetry !== undefined) thread.notify('telemetry', telemetry);
  }

  async function decoded(batch: readonly Message[], move: Move): Promise<TimedBatch> {
    const progress = source.progress();
    // A source that had to decode messages, to order them or to know its location in them, did so in this thread.
    if (decodedBytes < ALONE_BYTES || !decoders.hasRoom || batch.some((message) => message.decoded !== undefined)) {
      decodedBytes += batch.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
      return { ...timed(() => decodeBatch(batch, buffers.take(), migrationId), move), progress };
    }
    const sent = await decoders.decode(sendable(batch, buffers.take()));
    move([sent.batch.raw.buffer as ArrayBuffer, sent.batch.items.buffer as ArrayBuffer]);
    return { ...sent, progress };
  }

  async function answer(coming: ReturnType<typeof batches.next>, move: Move): Promise<Next> {
    const { done, value: batch } = await coming;
    if (done === true) return null;
    return 'identity' in batch ? batch : await decoded(batch, move);
  }

  return {
    next(spare, move) {
      if (spare !== null) buffers.giveBack(spare);
      const coming = last.then(() => batches.next());
      // Lets this batch be sent before the next one is read.
      last = coming.then(() => turn());
      last.catch(() => {});
      return answer(coming, move);
    },
    stored: ({ cursors, furthest }) => source.stored?.(cursors, furthest),
    async [Symbol.asyncDispose]() {
      await batches.return(undefined);
      await decoders[Symbol.asyncDispose]();
      clearInterval(telemetryTimer);
      reportTelemetry();
    },
  };
});
