import { transferList } from '../chunk/chunk.ts';
import { NamesSender, type SentChunk } from '../chunk/sent-names.ts';
import type { Message } from '../feed/source.ts';
import { ChunkDecoder } from './decode-chunks.ts';

/** A chunk on its way to the writer's thread, and how long decoding it took. */
export interface TimedChunk extends SentChunk {
  readonly seconds: number;
}

/** Decodes consecutive messages for another thread, in the feed's thread or in a decode thread. */
export class SendingDecoder {
  readonly #decoder: ChunkDecoder;
  readonly #sender = new NamesSender();

  constructor(options: { readonly migrationId: number }) {
    this.#decoder = new ChunkDecoder(options);
  }

  /** `move` is told which buffers go with the chunk. */
  decode(messages: Iterable<Message>, raw: Buffer, move: (buffers: readonly ArrayBuffer[]) => void): TimedChunk {
    const startMs = performance.now();
    const chunk = this.#decoder.decode(messages, raw);
    const seconds = (performance.now() - startMs) / 1000;
    move(transferList(chunk));
    return { ...this.#sender.send(chunk), seconds };
  }
}
