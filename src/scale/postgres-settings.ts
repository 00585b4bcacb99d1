import { z } from 'zod';
import { readCertificate, readSecret } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { kind, optionName, path } from '../setting-kinds.ts';

/** Whether the server's certificate is required, by the value of `sslmode`; it is always verified then. */
const SSL_MODES: Readonly<Record<string, boolean>> = { disable: false, require: true, 'verify-full': true };

/** An address of a PostgreSQL server. A password in it would reach the log. */
function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname, pathname, searchParams, hash } = new URL(text);
  return (
    ['postgres:', 'postgresql:'].includes(protocol) &&
    [username, hostname, pathname.slice(1)].every((part) => part !== '') &&
    [password, hash].every((part) => part === '') &&
    [...searchParams.keys()].every((name) => name === 'sslmode') &&
    Object.hasOwn(SSL_MODES, searchParams.get('sslmode') ?? 'disable')
  );
}

const postgresUrl = kind(
  z.string().refine(isPostgresUrl),
  'a URL such as postgres://user@host:5432/database, without a password and with sslmode as its only parameter',
  'URL',
);

export const POSTGRES_SETTINGS = {
  postgres: postgresUrl('store in PostgreSQL', { reads: true }),
  postgresPasswordFile: path("file of the PostgreSQL user's password", { reads: true }),
  postgresCa: path('PEM file of the authorities that may sign the PostgreSQL server', { reads: true }),
} as const;

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

/** Null where no store is given. Throws a Refusal for a file that cannot be read. */
export function postgresConfig({
  postgres,
  postgresPasswordFile: file,
  postgresCa,
}: Readonly<Record<keyof typeof POSTGRES_SETTINGS, string | null>>): PostgresSettings | null {
  if (postgres === null) return null;
  const url = new URL(postgres);
  const password = file === null ? null : readSecret(optionName('postgresPasswordFile'), file).toString();
  const ca = readCertificate(optionName('postgresCa'), postgresCa);
  const mode = url.searchParams.get('sslmode');
  if (ca !== null && mode === 'disable')
    throw new Refusal(`${optionName('postgresCa')} cannot be given with sslmode=disable in ${optionName('postgres')}`);
  return {
    host: decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1')),
    port: url.port === '' ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)),
    user: decodeURIComponent(url.username),
    password,
    ssl: SSL_MODES[mode ?? 'disable']! || ca !== null ? { ca } : null,
  };
}

/** For a person: where and as whom, without the password. */
export function describeServer({ host, port, database, user }: PostgresSettings): string {
  return `PostgreSQL at ${host}:${port}, database ${database}, user ${user}`;
}
