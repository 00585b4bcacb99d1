import type { Source, StoredSource } from '../feed/source.ts';

const END_WATCH_MS = 100;

/** The batches of a network until `stop`; also until its end, where it is not followed. */
export async function* batchesOf(
  source: Source<{ readonly caughtUpAt: number | null }>,
  { follow, stop }: { readonly follow: boolean; readonly stop: AbortSignal },
): ReturnType<Source['batches']> {
  const atEnd = new AbortController();
  // At the end nothing comes any more that could be looked at.
  const watch = setInterval(() => {
    if (!follow && source.telemetry?.().caughtUpAt !== null) atEnd.abort();
  }, END_WATCH_MS);
  try {
    yield* source.batches(AbortSignal.any([stop, atEnd.signal]));
  } finally {
    clearInterval(watch);
  }
}

/** As if that were what a directory has. */
export function storedUpTo(lane: string, cursor: string | null): StoredSource {
  return { identity: null, lanes: new Map(cursor === null ? [] : [[lane, { start: cursor, cursor, sha256: null }]]) };
}
