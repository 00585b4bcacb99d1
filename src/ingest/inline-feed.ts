import type { Chunk } from '../chunk/chunk.ts';
import type { Source } from '../feed/source.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import type { Feed } from './feed-thread.ts';
import { within } from './within.ts';

/** A feed that decodes in the caller's own thread, one chunk at a time. */
export function openInlineFeed(source: Source, { migrationId }: { migrationId: number }): Feed {
  const abort = new AbortController();
  const buffers = new RawBuffers();
  const chunks = decodeChunks(source, { migrationId, signal: abort.signal, buffers });
  let coming: Promise<IteratorResult<Chunk>> | null = null;
  return {
    /** False only while a chunk is awaited; otherwise the next one may be there. */
    get ready() {
      return coming === null;
    },
    get start() {
      return source.start?.() ?? null;
    },
    get heard() {
      return source.heard?.() ?? null;
    },
    get progress() {
      return source.progress();
    },
    async next(waitMs) {
      coming ??= chunks.next();
      const result = await within(coming, waitMs);
      if (result === 'late') return 'idle';
      coming = null;
      return result.done === true ? 'end' : result.value;
    },
    stored: (cursors) => source.stored?.(cursors),
    applied({ raw }, { reusable }) {
      if (reusable) buffers.giveBack(raw.buffer);
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await coming?.catch(() => {});
      await chunks.return(undefined);
    },
  };
}
