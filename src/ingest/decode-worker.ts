import { decodeBatch } from '../feed/decoded-batch.ts';
import { serveThread } from '../threads/serve-thread.ts';
import { type DecodeContract, timed } from './decode-threads.ts';
import { received } from './message-batches.ts';

/** A decode thread. */
await serveThread<DecodeContract>(({ data: { migrationId } }) => ({
  decode: (sent, move) => timed(() => decodeBatch(received(sent), Buffer.from(sent.raw), migrationId), move),
}));
