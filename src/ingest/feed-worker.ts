import { setImmediate as turn } from 'node:timers/promises';
import { sourceKind } from '../sources.ts';
import { type Move, serveThread } from '../threads/serve-thread.ts';
import { DecodePool, messageBatches } from './decode-pool.ts';
import type { FeedContract, Next } from './feed-thread.ts';

const TELEMETRY_INTERVAL_MS = 200;

/** The feed thread: reads messages, decodes them or has them decoded, and answers each request with the next batch. */
await serveThread<FeedContract>(async (thread) => {
  const { source: spec, decodeWorkers, context } = thread.data;
  const kind = await sourceKind(spec.kind);
  const source = await kind.open(spec.settings, { ...context, logger: thread.logger });
  const pool = new DecodePool({ migrationId: context.migrationId, workers: decodeWorkers });
  const batches = messageBatches(source, thread.stop);
  let last: Promise<unknown> = Promise.resolve();
  const telemetryTimer = setInterval(reportTelemetry, TELEMETRY_INTERVAL_MS);

  function reportTelemetry(): void {
    const telemetry = source.telemetry?.();
    if (telemetry !== undefined) thread.notify('telemetry', telemetry);
  }

  async function answer(coming: ReturnType<typeof batches.next>, move: Move): Promise<Next> {
    const { done, value: batch } = await coming;
    if (done === true) return null;
    if ('identity' in batch) return batch;
    const progress = source.progress();
    return { ...(await pool.decode(batch, move)), progress };
  }

  return {
    next(spare, move) {
      if (spare !== null) pool.giveBack(spare);
      const coming = last.then(() => batches.next());
      // Lets this batch be sent before the next one is read.
      last = coming.then(() => turn());
      last.catch(() => {});
      return answer(coming, move);
    },
    stored: ({ resumeTokens, furthest }) => source.stored?.(resumeTokens, furthest),
    async [Symbol.asyncDispose]() {
      await batches.return(undefined);
      await pool[Symbol.asyncDispose]();
      clearInterval(telemetryTimer);
      reportTelemetry();
    },
  };
});
