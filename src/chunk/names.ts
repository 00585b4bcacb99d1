/** A dictionary with more names or characters than this is dropped, and the next chunk begins a new one. */
const NAMES_MAX = 65_536;
const CHARS_MAX = 8 * 1024 * 1024;

/**
 * The dictionary of a run of chunks: what their columns name by number. It only grows, so that a chunk's numbers stay what they
 * are while later chunks add to it.
 */
export class Names {
  readonly list: string[] = [];
  readonly #index = new Map<string, number>();
  #chars = 0;

  get isFull(): boolean {
    return this.list.length >= NAMES_MAX || this.#chars >= CHARS_MAX;
  }

  indexOf(name: string): number {
    let index = this.#index.get(name);
    if (index === undefined) {
      index = this.list.push(name) - 1;
      this.#index.set(name, index);
      this.#chars += name.length;
    }
    return index;
  }
}

/** For columns with few different names: comparing with the last ones is cheaper than a look-up. */
export class Repeated {
  readonly #names: Names;
  /** The last names and their indexes; the oldest is replaced. */
  readonly #firsts = ['', '', '', ''];
  readonly #seconds = ['', '', '', ''];
  readonly #indexes = [-1, -1, -1, -1];
  #oldest = 0;

  constructor(names: Names) {
    this.#names = names;
  }

  /** The index of a name, or of two joined by a line feed. */
  of(first: string, second = ''): number {
    for (let i = 0; i < this.#indexes.length; i++) {
      if (this.#firsts[i] === first && this.#seconds[i] === second && this.#indexes[i]! >= 0) return this.#indexes[i]!;
    }
    const index = this.#names.indexOf(second === '' ? first : `${first}\n${second}`);
    this.#firsts[this.#oldest] = first;
    this.#seconds[this.#oldest] = second;
    this.#indexes[this.#oldest] = index;
    this.#oldest = (this.#oldest + 1) % this.#indexes.length;
    return index;
  }
}

/** Values by name, for readers of consecutive chunks: looked up by a name's number, several times faster than by its text. */
export class NamedValues<Value> {
  #names: readonly string[] = [];
  #values: (Value | undefined)[] = [];
  /** Each decode thread has a dictionary of its own, and their chunks alternate. */
  #byNames = new WeakMap<readonly string[], (Value | undefined)[]>();

  /** The value kept for a name; where there is none, `make` gives it. */
  of(names: readonly string[], number: number, make: (name: string) => Value): Value {
    if (names !== this.#names) {
      this.#names = names;
      this.#values = this.#byNames.get(names) ?? [];
      this.#byNames.set(names, this.#values);
    }
    const kept = this.#values[number];
    if (kept !== undefined) return kept;
    const value = make(names[number]!);
    while (this.#values.length <= number) this.#values.push(undefined);
    this.#values[number] = value;
    return value;
  }

  clear(): void {
    this.#names = [];
    this.#values = [];
    this.#byNames = new WeakMap();
  }
}
