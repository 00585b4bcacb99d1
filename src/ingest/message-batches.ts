import type { Message, Source, SourceStart } from '../feed/source.ts';

/**
 * A batch ends at this many messages or bytes, whichever comes first: small enough that the writer never waits long for
 * its chunk.
 */
const MESSAGES_MAX = 2000;
const RAW_BYTES_MAX = 1024 * 1024;
const RAW_BUFFER_BYTES = RAW_BYTES_MAX + 256 * 1024;

/** A source's messages in feed order, a chunk's worth at a time; a SourceStart is passed on. */
export async function* messageBatches(
  source: Source,
  signal: AbortSignal,
): AsyncGenerator<readonly Message[] | SourceStart> {
  for await (const messages of source.batches(signal)) {
    if ('identity' in messages) {
      yield messages;
      continue;
    }
    let batch: Message[] = [];
    let bytes = 0;
    for (const message of messages) {
      batch.push(message);
      bytes += message.bytes?.length ?? 0;
      if (batch.length < MESSAGES_MAX && bytes < RAW_BYTES_MAX) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  }
}

/**
 * Buffers for the messages' bytes, which are reused: freed by another thread's garbage collection, they would pile up
 * outside the heap and fragment it.
 */
export class RawBuffers {
  readonly #spare: ArrayBuffer[] = [];

  take(): Buffer {
    const spare = this.#spare.pop();
    return spare === undefined ? Buffer.allocUnsafeSlow(RAW_BUFFER_BYTES) : Buffer.from(spare);
  }

  giveBack(buffer: ArrayBufferLike): void {
    if (buffer.byteLength === RAW_BUFFER_BYTES && buffer instanceof ArrayBuffer) this.#spare.push(buffer);
  }
}

/** A batch in buffers that move to another thread, and as little beside them as can be: all of that is copied. */
export interface PackedMessages {
  /** The messages' bytes, one after the other. */
  readonly raw: ArrayBuffer;
  /** Where the bytes of each message end. */
  readonly ends: Float64Array<ArrayBuffer>;
  readonly offsets: Float64Array<ArrayBuffer>;
  /** One where all messages are of one lane. */
  readonly lanes: readonly string[];
  /** Null where no message has one. */
  readonly cursors: readonly (string | undefined)[] | null;
  /** By number: what only some messages have. */
  readonly details: ReadonlyMap<number, Pick<Message, 'overlong'> & { readonly isNull: boolean }>;
}

/** Packs messages in this buffer, or in a larger one where they do not fit. */
export function packMessages(messages: readonly Message[], buffer: Buffer): PackedMessages {
  const length = messages.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  const raw = length <= buffer.length ? buffer : Buffer.allocUnsafeSlow(length);
  const [ends, offsets] = [new Float64Array(messages.length), new Float64Array(messages.length)];
  const details = new Map<number, Pick<Message, 'overlong'> & { isNull: boolean }>();
  let end = 0;
  for (const [i, { bytes, offset, overlong }] of messages.entries()) {
    if (bytes !== null) raw.set(bytes, end);
    end += bytes?.length ?? 0;
    ends[i] = end;
    offsets[i] = offset;
    if (bytes === null || overlong !== undefined)
      details.set(i, { isNull: bytes === null, ...(overlong && { overlong }) });
  }
  const [{ lane: first = '' } = {}] = messages;
  const lanes = messages.every(({ lane }) => lane === first) ? [first] : messages.map(({ lane }) => lane);
  const cursors = messages.some(({ cursor }) => cursor !== undefined) ? messages.map(({ cursor }) => cursor) : null;
  return { raw: raw.buffer as ArrayBuffer, ends, offsets, lanes, cursors, details };
}

/** The messages, whose bytes are views of the packed ones. */
export function* unpackMessages({ raw, ends, offsets, lanes, cursors, details }: PackedMessages): Generator<Message> {
  const bytes = Buffer.from(raw);
  for (let i = 0, start = 0; i < ends.length; start = ends[i]!, i++) {
    const { isNull = false, ...rest } = details.get(i) ?? {};
    const place = { lane: lanes[i] ?? lanes[0]!, offset: offsets[i]! };
    const cursor = cursors?.[i];
    const content = isNull ? null : bytes.subarray(start, ends[i]);
    yield { ...place, bytes: content, ...(cursor !== undefined && { cursor }), ...rest };
  }
}
