import type { HoldfastError, StreamOptions } from '../../../client/src/index.ts';

/** Keeps all that a stream of a client gives, and what became of its connections: null where one is there. */
export function collect<Item>(follow: (options: StreamOptions) => AsyncIterable<Item>) {
  const stop = new AbortController();
  const items: Item[] = [];
  const connections: (HoldfastError | null)[] = [];
  const onConnection = (lost: HoldfastError | null): void => void connections.push(lost);
  const ended = (async () => {
    for await (const item of follow({ signal: stop.signal, onConnection })) items.push(item);
  })();
  // A test that expects a failure awaits it.
  ended.catch(() => {});
  const dispose = async (): Promise<void> => {
    stop.abort();
    await ended.catch(() => {});
  };
  return { items, connections, ended, stop, [Symbol.asyncDispose]: dispose };
}
