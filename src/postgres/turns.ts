import type { Asker } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/fault.ts';

/** Statements that run, and those that wait for a connection. */
export interface PoolLoad {
  readonly busy: number;
  readonly waiting: number;
}

export interface Turns {
  /** Resolves when the asker may use a connection; the function that it gives ends that. Rejects with `not_begun`. */
  take(asker: Asker): Promise<() => void>;
  load(): PoolLoad;
}

/** As for the reader threads of a data directory: more would reach their time limit before they begin. */
const WAIT_MS_MAX = 10_000;
const WAITING_MAX = 256;
const WAITING_PER_CLIENT_MAX = 128;

interface Waiting {
  readonly client: string;
  readonly begin: () => void;
}

/** Who may use a connection next. No client has all of them, so that none can delay the others. */
export function createTurns({ places }: { places: number }): Turns {
  const placesPerClient = places - 1;
  /** The clients that have a connection, once for each. */
  const busy: string[] = [];
  const waiting: Waiting[] = [];
  const placesOf = (client: string): number => busy.filter((each) => each === client).length;

  /** Of those that wait, the first of a client with the fewest connections. */
  function beginNext(): void {
    if (busy.length >= places || waiting.length === 0) return;
    const fewest = Math.min(...waiting.map(({ client }) => placesOf(client)));
    if (fewest >= placesPerClient) return;
    const at = waiting.findIndex(({ client }) => placesOf(client) === fewest);
    waiting.splice(at, 1)[0]!.begin();
  }

  function begin(client: string): () => void {
    busy.push(client);
    return () => {
      busy.splice(busy.indexOf(client), 1);
      beginNext();
    };
  }

  return {
    load: () => ({ busy: busy.length, waiting: waiting.length }),
    async take({ client, signal }) {
      if (signal?.aborted === true) throw new HoldingsFault('not_begun', 'the client has gone');
      if (waiting.length === 0 && busy.length < places && placesOf(client) < placesPerClient) return begin(client);
      const own = waiting.filter((each) => each.client === client).length;
      if (own >= WAITING_PER_CLIENT_MAX || waiting.length >= WAITING_MAX)
        throw new HoldingsFault('not_begun', 'too many reads are waiting; try again later');
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const entry: Waiting = { client, begin: () => resolve(begin(client)) };
      const stopWaiting = (why: string): void => {
        const at = waiting.indexOf(entry);
        if (at < 0) return;
        waiting.splice(at, 1);
        reject(new HoldingsFault('not_begun', why));
      };
      const leave = (): void => stopWaiting('the client has gone');
      const late = 'other reads took too long for this one to begin; try again later';
      const deadline = setTimeout(() => stopWaiting(late), WAIT_MS_MAX);
      signal?.addEventListener('abort', leave);
      waiting.push(entry);
      beginNext();
      try {
        return await promise;
      } finally {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', leave);
      }
    },
  };
}
