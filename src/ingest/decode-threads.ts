import { availableParallelism } from 'node:os';
import type { ThreadContract } from '../threads/contract.ts';
import { DECODING, startThread, type Thread, threadFile } from '../threads/thread.ts';
import type { TimedChunk } from './decode-chunks.ts';
import { CHUNKS_AHEAD_MAX } from './feed-thread.ts';
import type { PackedMessages } from './message-batches.ts';

export interface DecodeContract extends ThreadContract {
  readonly data: { readonly migrationId: number };
  readonly requests: { readonly decode: (messages: PackedMessages) => TimedChunk };
}

/** One core is left to the writer and to V8's own threads, which collect garbage: on two, a second decoder only makes the first wait. */
export function decodeWorkersDefault(): number {
  return Math.min(Math.max(availableParallelism() - 1, 1), CHUNKS_AHEAD_MAX);
}

interface Decoder {
  readonly number: number;
  readonly thread: Thread<DecodeContract>;
  underWay: number;
}

/** A batch that is being decoded and the next one: more would wait in vain for a thread that another could spare. */
const UNDER_WAY_MAX = 2;

/** The threads that decode besides the feed's own: one is started when all others have work, up to `max`. */
export class DecodeThreads implements AsyncDisposable {
  readonly #data: DecodeContract['data'];
  readonly #max: number;
  readonly #decoders: Decoder[] = [];

  constructor(max: number, data: DecodeContract['data']) {
    this.#data = data;
    this.#max = max;
  }

  /** Whether a thread will soon need more work. */
  get hasRoom(): boolean {
    return this.#decoders.length < this.#max || this.#decoders.some(({ underWay }) => underWay < UNDER_WAY_MAX);
  }

  /** Chunks come when they are ready, those of one decoder in the order of the calls. Rejects where its thread has ended. */
  async decode(messages: PackedMessages): Promise<TimedChunk & { readonly decoder: number }> {
    const decoder = this.#leastBusy();
    const { raw, ends, offsets } = messages;
    decoder.underWay += 1;
    try {
      const sent = await decoder.thread.call('decode', messages, [raw, ends.buffer, offsets.buffer]);
      return { ...sent, decoder: decoder.number };
    } finally {
      decoder.underWay -= 1;
    }
  }

  #leastBusy(): Decoder {
    const [least] = this.#decoders.toSorted((a, b) => a.underWay - b.underWay);
    if (least !== undefined && (least.underWay === 0 || this.#decoders.length === this.#max)) return least;
    const thread = startThread<DecodeContract>(threadFile('decode-worker', import.meta.url), {
      name: 'decode',
      data: this.#data,
      on: {},
      errors: [],
      worker: DECODING,
    });
    const started = { number: this.#decoders.length, thread, underWay: 0 };
    this.#decoders.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#decoders.map(({ thread }) => thread[Symbol.asyncDispose]()));
  }
}
