import { serveThread } from '../threads/serve-thread.ts';
import type { DecodeContract } from './decode-threads.ts';
import { unpackMessages } from './message-batches.ts';
import { SendingDecoder } from './sending-decoder.ts';

/** A decode thread: messages -> chunks, one after the other. */
await serveThread<DecodeContract>(({ data }) => {
  const decoder = new SendingDecoder(data);
  return { decode: (messages, move) => decoder.decode(unpackMessages(messages), Buffer.from(messages.raw), move) };
});
