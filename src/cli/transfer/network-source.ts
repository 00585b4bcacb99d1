import type { Logger } from 'pino';
import type { Source, StoredSource } from '../../feed/source.ts';

/** What was written of a network before, and is continued. */
export interface Written {
  /** Its last lines; of a topic those of each partition. Empty where there is nothing. */
  readonly ends: readonly (readonly Uint8Array[])[];
  /** How messages name it: `--output feed.ndjson`. */
  readonly name: string;
  /** What to do where it cannot be continued: `name another file`. */
  readonly otherwise: string;
}

export interface NetworkReading {
  /** Whether to go on at the end. */
  readonly follow: boolean;
  readonly stop: AbortSignal;
  readonly logger: Logger;
}

/** What a network has behind what was written of it. */
export interface NetworkLines {
  /** What was written is half a seed, which is of no use: what follows may be of another snapshot. */
  readonly isHalfSeed: boolean;
  /**
   * `begins` once it is known that these lines continue what was written, and `restarts` where a snapshot import begins; then
   * messages. Those of a batch count as written when the next one is asked for. Throws Refusal.
   */
  read(): AsyncGenerator<'begins' | 'restarts' | readonly Uint8Array[]>;
  /** How far the last message was behind our clock; 0 at the end, null where that is not known. */
  lagSeconds(): number | null;
}

const END_WATCH_MS = 100;

/** The batches of a network until `stop`; also until its end, where it is not followed. */
export async function* batchesOf(
  source: Source<{ readonly caughtUpAt: number | null }>,
  { follow, stop }: NetworkReading,
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
