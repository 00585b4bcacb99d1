import { serveThread } from '../threads/serve-thread.ts';
import { replayFiles } from './replay.ts';
import type { ReplayContract } from './replay-thread.ts';

await serveThread<ReplayContract>(({ data: options, stop, say }) => ({
  replay: () =>
    replayFiles({
      ...options,
      signal: stop,
      now: () => Date.now() * 1000,
      onProgress: ({ file, feed, counts }) => say('progress', { file, bytes: feed.progress, counts }),
    }),
}));
