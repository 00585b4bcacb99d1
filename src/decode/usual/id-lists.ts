import { BRACKET, BRACKET_END, COMMA, QUOTE, spaceEnd, stringEnd } from './json-bytes.ts';

export const LISTED_MAX = 1024;

/** Where the event ids of a message's lists lie: of its roots and of the children of each exercise. A list is a range of them. */
export class IdLists {
  readonly #spans = new Int32Array(LISTED_MAX * 2);
  size = 0;

  start(listed: number): number {
    return this.#spans[listed * 2]!;
  }

  end(listed: number): number {
    return this.#spans[listed * 2 + 1]!;
  }

  /** Reads a list of strings: the position behind it, or -1. Its range goes to `ranges` at `at`. */
  read(b: Uint8Array, start: number, ranges: Int32Array, at: number): number {
    ranges[at] = this.size;
    if (b[start] !== BRACKET) return -1;
    let p = spaceEnd(b, start + 1);
    while (b[p] !== BRACKET_END) {
      if (b[p] !== QUOTE || this.size === LISTED_MAX) return -1;
      const end = stringEnd(b, p + 1);
      if (end < 0) return -1;
      this.#spans[this.size * 2] = p + 1;
      this.#spans[this.size * 2 + 1] = end;
      this.size += 1;
      p = spaceEnd(b, end + 1);
      if (b[p] === BRACKET_END) break;
      if (b[p] !== COMMA) return -1;
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE) return -1;
    }
    ranges[at + 1] = this.size;
    return p + 1;
  }
}
