import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

export interface CutTask {
  readonly address: string;
  readonly topic: string;
  readonly offset: number;
  readonly ready: Int32Array;
  readonly asked: Int32Array;
  readonly done: Int32Array;
}

/** Removes messages of a topic of one partition before an offset, for callers that cannot await. */
export interface Cutter extends AsyncDisposable {
  /** Returns when it is done. */
  cut(): void;
}

export async function startCutter(place: { address: string; topic: string; offset: number }): Promise<Cutter> {
  const flag = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));
  const task: CutTask = { ...place, ready: flag(), asked: flag(), done: flag() };
  const worker = new Worker(join(import.meta.dirname, 'cut.ts'), { workerData: task });
  const ended = once(worker, 'exit');
  await Atomics.waitAsync(task.ready, 0, 0).value;
  const ask = (): void => {
    Atomics.store(task.asked, 0, 1);
    Atomics.notify(task.asked, 0);
  };
  return {
    cut() {
      ask();
      Atomics.wait(task.done, 0, 0);
    },
    async [Symbol.asyncDispose]() {
      ask();
      await ended;
    },
  };
}
