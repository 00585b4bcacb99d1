import { type ClientConfig, TypeOverrides, types } from 'pg';

/** How to reach a store in PostgreSQL. */
export interface PostgresSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Null: that of PGPASSWORD, or none. */
  readonly password: string | null;
  /** Null without TLS. The server's certificate is verified; `ca`: null for the system's authorities. */
  readonly ssl: { readonly ca: string | null } | null;
}

/** How long a server may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 5_000;

/** A bigint is a number where that is exact, else a BigInt; a numeric is read in whole units, as a BigInt. */
const EXACT = new TypeOverrides();
EXACT.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
});
EXACT.setTypeParser(types.builtins.NUMERIC, BigInt);

export function connectionOptions({ password, ssl, ...where }: PostgresSettings): ClientConfig {
  return {
    ...where,
    ...(password === null ? {} : { password }),
    ssl: ssl === null ? false : { rejectUnauthorized: true, ...(ssl.ca === null ? {} : { ca: ssl.ca }) },
    types: EXACT,
    application_name: 'holdfast',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A connection that a firewall has dropped, or whose server has gone, is noticed within minutes.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** For a person: where and as whom, without the password. */
export function describeServer({ host, port, database, user }: PostgresSettings): string {
  return `PostgreSQL at ${host}:${port}, database ${database}, user ${user}`;
}
