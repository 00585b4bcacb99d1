import type { Chunk } from '../../../src/chunk/chunk.ts';
import type { Source, SourceStart } from '../../../src/feed/source.ts';
import type { Feed } from '../../../src/ingest/feed-thread.ts';
import { RawBuffers } from '../../../src/ingest/message-batches.ts';
import { decodedChunks } from './decoded-chunks.ts';

/** A feed that decodes in the caller's own thread, one chunk at a time. */
export function openInlineFeed(source: Source, { migrationId }: { migrationId: number }): Feed {
  const abort = new AbortController();
  const buffers = new RawBuffers();
  const chunks = decodedChunks(source, { migrationId, signal: abort.signal, buffers });
  let coming: Promise<IteratorResult<Chunk | SourceStart>> | null = null;
  return {
    /** False only while a chunk is awaited; otherwise the next one may be there. */
    get ready() {
      return coming === null;
    },
    get telemetry() {
      return source.telemetry?.() ?? null;
    },
    get progress() {
      return source.progress();
    },
    async next(waitMs) {
      coming ??= chunks.next();
      const result = await withTimeout(coming, waitMs);
      if (result === 'late') return 'idle';
      coming = null;
      return result.done === true ? 'end' : result.value;
    },
    stored: (cursors, furthest) => source.stored?.(cursors, furthest),
    applied({ raw }) {
      buffers.giveBack(raw.buffer);
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await coming?.catch(() => {});
      await chunks.return(undefined);
    },
  };
}

/** Waits for the promise, but no longer than the time: then `late`. */
function withTimeout<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs, 'late');
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
