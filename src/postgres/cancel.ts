import type { Socket } from 'node:net';
import { Connection, type PoolClient } from 'pg';
import { connectionOptions } from './connection.ts';
import type { PostgresSettings } from './settings.ts';

const TIMEOUT_MS = 5_000;

/** What pg's connections do besides what their types say. */
interface CancelConnection extends Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/**
 * Asks the server to end what a connection runs. The request has a connection of its own, for which the server needs none of
 * its places and no password: the key that it gave to the other one says who asks. Whoever reads the key could end the statements of
 * that connection, so it goes through TLS as the connection does.
 */
export function requestCancel(settings: PostgresSettings, client: PoolClient): void {
  const { host, port } = settings;
  const { ssl } = connectionOptions(settings);
  const { processID, secretKey } = client as unknown as { readonly processID: number; readonly secretKey: number };
  const connection = new Connection({ ssl }) as CancelConnection;
  const socket = connection.stream as Socket;
  const cancel = (): void => connection.cancel(processID, secretKey);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy()).unref();
  connection
    // The statement then ends at its time limit.
    .on('error', () => socket.destroy())
    .once('connect', () => (ssl === false ? cancel() : connection.requestSsl()))
    .once('sslconnect', cancel);
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
