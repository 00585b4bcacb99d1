import type { ClientConfig } from 'pg';
import type { PostgresSettings } from './settings.ts';

/** How long a server may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 5_000;

export function connectionOptions({ password, ssl, ...where }: PostgresSettings): ClientConfig {
  return {
    ...where,
    ...(password === null ? {} : { password }),
    ssl: ssl === null ? false : { rejectUnauthorized: true, ...(ssl.ca === null ? {} : { ca: ssl.ca }) },
    application_name: 'holdfast',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A connection that a firewall has dropped is noticed.
    keepAlive: true,
  };
}

/** For a person: where and as whom, without the password. */
export function describeServer({ host, port, database, user }: PostgresSettings): string {
  return `PostgreSQL at ${host}:${port}, database ${database}, user ${user}`;
}
