import { setImmediate as turn } from 'node:timers/promises';
import { transferList } from '../chunk/chunk.ts';
import type { Source, SourceStart } from '../feed/source.ts';
import { sourceKind } from '../sources.ts';
import { loggerThatSays } from '../threads/log-line.ts';
import { type ServedThread, serveThread } from '../threads/serve-thread.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import type { DecodedChunk, FeedContract } from './feed-thread.ts';
import { STATUS_INTERVAL_MS } from './status.ts';

/** Loads what its kind needs, in this thread. */
async function openSource({ data: { source, watch, context }, say }: ServedThread<FeedContract>): Promise<Source> {
  const kind = await sourceKind(source.kind);
  const opening = { ...context, logger: loggerThatSays((line) => say('log', line)) };
  if (watch && kind.watch !== undefined) return kind.watch(source.settings, opening);
  return kind.open(source.settings, opening);
}

/** The feed thread: bytes -> decoded chunks, each when it is requested. */
await serveThread<FeedContract>(async (thread) => {
  const source = await openSource(thread);
  const buffers = new RawBuffers();
  const chunks = decodeChunks(source, { migrationId: thread.data.context.migrationId, signal: thread.stop, buffers });
  let sent: { readonly names: readonly string[]; readonly count: number } = { names: [], count: 0 };
  let last: Promise<unknown> = Promise.resolve();
  const telemetryTimer = setInterval(sayTelemetry, STATUS_INTERVAL_MS);

  function sayTelemetry(): void {
    const telemetry = source.telemetry?.();
    if (telemetry !== undefined) thread.say('telemetry', telemetry);
  }

  async function nextChunk(
    move: (buffers: readonly ArrayBuffer[]) => void,
  ): Promise<DecodedChunk | SourceStart | null> {
    const { done, value: chunk } = await chunks.next();
    if (done === true) return null;
    if ('identity' in chunk) return chunk;
    const namesFrom = chunk.names === sent.names ? sent.count : 0;
    const names = chunk.names.slice(namesFrom);
    sent = { names: chunk.names, count: chunk.names.length };
    move(transferList(chunk));
    return { chunk: { ...chunk, names }, namesFrom, progress: source.progress() };
  }

  return {
    next(spare, move) {
      if (spare !== null) buffers.giveBack(spare);
      const next = last.then(() => nextChunk(move));
      // Lets this chunk be sent before the next one is begun.
      last = next.then(() => turn());
      last.catch(() => {});
      return next;
    },
    stored: (cursors) => source.stored?.(cursors),
    async [Symbol.asyncDispose]() {
      await chunks.return(undefined);
      clearInterval(telemetryTimer);
      sayTelemetry();
    },
  };
});
