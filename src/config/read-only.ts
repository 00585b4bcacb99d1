import { POSTGRES_KEYS } from './postgres.ts';
import type { SettingKey } from './settings.ts';

/**
 * The settings of a service that only reads; every other one, and `ledger` in a configuration file, needs a service
 * that writes.
 */
const READING: readonly string[] = [
  'data',
  'host',
  'port',
  'readOnly',
  'reusePort',
  'compareWith',
  'emptyOwners',
  'ownersMax',
  'bodyBytesMax',
  'dashboard',
  'corsOrigins',
  'trustedProxies',
  'logLevel',
  ...POSTGRES_KEYS,
] satisfies SettingKey[];

/** The names of the given settings that need a service that writes. A switch that is off needs nothing. */
export function writerSettings<Key extends string>(
  given: Readonly<Partial<Record<Key, unknown>>>,
  nameOf: (key: Key) => string,
): readonly string[] {
  const keys = Object.keys(given) as Key[];
  return keys.filter((key) => !READING.includes(key) && given[key] !== false).map(nameOf);
}
