import { z } from 'zod';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/party.ts';
import { Refusal } from '../refusal.ts';
import { KAFKA_SETTINGS, LEDGER_API_SETTINGS, POSTGRES_SETTINGS, SCAN_SETTINGS } from './connection-settings.ts';
import { count, durationMs, durationUs, flag, httpAddresses, oneOf, setting, text } from './setting.ts';
import { ipAddress, LONGEST, list, microsWithin, wholeNumber } from './value-schemas.ts';

const DAY_US = 86_400_000_000;
/** Above this a request could block the event loop for long: about 12 us an owner. */
const OWNERS_MAX_MAX = 100_000;
/** More chunks are never under way at once. */
const DECODE_WORKERS_MAX = 16;
/** A whole body is in memory, as bytes, as text and as values. */
const BODY_BYTES_MAX_MAX = 256 * 1024 * 1024;

/**
 * Every setting by its key in the configuration file. The option is the key in kebab-case, the environment variable the
 * option in upper case after HOLDFAST_.
 */
export const SETTINGS = {
  data: setting(text(), {
    expected: 'a directory',
    help: 'directory of views.db and users.db',
    default: './data',
    placeholder: 'DIR',
    path: true,
  }),
  host: setting(text(), {
    expected: 'an address to listen on',
    help: 'address to listen on',
    default: '127.0.0.1',
    placeholder: 'HOST',
  }),
  port: count(0, 65_535, { help: 'port to listen on; 0 picks a free one', default: '8080', placeholder: 'PORT' }),
  readOnly: flag('serve the holdings of a directory that another process writes: no source, no users'),
  reusePort: flag('share the port with other processes that do the same'),
  file: setting(list(text()), {
    expected: 'feed files',
    help: 'feed files, applied in the order given, before a topic or a network',
    default: '',
    placeholder: 'FILE...',
    path: true,
  }),
  ...KAFKA_SETTINGS,
  ...SCAN_SETTINGS,
  ...LEDGER_API_SETTINGS,
  ...POSTGRES_SETTINGS,
  start: oneOf(['snapshot', 'beginning'], {
    help: 'where a network begins in an empty directory: at its active contracts, or at its first update',
    default: 'snapshot',
    placeholder: 'WHERE',
  }),
  migrationId: setting(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }), {
    expected: 'a whole number from 0',
    help: 'migration of feeds that name none, the Ledger API form',
    otherwise: '0; required where the directory has one above 0',
    placeholder: 'N',
  }),
  snapshotPeriod: setting(
    microsWithin({ min: '1s', max: '24h' }).refine((micros) => DAY_US % micros === 0),
    {
      expected: 'a duration from 1s to 24h that divides 24h, such as 10m or 3h',
      help: 'time between snapshots; fixed when the data directory is created',
      otherwise: '10m',
      placeholder: 'D',
    },
  ),
  dso: setting(z.string().refine(isPartyId), {
    expected: PARTY_EXPECTED,
    help: 'the DSO whose coins count',
    otherwise: 'the first seen',
    placeholder: 'PARTY',
  }),
  emptyOwners: oneOf(['zero', 'omit'], {
    help: 'what a summary answers for an owner without coin: zero or omit',
    default: 'zero',
  }),
  onBadUpdate: oneOf(['halt', 'quarantine'], {
    help: 'what follows an update that cannot be applied: halt or quarantine',
    default: 'halt',
  }),
  forceSnapshots: flag('allow POST /v0/state/acs/force'),
  ownersMax: count(1, OWNERS_MAX_MAX, {
    help: 'owners that one request may name',
    default: String(OWNERS_MAX_DEFAULT),
  }),
  bodyBytesMax: setting(wholeNumber({ min: 1, max: BODY_BYTES_MAX_MAX }), {
    expected: `a whole number of bytes from 1 to ${BODY_BYTES_MAX_MAX}`,
    help: 'bytes that the body of a request may have',
    default: '1048576',
    placeholder: 'N',
  }),
  decodeWorkers: count(1, DECODE_WORKERS_MAX, {
    help: 'threads that decode, at most',
    otherwise: 'all cores but one and at most 6',
  }),
  recordTimeAheadMax: durationUs('0s', LONGEST, {
    help: 'how far a record time may be ahead of our clock',
    default: '1h',
  }),
  recordTimeGapMax: durationUs('1s', LONGEST, { help: 'how far a record time may jump', default: '400d' }),
  readyLagMax: durationMs('1ms', LONGEST, {
    help: 'how far behind its source the service may be and still be ready',
    default: '1m',
  }),
  compareWith: httpAddresses('other Holdfasts, whose digests must equal those of this one'),
  dashboard: oneOf(['on', 'off'], { help: 'the page at /: on or off', default: 'on' }),
  corsOrigins: setting(list(z.string().regex(/^(\*|https?:\/\/[^\s/,]+)$/)), {
    expected: '*, or origins such as https://example.org separated by commas',
    help: 'origins whose pages may read from a browser',
    default: '*',
    placeholder: 'O,...',
  }),
  trustedProxies: setting(list(ipAddress), {
    expected: 'IP addresses separated by commas',
    help: 'proxies whose X-Forwarded-For is trusted',
    default: '',
    placeholder: 'IP,...',
  }),
  participantId: setting(z.string().regex(/^[A-Za-z0-9._:\-#/ ]{1,255}$/), {
    expected: '1-255 of letters, digits, ".", "_", ":", "-", "#", "/" and space',
    help: "the ledger area's own name",
    otherwise: 'one created with users.db',
    placeholder: 'ID',
  }),
  logLevel: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    help: 'lowest level that is logged',
    default: 'info',
    placeholder: 'L',
  }),
} as const;

export type SettingKey = keyof typeof SETTINGS;

/** The settings that were given, parsed; what is absent has its default. */
export type GivenSettings = { [Key in SettingKey]?: z.output<(typeof SETTINGS)[Key]['schema']> };

/** Of every setting its value, with the default where none is given. */
export type SettingValue<Key extends SettingKey> =
  | z.output<(typeof SETTINGS)[Key]['schema']>
  | ((typeof SETTINGS)[Key]['default'] extends null ? null : never);

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS) as SettingKey[];

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function optionName(key: SettingKey | 'config'): string {
  return `--${kebab(key)}`;
}

/** The refusal of a setting that is of use only with another one. */
export function needs(key: SettingKey, missing: SettingKey): Refusal {
  return new Refusal(`${optionName(key)} needs ${optionName(missing)} too`);
}

export function environmentName(key: SettingKey | 'config'): string {
  return `HOLDFAST_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}
