import { isLoaded, load } from './json-index.ts';
import { type PartialTransaction, parseAt } from './transaction.ts';

/** How much of a text of many messages is copied at once: some dozens of the usual ones. */
const WINDOW_BYTES = 2 ** 18;

interface Read {
  readonly transaction: PartialTransaction;
  readonly end: number;
}

/**
 * Parses transactions of a text that has many, which must be UTF-8, as `parsePartially` does each of them; the position is where
 * one begins, and `end` where it ends. Null for what must be parsed in full to be understood, and for what is no transaction.
 */
export function partialReader(text: Uint8Array): (at: number) => Read | null {
  let from = 0;
  let window = text.subarray(0, 0);

  function readAgain(at: number): Read | null {
    from = at;
    window = text.subarray(at, at + WINDOW_BYTES);
    load(window);
    return parseAt(0);
  }

  return (at) => {
    const isWithin = isLoaded(window) && at > from && at < from + window.length;
    // It may end behind the window.
    const read = (isWithin ? parseAt(at - from) : null) ?? readAgain(at);
    return read && { ...read, end: from + read.end };
  };
}
