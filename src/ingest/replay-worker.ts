import { serveThread } from '../threads/serve-thread.ts';
import { type ReplayContract, replayFiles } from './replay-files.ts';

await serveThread<ReplayContract>(({ data: options, stop, notify }) => ({
  replay: () =>
    replayFiles({
      ...options,
      signal: stop,
      now: () => Date.now() * 1000,
      onProgress: (progress) => notify('progress', progress),
    }),
}));
