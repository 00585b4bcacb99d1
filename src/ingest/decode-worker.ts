import { serveThread } from '../threads/serve-thread.ts';
import { type DecodeContract, decodeSent } from './decode-pool.ts';

await serveThread<DecodeContract>(({ data: { migrationId } }) => ({
  decode: (sent, move) => decodeSent(sent, migrationId, move),
}));
