import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { PoolClient } from 'pg';
import type { PostgresSettings } from './settings.ts';

/** The code of a cancel request, in the protocol's place of a version. */
const CANCEL_REQUEST = 80_877_102;
/** That of a request to go on with TLS; the server answers with `S`. */
const TLS_REQUEST = 80_877_103;
const TIMEOUT_MS = 5_000;

/**
 * Asks the server to end what a connection runs. The request has a connection of its own, for which the server needs none of
 * its places and no password: the key that it gave to the other one says who asks. Whoever reads the key could end the statements of
 * that connection, so it goes through TLS as the connection does.
 */
export function requestCancel({ host, port, ssl }: PostgresSettings, client: PoolClient): void {
  const { processID, secretKey } = client as unknown as { readonly processID: number; readonly secretKey: number };
  const request = message(CANCEL_REQUEST, processID, secretKey);
  const where = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const socket = connect(where, () => {
    if (ssl === null) socket.end(request);
    else socket.write(message(TLS_REQUEST));
  });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy()).unref();
  // The statement then ends at its time limit.
  const giveUp = (): void => void socket.destroy();
  socket.on('error', giveUp);
  if (ssl === null) return;
  socket.once('data', (answer) => {
    if (String(answer) !== 'S') return giveUp();
    const name = isIP(host) === 0 ? { servername: host } : { host };
    const secure = connectTls({ socket, ...name, ...(ssl.ca === null ? {} : { ca: ssl.ca }) }, () =>
      secure.end(request),
    );
    secure.on('error', giveUp);
  });
}

function message(...words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + 4 * words.length);
  for (const [i, word] of [bytes.length, ...words].entries()) bytes.writeInt32BE(word, i * 4);
  return bytes;
}
