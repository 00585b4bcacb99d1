import type { Source } from '../feed/source.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import type { Feed } from './feed-thread.ts';

/** A feed that decodes in the caller's own thread, one chunk at a time. */
export function openInlineFeed(source: Source, { migrationId }: { migrationId: number }): Feed {
  const abort = new AbortController();
  const buffers = new RawBuffers();
  const chunks = decodeChunks(source, { migrationId, signal: abort.signal, buffers });
  return {
    ready: true,
    identity: null,
    status: null,
    stored: () => {},
    get progress() {
      return source.progress();
    },
    async next() {
      const { value, done } = await chunks.next();
      return done === true ? 'end' : value;
    },
    applied({ raw }, { reusable }) {
      if (reusable) buffers.giveBack(raw.buffer);
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await chunks.return(undefined);
    },
  };
}
