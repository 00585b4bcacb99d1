import { type Feed, startFeedThread } from '../../../src/ingest/feed-thread.ts';
import { fileSpec } from '../../../src/sources.ts';

/** A file that a thread of its own reads and decodes. */
export function startFileThread(path: string, decodeWorkers: number | null = null): Feed {
  const stored = { identity: null, lanes: new Map() };
  return startFeedThread({
    source: fileSpec(path),
    decodeWorkers,
    context: { stored, reached: null, furthest: null, directoryId: 'any', migrationId: 0 },
  });
}
