import { availableParallelism } from 'node:os';
import { type DecodedBatch, decodeBatch } from '../feed/decoded-batch.ts';
import type { Message, Source, SourceStart } from '../feed/source.ts';
import type { Move } from '../threads/serve-thread.ts';
import { DECODING, startThread, type Thread, type ThreadContract, threadFile } from '../threads/thread.ts';

/** A batch ends at this many messages or bytes: small enough that the writer never waits long for it. */
const MESSAGES_MAX = 2000;
const RAW_BYTES_MAX = 1024 * 1024;
const RAW_BUFFER_BYTES = RAW_BYTES_MAX + 256 * 1024;

/** Batches of about 1 MiB (800 events of the usual size) that the thread may be ahead. */
export const BATCHES_AHEAD_MAX = 6;

/** Messages that are decoded and applied at once, and how many bytes they have. */
export interface MessageBatch {
  readonly messages: readonly Message[];
  readonly bytes: number;
}

/** A source's messages in feed order; a SourceStart is passed on. */
export async function* messageBatches(source: Source, signal: AbortSignal): AsyncGenerator<MessageBatch | SourceStart> {
  for await (const given of source.batches(signal)) {
    if ('identity' in given) {
      yield given;
      continue;
    }
    let messages: Message[] = [];
    let bytes = 0;
    for (const message of given) {
      messages.push(message);
      bytes += message.bytes?.length ?? 0;
      if (messages.length < MESSAGES_MAX && bytes < RAW_BYTES_MAX) continue;
      yield { messages, bytes };
      [messages, bytes] = [[], 0];
    }
    if (messages.length > 0) yield { messages, bytes };
  }
}

/** Messages on their way to a decode thread: their bytes in a buffer that moves, the rest as it is. */
interface SentMessages {
  readonly raw: ArrayBuffer;
  /** `end`: of its bytes in `raw`, which begin where those of the message before end; null for a null value. */
  readonly messages: readonly (Omit<Message, 'bytes' | 'decoded'> & { readonly end: number | null })[];
}

export interface DecodeContract extends ThreadContract {
  readonly data: { readonly migrationId: number };
  readonly requests: { readonly decode: (messages: SentMessages) => DecodedInTime };
}

export interface DecodedInTime {
  readonly batch: DecodedBatch;
  /** How long decoding it took. */
  readonly seconds: number;
}

interface Decoder {
  readonly thread: Thread<DecodeContract>;
  underWay: number;
}

/** A batch that is being decoded and the next one: more would wait in vain for a thread that another could spare. */
const UNDER_WAY_MAX = 2;
/** A small feed is decoded in the feed's thread alone: it would have ended before another had started. */
const ALONE_BYTES = 1024 * 1024;

/** Decodes in the thread that has it and in others: one is started when all those before have work, up to `workers` in all. */
export class DecodePool implements AsyncDisposable {
  readonly #migrationId: number;
  readonly #max: number;
  readonly #decoders: Decoder[] = [];
  /** Buffers of applied batches: freed by another thread's garbage collection, they would pile up and fragment memory. */
  readonly #spare: ArrayBuffer[] = [];
  #decodedBytes = 0;

  constructor({ migrationId, workers }: { migrationId: number; workers: number | null }) {
    this.#migrationId = migrationId;
    // One core is left to the writer and to V8's own threads, which collect garbage: on two, a second decoder only makes the first wait.
    this.#max = (workers ?? Math.min(Math.max(availableParallelism() - 1, 1), BATCHES_AHEAD_MAX)) - 1;
  }

  /** Decodes messages for another thread, to which their buffers move. Rejects where a decode thread has ended. */
  async decode({ messages, bytes }: MessageBatch, move: Move): Promise<DecodedInTime> {
    // A source that had to decode messages, to order them or to know where it is, did so in this thread.
    const isHere = this.#decodedBytes < ALONE_BYTES || messages.some(({ decoded }) => decoded !== undefined);
    const decoder = isHere ? undefined : this.#idleDecoder();
    this.#decodedBytes += bytes;
    if (decoder === undefined)
      return decodeTimed(messages, { raw: this.#buffer(bytes), migrationId: this.#migrationId, move });
    decoder.underWay += 1;
    try {
      const sent = sendable(messages, this.#buffer(bytes));
      const answer = await decoder.thread.call('decode', sent, [sent.raw]);
      move(buffersOf(answer.batch));
      return answer;
    } finally {
      decoder.underWay -= 1;
    }
  }

  /** Takes back the buffer of a batch that was applied. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength === RAW_BUFFER_BYTES) this.#spare.push(buffer);
  }

  #buffer(bytes: number): Buffer {
    const spare = bytes > RAW_BUFFER_BYTES ? undefined : this.#spare.pop();
    return spare === undefined ? Buffer.allocUnsafeSlow(Math.max(bytes, RAW_BUFFER_BYTES)) : Buffer.from(spare);
  }

  /** The decode thread with the least work; undefined where this thread should decode itself. */
  #idleDecoder(): Decoder | undefined {
    const [least] = this.#decoders.toSorted((a, b) => a.underWay - b.underWay);
    if (least?.underWay === 0) return least;
    if (this.#decoders.length >= this.#max)
      return least !== undefined && least.underWay < UNDER_WAY_MAX ? least : undefined;
    const thread = startThread<DecodeContract>(threadFile('decode-worker', import.meta.url), {
      name: 'decode',
      data: { migrationId: this.#migrationId },
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

function sendable(messages: readonly Message[], raw: Buffer): SentMessages {
  let end = 0;
  const sent = messages.map(({ bytes, decoded: _, ...message }) => {
    if (bytes !== null) raw.set(bytes, end);
    end += bytes?.length ?? 0;
    return { ...message, end: bytes && end };
  });
  return { raw: raw.buffer as ArrayBuffer, messages: sent };
}

/** In a decode thread: decodes what was sent, whose bytes stay in their buffer. */
export function decodeSent({ raw, messages }: SentMessages, migrationId: number, move: Move): DecodedInTime {
  const buffer = Buffer.from(raw);
  let start = 0;
  const received = messages.map(({ end, ...message }): Message => {
    if (end === null) return { ...message, bytes: null };
    const bytes = buffer.subarray(start, end);
    start = end;
    return { ...message, bytes };
  });
  return decodeTimed(received, { raw: buffer, migrationId, move });
}

function decodeTimed(
  messages: readonly Message[],
  { raw, migrationId, move }: { raw: Buffer; migrationId: number; move: Move },
): DecodedInTime {
  const startMs = performance.now();
  const batch = decodeBatch(messages, raw, migrationId);
  move(buffersOf(batch));
  return { batch, seconds: (performance.now() - startMs) / 1000 };
}

function buffersOf({ raw, items }: DecodedBatch): ArrayBuffer[] {
  return [raw.buffer as ArrayBuffer, items.buffer as ArrayBuffer];
}
