import { readSecret } from '../named-file.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { Refusal } from '../refusal.ts';
import { certificateOf } from './certificate.ts';
import { POSTGRES_SETTINGS } from './connection-settings.ts';
import { keysOf } from './setting.ts';
import { type GivenSettings, needs, optionName } from './settings.ts';
import { SSL_MODES } from './value-schemas.ts';

export const POSTGRES_KEYS = keysOf(POSTGRES_SETTINGS);

/** Null where no PostgreSQL is given. Throws a Refusal for a setting without one, and for a file that cannot be read. */
export function postgresConfig(given: GivenSettings): PostgresSettings | null {
  const { postgres, postgresPasswordFile: file, postgresCa } = given;
  if (postgres === undefined) {
    const first = POSTGRES_KEYS.find((key) => given[key] !== undefined);
    if (first !== undefined) throw needs(first, 'postgres');
    return null;
  }
  const url = new URL(postgres);
  const password = file === undefined ? null : readSecret(optionName('postgresPasswordFile'), file).toString();
  const ca = certificateOf('postgresCa', postgresCa);
  const asked = SSL_MODES[url.searchParams.get('sslmode') ?? 'disable']!;
  if (ca !== null && url.searchParams.get('sslmode') === 'disable')
    throw new Refusal(`${optionName('postgresCa')} cannot be given with sslmode=disable in ${optionName('postgres')}`);
  return {
    host: decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1')),
    port: url.port === '' ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)),
    user: decodeURIComponent(url.username),
    password,
    ssl: asked || ca !== null ? { ca } : null,
  };
}
