import { transferList } from '../chunk/chunk.ts';
import { NamesSender } from '../chunk/sent-names.ts';
import { serveThread } from '../threads/serve-thread.ts';
import { ChunkDecoder } from './decode-chunks.ts';
import type { DecodeContract } from './decode-threads.ts';
import { unpackMessages } from './message-batches.ts';

/** A decode thread: messages -> chunks, one after the other. */
await serveThread<DecodeContract>(({ data }) => {
  const decoder = new ChunkDecoder(data);
  const sender = new NamesSender();
  return {
    decode(messages, move) {
      const chunk = decoder.decode(unpackMessages(messages), Buffer.from(messages.raw));
      move(transferList(chunk));
      return sender.send(chunk);
    },
  };
});
