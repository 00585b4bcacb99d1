import { setImmediate as turn } from 'node:timers/promises';
import { transferList } from '../chunk/chunk.ts';
import type { Source, SourceStart } from '../feed/source.ts';
import { sourceKind } from '../sources.ts';
import { loggerThatSays } from '../threads/log-line.ts';
import { type ServedThread, serveThread } from '../threads/serve-thread.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import type { DecodedChunk, FeedContract } from './feed-thread.ts';

/** How often a source without an end reports to the writer's thread. */
const STATUS_INTERVAL_MS = 200;

/** Loads what its kind needs, in this thread. */
async function openSource({ data: { source, watch, context }, say }: ServedThread<FeedContract>): Promise<Source> {
  const kind = await sourceKind(source.kind);
  const open = watch && kind.watch !== null ? kind.watch : kind.open;
  return open(source.settings, { ...context, logger: loggerThatSays((line) => say('log', line)) });
}

/** The feed thread: bytes -> decoded chunks, each when it is requested. */
await serveThread<FeedContract>(async (thread) => {
  const source = await openSource(thread);
  const buffers = new RawBuffers();
  const chunks = decodeChunks(source, { migrationId: thread.data.context.migrationId, signal: thread.stop, buffers });
  let sent: { readonly names: readonly string[]; readonly count: number } = { names: [], count: 0 };
  let last: Promise<unknown> = Promise.resolve();
  let startSaid: SourceStart | null = null;
  const statusTimer = setInterval(sayStatus, STATUS_INTERVAL_MS);

  function sayStart(): void {
    const start = source.start?.() ?? null;
    if (start === startSaid || start === null) return;
    thread.say('start', start);
    startSaid = start;
  }

  function sayStatus(): void {
    sayStart();
    const heard = source.heard?.();
    if (heard !== undefined) thread.say('heard', heard);
  }

  async function nextChunk(move: (buffers: readonly ArrayBuffer[]) => void): Promise<DecodedChunk | null> {
    const { done, value: chunk } = await chunks.next().finally(sayStart);
    if (done === true) return null;
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
      clearInterval(statusTimer);
      sayStatus();
    },
  };
});
