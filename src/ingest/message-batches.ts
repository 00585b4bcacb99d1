import type { Message, Source, SourceStart } from '../feed/source.ts';

/**
 * A batch ends at this many messages or bytes, whichever comes first: small enough that the writer never waits long for it.
 */
const MESSAGES_MAX = 2000;
const RAW_BYTES_MAX = 1024 * 1024;
const RAW_BUFFER_BYTES = RAW_BYTES_MAX + 256 * 1024;

/** A source's messages in feed order, as many as are decoded and applied at once; a SourceStart is passed on. */
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

/** Messages on their way to another thread: their bytes in a buffer that moves, the rest as it is. */
export interface SentMessages {
  readonly raw: ArrayBuffer;
  /** `end`: of its bytes in `raw`, which begin where those of the message before end; null for a null value. */
  readonly messages: readonly (Omit<Message, 'bytes' | 'decoded'> & { readonly end: number | null })[];
}

/** Puts the messages' bytes into this buffer, or into a larger one where they do not fit. */
export function sendable(messages: readonly Message[], buffer: Buffer): SentMessages {
  const length = messages.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  const raw = length <= buffer.length ? buffer : Buffer.allocUnsafeSlow(length);
  let end = 0;
  const sent = messages.map(({ bytes, decoded: _, ...message }) => {
    if (bytes !== null) raw.set(bytes, end);
    end += bytes?.length ?? 0;
    return { ...message, end: bytes && end };
  });
  return { raw: raw.buffer as ArrayBuffer, messages: sent };
}

/** The messages, whose bytes are views of the buffer. */
export function received({ raw, messages }: SentMessages): Message[] {
  const bytes = Buffer.from(raw);
  let start = 0;
  return messages.map(({ end, ...message }) => {
    if (end === null) return { ...message, bytes: null };
    const content = bytes.subarray(start, end);
    start = end;
    return { ...message, bytes: content };
  });
}
