import { type Chunk, transferList } from '../chunk/chunk.ts';
import { ChunkWriter } from '../chunk/chunk-writer.ts';
import { Names } from '../chunk/names.ts';
import { NamesSender, type SentChunk } from '../chunk/sent-names.ts';
import { tryDecode } from '../decode/decode.ts';
import { identify } from '../decode/identify.ts';
import { LINE_BYTES_MAX } from '../feed/limits.ts';
import type { Message } from '../feed/source.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { parseLedgerTime } from '../ledger/time.ts';
import type { Move } from '../threads/serve-thread.ts';

/** A chunk on its way to the writer's thread, and how long decoding it took. */
export interface TimedChunk extends SentChunk {
  readonly seconds: number;
}

/** Decodes consecutive messages into chunks that share a dictionary, until it is full. */
export class ChunkDecoder {
  readonly #migrationId: number;
  readonly #sender = new NamesSender();
  #names = new Names();
  #writer = new ChunkWriter(this.#names);

  constructor({ migrationId }: { readonly migrationId: number }) {
    this.#migrationId = migrationId;
  }

  /** `raw` becomes the chunk's. A bad message becomes part of the chunk, and is handled when it is applied. */
  decode(messages: Iterable<Message>, raw: Buffer): Chunk {
    if (this.#names.isFull) {
      this.#names = new Names();
      this.#writer = new ChunkWriter(this.#names);
    }
    this.#writer.begin(raw);
    for (const message of messages) addMessage(this.#writer, message, this.#migrationId);
    return this.#writer.finish();
  }

  /** For another thread. */
  send(messages: Iterable<Message>, raw: Buffer, move: Move): TimedChunk {
    const startMs = performance.now();
    const chunk = this.decode(messages, raw);
    const seconds = (performance.now() - startMs) / 1000;
    move(transferList(chunk));
    return { ...this.#sender.send(chunk), seconds };
  }
}

/** One message as a chunk of its own. */
export function decodeAlone(message: Message, options: { readonly migrationId: number }): Chunk {
  return new ChunkDecoder(options).decode([message], Buffer.alloc(message.bytes?.length ?? 0));
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
