import { serveThread } from '../threads/serve-thread.ts';
import { replayFiles } from './replay.ts';
import type { ReplayContract } from './replay-thread.ts';

await serveThread<ReplayContract>(({ data: options, stop, notify }) => ({
  replay: () =>
    replayFiles({
      ...options,
      signal: stop,
      now: () => Date.now() * 1000,
      onProgress: ({ file, feed, counts }) => notify('progress', { file, bytes: feed.progress, counts }),
    }),
}));
