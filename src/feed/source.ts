/** The partition of every message of a file. */
export const FILE_PARTITION = -1;

/** One message as its source hands it over: a line, an element of an array or page, or a Kafka record. */
export interface Message {
  /** FILE_PARTITION for files. */
  readonly partition: number;
  /** Line number, element number (both from 1) or Kafka offset. */
  readonly offset: number;
  /** The message's bytes; null for a null value (a tombstone). The first 64 KiB where `overlong` is set. */
  readonly bytes: Uint8Array | null;
  /** Set where the message is longer than the limit: its whole length in bytes and the SHA-256 of all of it, in hex. */
  readonly overlong?: { readonly length: number; readonly sha256: string };
}

/** Where bytes come from. Nothing outside `feed/` knows whether it is a file or a Kafka topic. */
export interface Source {
  /** As messages show it: a file's name, `-` for standard input, `topic <name>`. */
  readonly name: string;
  /** Messages in feed order, in bounded batches; ends at the end of a file. Throws BrokenContainer. */
  batches(signal: AbortSignal): AsyncIterable<readonly Message[]>;
  /** Bytes read so far and in all (null where that is not known), for progress. */
  progress(): { readonly read: number; readonly total: number | null };
}

/** An array, page, gzip or zstd that cannot be read on: always halts (design.md section 7). */
export class BrokenContainer extends Error {
  /** Where it broke, such as `byte 1234`. */
  readonly place: string;

  constructor(place: string, reason: string) {
    super(reason);
    this.name = 'BrokenContainer';
    this.place = place;
  }
}
