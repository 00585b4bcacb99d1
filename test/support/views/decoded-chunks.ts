import type { Chunk } from '../../../src/chunk/chunk.ts';
import type { Source, SourceStart } from '../../../src/feed/source.ts';
import { ChunkDecoder } from '../../../src/ingest/decode-chunks.ts';
import { messageBatches, type RawBuffers } from '../../../src/ingest/message-batches.ts';

/** What a source has, decoded in this thread. */
export async function* decodedChunks(
  source: Source,
  { migrationId, signal, buffers }: { migrationId: number; signal: AbortSignal; buffers: RawBuffers },
): AsyncGenerator<Chunk | SourceStart> {
  const decoder = new ChunkDecoder({ migrationId });
  for await (const batch of messageBatches(source, signal)) {
    yield 'identity' in batch ? batch : decoder.decode(batch, buffers.take());
  }
}
