import { connect } from 'node:net';
import type { PoolClient } from 'pg';
import type { PostgresSettings } from './settings.ts';

const LENGTH = 16;
/** The code of a cancel request, in the protocol's place of a version. */
const CANCEL_REQUEST = 80_877_102;
const TIMEOUT_MS = 5_000;

/**
 * Asks the server to end what a connection runs. The request has a connection of its own, for which the server needs none of
 * its places and no password: the key that it gave to the other one says who asks. As other clients do, it goes without TLS.
 */
export function requestCancel({ host, port }: PostgresSettings, client: PoolClient): void {
  const { processID, secretKey } = client as unknown as { readonly processID: number; readonly secretKey: number };
  const request = Buffer.alloc(LENGTH);
  for (const [i, word] of [LENGTH, CANCEL_REQUEST, processID, secretKey].entries()) request.writeInt32BE(word, i * 4);
  const where = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const socket = connect(where, () => socket.end(request)).setTimeout(TIMEOUT_MS, () => socket.destroy());
  // The statement then ends at its time limit.
  socket.on('error', () => {});
  socket.unref();
}
