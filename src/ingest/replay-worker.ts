import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';
import { replayFiles } from './replay.ts';
import type { ReplayReply, ReplayThreadOptions } from './replay-thread.ts';

const port = parentPort!;
const post = (reply: ReplayReply): void => port.postMessage(reply);
const stop = new AbortController();
port.once('message', () => stop.abort());

try {
  const result = await replayFiles({
    ...(workerData as ReplayThreadOptions),
    signal: stop.signal,
    now: () => Date.now() * 1000,
    onProgress: ({ file, feed, counts }) =>
      post({ type: 'progress', progress: { file, bytes: feed.progress, counts } }),
  });
  post({ type: 'done', result });
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  post({ type: 'refused', message: error.message });
} finally {
  port.close();
}
