/** What was written of a network before, and is continued. */
export interface Written {
  /** Its last lines; of a topic those of each partition. Empty where there is nothing. */
  readonly ends: readonly (readonly Uint8Array[])[];
  /** How messages name it: `--output feed.ndjson`. */
  readonly name: string;
  /** What to do where it cannot be continued: `name another file`. */
  readonly otherwise: string;
}

/** What a network has behind what was written of it. */
export interface NetworkLines {
  /** What was written is half a seed, which is of no use: what follows may be of another snapshot. */
  readonly isHalfSeed: boolean;
  /**
   * `begins` once it is known that these lines continue what was written, and `anew` where a seed begins; then messages. Those of a
   * batch count as written when the next one is asked for. Throws Refusal.
   */
  read(): AsyncGenerator<'begins' | 'anew' | readonly Uint8Array[]>;
  /** How far the last message was behind our clock; 0 at the end, null where that is not known. */
  lagSeconds(): number | null;
}
