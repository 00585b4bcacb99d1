import type { Asker } from '../answer.ts';
import { HoldingsFault } from '../holdings-fault.ts';

/** How long a read may wait to begin, and how many may wait; more would reach their time limit before they begin. */
const WAIT_MS_MAX = 10_000;
const WAITING_MAX = 256;
const WAITING_PER_CLIENT_MAX = 128;

interface Waiting<Read> {
  readonly read: Read;
  readonly begin: () => void;
  readonly stop: (why: string) => void;
}

/** Reads that wait to begin, and which of them is next, so that no client delays the others. */
export class WaitingReads<Read extends { readonly clients: ReadonlySet<string> }> {
  #waiting: readonly Waiting<Read>[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  find(isWanted: (read: Read) => boolean): Read | undefined {
    return this.#waiting.find(({ read }) => isWanted(read))?.read;
  }

  /** Resolves once the read was taken; `onWaiting` is called while it may be. Rejects with `not_begun`. */
  async wait(read: Read, { client, signal }: Asker, onWaiting: () => void): Promise<void> {
    const own = this.#waiting.filter((each) => each.read.clients.has(client)).length;
    if (own >= WAITING_PER_CLIENT_MAX || this.#waiting.length >= WAITING_MAX)
      throw new HoldingsFault('not_begun', 'too many reads are waiting; try again later');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (why: string): void => {
      this.#remove(read);
      reject(new HoldingsFault('not_begun', why));
    };
    const leave = (): void => stop('the client went away');
    const late = 'other reads took too long for this one to begin; try again later';
    const deadline = setTimeout(() => stop(late), WAIT_MS_MAX);
    signal?.addEventListener('abort', leave);
    this.#waiting = [...this.#waiting, { read, begin: resolve, stop }];
    try {
      onWaiting();
      await promise;
    } finally {
      clearTimeout(deadline);
      // The same signal is that of all pages of a long answer, and a listener would keep each of them in memory.
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Of the reads, the first of a client with the fewest places, and fewer than it may have; it no longer waits. */
  take(placesOf: (client: string) => number, perClientMax: number): Read | undefined {
    let next: { readonly entry: Waiting<Read>; readonly places: number } | null = null;
    for (const entry of this.#waiting) {
      const places = Math.min(...[...entry.read.clients].map(placesOf));
      if (places < Math.min(perClientMax, next?.places ?? Infinity)) next = { entry, places };
    }
    if (next === null) return undefined;
    this.#remove(next.entry.read);
    next.entry.begin();
    return next.entry.read;
  }

  stopAll(why: string): void {
    for (const { stop } of this.#waiting) stop(why);
  }

  #remove(read: Read): void {
    this.#waiting = this.#waiting.filter((each) => each.read !== read);
  }
}
