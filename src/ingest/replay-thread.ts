import { Worker } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';
import { threadFile } from '../thread-file.ts';
import type { Counts } from '../views/write/counts.ts';
import { type FeedProgress, THREAD_OPTIONS } from './feed-thread.ts';
import type { ReplayOptions, ReplayResult } from './replay.ts';

export interface ReplayProgress {
  readonly file: string;
  readonly bytes: FeedProgress;
  readonly counts: Counts;
}

/** What of a replay can cross threads. */
export type ReplayThreadOptions = Omit<ReplayOptions, 'signal' | 'now' | 'openFeed' | 'onProgress'>;

export type ReplayReply =
  | { readonly type: 'progress'; readonly progress: ReplayProgress }
  | { readonly type: 'done'; readonly result: ReplayResult }
  | { readonly type: 'refused'; readonly message: string };

/** `replayFiles` in a thread of its own, whose memory is bounded and which leaves the caller's thread to the terminal. */
export function replayInThread(
  options: ReplayThreadOptions,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ReplayProgress) => void },
): Promise<ReplayResult> {
  const worker = new Worker(threadFile('replay-worker', import.meta.url), {
    name: 'writer',
    workerData: options,
    ...THREAD_OPTIONS,
  });
  const stop = (): void => worker.postMessage('stop');
  return new Promise<ReplayResult>((resolve, reject) => {
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    worker.on('message', (reply: ReplayReply) => {
      if (reply.type === 'progress') onProgress(reply.progress);
      else if (reply.type === 'done') resolve(reply.result);
      else reject(new Refusal(reply.message));
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the replay thread ended by itself')));
  }).finally(() => signal.removeEventListener('abort', stop));
}
