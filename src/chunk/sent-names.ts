import type { Chunk } from './chunk.ts';

/** A chunk on its way between threads. */
export interface SentChunk {
  /** With only those of its names that were not sent before; `namesFrom` says how many were. */
  readonly chunk: Chunk;
  readonly namesFrom: number;
}

/** Leaves out of consecutive chunks the names that were sent with earlier ones. */
export class NamesSender {
  #names: readonly string[] = [];
  #sent = 0;

  send(chunk: Chunk): SentChunk {
    const { names } = chunk;
    const namesFrom = names === this.#names ? this.#sent : 0;
    this.#names = names;
    this.#sent = names.length;
    return { chunk: { ...chunk, names: names.slice(namesFrom) }, namesFrom };
  }
}

/** Restores the names of the chunks of one sender, in their order. */
export class NamesReceiver {
  #names: string[] = [];

  receive({ chunk, namesFrom }: SentChunk): Chunk {
    if (namesFrom === 0) this.#names = [];
    for (const name of chunk.names) this.#names.push(name);
    return { ...chunk, names: this.#names };
  }
}
