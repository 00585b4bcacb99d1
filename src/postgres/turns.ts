import type { Asker } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { WaitingReads } from '../holdings/reading/waiting-reads.ts';

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

/** Who may use a connection next. No client has all of them, so that none can delay the others. */
export function createTurns({ places }: { places: number }): Turns {
  /** The clients that have a connection, once for each. */
  const busy: string[] = [];
  const waiting = new WaitingReads();
  const placesOf = (client: string): number => busy.filter((each) => each === client).length;

  function beginNext(): void {
    if (busy.length < places) busy.push(...(waiting.take(placesOf, places - 1)?.clients ?? []));
  }

  return {
    load: () => ({ busy: busy.length, waiting: waiting.length }),
    async take(asker) {
      const { client, signal } = asker;
      if (signal?.aborted === true) throw new HoldingsFault('not_begun', 'the client has gone');
      await waiting.wait({ clients: new Set([client]) }, asker, beginNext);
      return () => {
        busy.splice(busy.indexOf(client), 1);
        beginNext();
      };
    },
  };
}
