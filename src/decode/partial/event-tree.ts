import { BRACKET, BRACKET_END, BYTES, COMMA, isSame, plainTextEnd, QUOTE, spaceEnd } from './indexed-json.ts';

/** Larger transactions are rare, and comparing each id with the others would cost more than to parse them in full. */
const EVENTS_MAX = 256;
const LISTED_MAX = 1024;

/** The events of one transaction, numbered as they are written, and the tree of their id lists; ids are compared as bytes. */
export class EventTree {
  size = 0;
  #listed = 0;
  /** Start and end of each event's id, of each id in a list, and of each event's children among those. */
  readonly #ids = new Int32Array(EVENTS_MAX * 2);
  readonly #listedIds = new Int32Array(LISTED_MAX * 2);
  readonly #children = new Int32Array(EVENTS_MAX * 2);
  readonly #isVisited = new Uint8Array(EVENTS_MAX);
  readonly #pending = new Int32Array(LISTED_MAX);
  /** The events depth first from the roots, children in order. */
  readonly order = new Int32Array(EVENTS_MAX);

  begin(): void {
    this.size = 0;
    this.#listed = 0;
  }

  id(event: number): string {
    return BYTES.toString('utf8', this.#ids[event * 2], this.#ids[event * 2 + 1]);
  }

  /** Adds an event, without children, by the position of its id. False for one too many, or with the id of another. */
  add(start: number, end: number): boolean {
    if (this.size === EVENTS_MAX) return false;
    for (let other = 0; other < this.size; other++) if (this.#isNamed(other, start, end)) return false;
    this.#ids[this.size * 2] = start;
    this.#ids[this.size * 2 + 1] = end;
    this.#children.fill(this.#listed, this.size * 2, this.size * 2 + 2);
    this.size += 1;
    return true;
  }

  /** Gives the event that was added last its children, a list of ids. */
  addChildren(start: number): boolean {
    const isList = this.#readList(start);
    this.#children[this.size * 2 - 1] = this.#listed;
    return isList;
  }

  /** Puts the events in order. False where a list names an event twice or one that is missing, or no list names an event. */
  walk(roots: number): boolean {
    const first = this.#listed;
    if (!this.#readList(roots)) return false;
    this.#isVisited.fill(0, 0, this.size);
    let [visited, pending] = [0, 0];
    for (let i = this.#listed - 1; i >= first; i--) this.#pending[pending++] = i;
    while (pending > 0) {
      const event = this.#find(this.#pending[--pending]!, visited);
      if (event < 0) return false;
      this.#isVisited[event] = 1;
      this.order[visited++] = event;
      for (let i = this.#children[event * 2 + 1]! - 1; i >= this.#children[event * 2]!; i--)
        this.#pending[pending++] = i;
    }
    return visited === this.size;
  }

  /** The event of that id, if not visited yet; usually the next one. */
  #find(listed: number, likely: number): number {
    const [start, end] = [this.#listedIds[listed * 2]!, this.#listedIds[listed * 2 + 1]!];
    for (let i = 0; i < this.size; i++) {
      const event = likely + i < this.size ? likely + i : likely + i - this.size;
      if (this.#isVisited[event] === 0 && this.#isNamed(event, start, end)) return event;
    }
    return -1;
  }

  #isNamed(event: number, start: number, end: number): boolean {
    const idStart = this.#ids[event * 2]!;
    return this.#ids[event * 2 + 1]! - idStart === end - start && isSame(idStart, start, end - start);
  }

  /** Adds the ids of a list that is JSON. False where it is no list, has anything but strings without escapes, or has too many. */
  #readList(start: number): boolean {
    if (BYTES[start] !== BRACKET) return false;
    let p = spaceEnd(start + 1);
    while (BYTES[p] !== BRACKET_END) {
      const end = BYTES[p] === QUOTE ? plainTextEnd(p) : -1;
      if (end < 0 || this.#listed === LISTED_MAX) return false;
      this.#listedIds[this.#listed * 2] = p + 1;
      this.#listedIds[this.#listed * 2 + 1] = end - 1;
      this.#listed += 1;
      p = spaceEnd(end);
      if (BYTES[p] === COMMA) p = spaceEnd(p + 1);
    }
    return true;
  }
}
