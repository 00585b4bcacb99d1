import { serveThread } from '../threads/serve-thread.ts';
import { ChunkDecoder } from './decode-chunks.ts';
import type { DecodeContract } from './decode-threads.ts';
import { unpackMessages } from './message-batches.ts';

/** A decode thread: messages -> chunks, one after the other. */
await serveThread<DecodeContract>(({ data }) => {
  const decoder = new ChunkDecoder(data);
  return { decode: (messages, move) => decoder.send(unpackMessages(messages), Buffer.from(messages.raw), move) };
});
