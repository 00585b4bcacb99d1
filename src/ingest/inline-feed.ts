import type { Source } from '../feed/source.ts';
import { decodeChunks } from './decode-chunks.ts';
import type { Feed } from './feed-thread.ts';

/** A feed that decodes in the caller's own thread, one chunk at a time. */
export function openInlineFeed(source: Source, { migrationId }: { migrationId: number }): Feed {
  const abort = new AbortController();
  const chunks = decodeChunks(source, { migrationId, signal: abort.signal });
  return {
    ready: true,
    get progress() {
      return source.progress();
    },
    async next() {
      const { value, done } = await chunks.next();
      return done === true ? 'end' : value;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await chunks.return(undefined);
    },
  };
}
