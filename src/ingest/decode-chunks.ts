import type { Chunk } from '../chunk/chunk.ts';
import { ChunkWriter } from '../chunk/chunk-writer.ts';
import { Names } from '../chunk/names.ts';
import { tryDecode } from '../decode/decode.ts';
import { identify } from '../decode/identify.ts';
import { LINE_BYTES_MAX } from '../feed/limits.ts';
import type { Message, Source, SourceStart } from '../feed/source.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { parseLedgerTime } from '../ledger/time.ts';

/**
 * A chunk is closed at this many messages or bytes, whichever comes first: small enough that the writer never waits
 * long for one.
 */
const MESSAGES_MAX = 2000;
const RAW_BYTES_MAX = 1024 * 1024;
const RAW_BUFFER_BYTES = RAW_BYTES_MAX + 256 * 1024;

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

/**
 * Decodes a source's messages in feed order; a SourceStart is passed on. A bad message becomes part of its chunk, and
 * is handled when it is applied.
 */
export async function* decodeChunks(
  source: Source,
  { migrationId, signal, buffers }: { migrationId: number; signal: AbortSignal; buffers: RawBuffers },
): AsyncGenerator<Chunk | SourceStart> {
  let names = new Names();
  let chunk = new ChunkWriter(names);
  for await (const messages of source.batches(signal)) {
    if ('identity' in messages) {
      yield messages;
      continue;
    }
    if (names.isFull) {
      names = new Names();
      chunk = new ChunkWriter(names);
    }
    chunk.begin(buffers.take());
    for (const message of messages) {
      addMessage(chunk, message, migrationId);
      if (chunk.updates < MESSAGES_MAX && chunk.rawBytes < RAW_BYTES_MAX) continue;
      yield chunk.finish();
      chunk.begin(buffers.take());
    }
    if (chunk.updates > 0) yield chunk.finish();
    else buffers.giveBack(chunk.finish().raw.buffer);
  }
}

/** One message as a chunk of its own. */
export function decodeAlone(message: Message, { migrationId }: { migrationId: number }): Chunk {
  const chunk = new ChunkWriter(new Names()).begin(Buffer.alloc(message.bytes?.length ?? 0));
  addMessage(chunk, message, migrationId);
  return chunk.finish();
}

function addMessage(chunk: ChunkWriter, message: Message, migrationId: number): void {
  const { bytes, overlong } = message;
  if (bytes === null) return chunk.add({ kind: 'ignored', what: 'null value' }, null, message);
  if (overlong !== undefined) {
    const expected = `a message of at most ${LINE_BYTES_MAX} bytes`;
    const fault = new BadUpdate('overlong', 'message', `${overlong.length} bytes`, expected);
    return chunk.addBad(fault, { updateId: null, recordTime: null, migrationId: null, overlong }, bytes, message);
  }
  const decoded = message.decoded ?? tryDecode(bytes, { migrationId });
  if (!(decoded instanceof BadUpdate)) return chunk.add(decoded, bytes, message);
  const { recordTime, ...identity } = identify(bytes);
  const time = recordTime === null ? null : parseLedgerTime(recordTime);
  chunk.addBad(decoded, { ...identity, recordTime: time, overlong: null }, bytes, message);
}
