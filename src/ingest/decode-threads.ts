import { availableParallelism } from 'node:os';
import type { DecodedBatch } from '../feed/decoded-batch.ts';
import type { ThreadContract } from '../threads/contract.ts';
import type { Move } from '../threads/serve-thread.ts';
import { DECODING, startThread, type Thread, threadFile } from '../threads/thread.ts';
import { BATCHES_AHEAD_MAX } from './feed-thread.ts';
import type { SentMessages } from './message-batches.ts';

export interface DecodeContract extends ThreadContract {
  readonly data: { readonly migrationId: number };
  readonly requests: {
    readonly decode: (messages: SentMessages) => { readonly batch: DecodedBatch; readonly seconds: number };
  };
}

/** One core is left to the writer and to V8's own threads, which collect garbage: on two, a second decoder only makes the first wait. */
export function decodeWorkersDefault(): number {
  return Math.min(Math.max(availableParallelism() - 1, 1), BATCHES_AHEAD_MAX);
}

interface Decoder {
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

  /** Rejects where its thread has ended. */
  async decode(messages: SentMessages): Promise<ReturnType<DecodeContract['requests']['decode']>> {
    const decoder = this.#leastBusy();
    decoder.underWay += 1;
    try {
      return await decoder.thread.call('decode', messages, [messages.raw]);
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
    const started = { thread, underWay: 0 };
    this.#decoders.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#decoders.map(({ thread }) => thread[Symbol.asyncDispose]()));
  }
}

/** Decodes a batch for another thread, and says how long that took. */
export function timed(decode: () => DecodedBatch, move: Move): { batch: DecodedBatch; seconds: number } {
  const startMs = performance.now();
  const batch = decode();
  move([batch.raw.buffer as ArrayBuffer, batch.items.buffer as ArrayBuffer]);
  return { batch, seconds: (performance.now() - startMs) / 1000 };
}
