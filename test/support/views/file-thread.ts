import { type Feed, startFeedThread } from '../../../src/ingest/feed-thread.ts';
import { fileSpec } from '../../../src/sources.ts';

/** A file that a thread of its own reads and decodes. */
export function startFileThread(path: string): Feed {
  const stored = { identity: null, lanes: new Map() };
  return startFeedThread({
    source: fileSpec(path),
    watch: false,
    context: { stored, directoryId: 'any', migrationId: 0 },
  });
}
