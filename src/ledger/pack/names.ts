/** The dictionary of one chunk. */
export class Names {
  readonly list: string[] = [];
  readonly #index = new Map<string, number>();

  indexOf(name: string): number {
    let index = this.#index.get(name);
    if (index === undefined) {
      index = this.list.push(name) - 1;
      this.#index.set(name, index);
    }
    return index;
  }
}

/** A name that is mostly the same as the one before: comparing it is cheaper than looking it up. */
export class Repeated {
  readonly #names: Names;
  #first = '';
  #second = '';
  #index = -1;

  constructor(names: Names) {
    this.#names = names;
  }

  /** The index of a name, or of two joined by a line feed. */
  of(first: string, second = ''): number {
    if (this.#index < 0 || first !== this.#first || second !== this.#second) {
      this.#index = this.#names.indexOf(second === '' ? first : `${first}\n${second}`);
      this.#first = first;
      this.#second = second;
    }
    return this.#index;
  }
}
