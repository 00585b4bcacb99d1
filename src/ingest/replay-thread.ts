// Compiled in the main thread, and so for all threads of a replay (threads/shared-wasm.ts).
import '../decode/partial/json-index.ts';
import type { SourceProgress } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadContract } from '../threads/contract.ts';
import { startThread, threadFile, WRITING } from '../threads/thread.ts';
import type { Counts } from '../views/write/counts.ts';
import type { ReplayOptions, ReplayResult } from './replay.ts';

export interface ReplayProgress {
  readonly file: string;
  readonly bytes: SourceProgress;
  readonly counts: Counts;
}

/** The part of a replay's options that can be sent to a thread. */
export type ReplayThreadOptions = Omit<ReplayOptions, 'signal' | 'now' | 'openFeed' | 'onProgress'>;

export interface ReplayContract extends ThreadContract {
  readonly data: ReplayThreadOptions;
  readonly requests: { readonly replay: (nothing: null) => ReplayResult };
  readonly notices: { readonly progress: ReplayProgress };
}

/** `replayFiles` in a thread of its own, with bounded memory, so that the caller's thread is free for the terminal. */
export async function replayInThread(
  options: ReplayThreadOptions,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ReplayProgress) => void },
): Promise<ReplayResult> {
  await using thread = startThread<ReplayContract>(threadFile('replay-worker', import.meta.url), {
    name: 'writer',
    data: options,
    on: { progress: onProgress },
    errors: [Refusal],
    worker: WRITING,
  });
  if (signal.aborted) thread.stop();
  signal.addEventListener('abort', thread.stop, { once: true });
  try {
    return await thread.call('replay', null);
  } finally {
    signal.removeEventListener('abort', thread.stop);
  }
}
