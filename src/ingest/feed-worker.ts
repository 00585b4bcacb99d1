import { parentPort, workerData } from 'node:worker_threads';
import { openFileSource } from '../feed/file.ts';
import { BrokenContainer } from '../feed/source.ts';
import { transferList } from '../ledger/pack/chunk.ts';
import { Refusal } from '../refusal.ts';
import { decodeChunks, RawBuffers } from './decode-chunks.ts';
import { CHUNKS_AHEAD_MAX, type ChunkApplied, type FeedMessage, type SourceSpec } from './feed-thread.ts';

/** The feed thread: bytes -> decoded chunks, handed over until the other side is CHUNKS_AHEAD_MAX behind. */
async function run(spec: SourceSpec, migrationId: number): Promise<void> {
  const port = parentPort!;
  let ahead = 0;
  let wake: () => void = () => {};
  const buffers = new RawBuffers();
  port.on('message', ({ raw }: ChunkApplied) => {
    if (raw !== null) buffers.giveBack(raw);
    ahead -= 1;
    wake();
  });
  const post = (message: FeedMessage, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  try {
    const source = openFileSource(spec.path);
    for await (const chunk of decodeChunks(source, { migrationId, signal: new AbortController().signal, buffers })) {
      post({ type: 'chunk', chunk, progress: source.progress() }, transferList(chunk));
      ahead += 1;
      while (ahead >= CHUNKS_AHEAD_MAX) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    post({ type: 'end' });
  } catch (error) {
    if (error instanceof BrokenContainer) post({ type: 'broken', place: error.place, reason: error.message });
    else if (error instanceof Refusal) post({ type: 'refused', message: error.message });
    else throw error;
  }
}

const { source, migrationId } = workerData as { source: SourceSpec; migrationId: number };
await run(source, migrationId);
