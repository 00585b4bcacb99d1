import type { Chunk } from '../../../src/chunk/chunk.ts';
import { type FileOptions, openFileSource } from '../../../src/feed/file/file-source.ts';
import { RawBuffers } from '../../../src/ingest/message-batches.ts';
import { decodedChunks } from './decoded-chunks.ts';

/** The chunks of a feed file, in this thread. */
export async function* fileChunks(path: string, options: FileOptions = {}): AsyncGenerator<Chunk> {
  const { signal } = new AbortController();
  const decoding = { migrationId: 0, signal, buffers: new RawBuffers() };
  for await (const chunk of decodedChunks(openFileSource(path, options), decoding)) if ('names' in chunk) yield chunk;
}
