import { z } from 'zod';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import { DURATION_EXPECTED } from '../ledger/duration.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/party.ts';
import { FLINK_SETTINGS } from './flink.ts';
import { durationMs, flag, httpAddress, path, setting, text } from './setting.ts';
import { durationUs, ipAddress, isHttpUrl, isPostgresUrl, list, wholeNumber } from './value-schemas.ts';

const DAY_US = 86_400_000_000;
/** A century: more than any use, and far below what a double counts exactly in microseconds. */
const LONGEST = '36500d';
/** Above this a request could block the event loop for long: about 12 us an owner. */
const OWNERS_MAX_MAX = 100_000;
/** More chunks are never under way at once. */
const DECODE_WORKERS_MAX = 16;
/** More super validators than any network has. */
const SCANS_MAX = 100;
/** What a Scan gives at most. */
const SCAN_PAGE_SIZE_MAX = 1000;
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
  port: setting(wholeNumber({ min: 0, max: 65_535 }), {
    expected: 'a whole number from 0 to 65535',
    help: 'port to listen on; 0 picks a free one',
    default: '8080',
    placeholder: 'PORT',
  }),
  readOnly: flag('serve the holdings of a directory that another process writes: no source, no users'),
  reusePort: flag('share the port with other processes that do the same'),
  file: setting(list(text()), {
    expected: 'feed files',
    help: 'feed files, applied in the order given, before Kafka',
    default: '',
    placeholder: 'FILE...',
    path: true,
    variadic: true,
  }),
  kafkaBrokers: setting(list(z.string().regex(/^[^\s,:]+:\d{1,5}$|^\[[0-9A-Fa-f:.]+\]:\d{1,5}$/)), {
    expected: 'host:port, several separated by commas',
    help: 'addresses of Kafka brokers',
    default: null,
    placeholder: 'H:P,...',
  }),
  kafkaTopic: setting(z.string().regex(/^[A-Za-z0-9._-]{1,249}$/), {
    expected: 'a topic name, 1-249 of letters, digits, ".", "_" and "-"',
    help: 'Kafka topic',
    default: null,
    placeholder: 'TOPIC',
  }),
  kafkaGroup: setting(z.string().min(1).max(255), {
    expected: 'a group name of 1-255 characters',
    help: 'Kafka consumer group',
    default: null,
    otherwise: 'one created with the directory',
    placeholder: 'GROUP',
  }),
  kafkaSsl: flag('connect to Kafka with TLS'),
  kafkaSslCa: path('PEM file of the authorities that may sign the brokers'),
  kafkaSslCert: path('PEM file of the client certificate'),
  kafkaSslKey: path('PEM file of the client key'),
  kafkaSaslMechanism: setting(
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['plain', 'scram-sha-256', 'scram-sha-512'])),
    {
      expected: 'plain, scram-sha-256 or scram-sha-512',
      help: 'how to log in to Kafka: plain, scram-sha-256 or scram-sha-512',
      default: null,
      placeholder: 'MECHANISM',
    },
  ),
  kafkaSaslUsername: setting(text(), {
    expected: 'a user name',
    help: 'Kafka user',
    default: null,
    placeholder: 'NAME',
  }),
  kafkaSaslPasswordFile: path("file of the Kafka user's password"),
  kafkaPartitionIdle: setting(
    z.union([z.literal('off').transform(() => null), durationMs({ min: '1ms', max: LONGEST })]),
    {
      expected: `off, or ${DURATION_EXPECTED}, from 1ms to ${LONGEST}`,
      help: 'an idle partition makes the others wait no longer than this',
      default: 'off',
      placeholder: 'D',
    },
  ),
  scan: setting(list(z.string().refine(isHttpUrl)), {
    expected: 'http or https addresses without a user, several separated by commas',
    help: 'addresses of Scans of one network; the next is read where one fails',
    default: null,
    placeholder: 'URL,...',
  }),
  scanAgree: setting(wholeNumber({ min: 1, max: SCANS_MAX }), {
    expected: `a whole number from 1 to ${SCANS_MAX}`,
    help: 'an update counts once so many of the Scans tell it alike; 1 reads only one of them',
    default: '1',
    placeholder: 'N',
  }),
  scanPageSize: setting(wholeNumber({ min: 1, max: SCAN_PAGE_SIZE_MAX }), {
    expected: `a whole number from 1 to ${SCAN_PAGE_SIZE_MAX}`,
    help: 'updates that a Scan is asked for at once',
    default: '500',
    placeholder: 'N',
  }),
  scanPollInterval: setting(durationMs({ min: '100ms', max: '1h' }), {
    expected: `${DURATION_EXPECTED}, from 100ms to 1h`,
    help: 'how often a Scan is asked for more at its end',
    default: '10s',
    placeholder: 'D',
  }),
  scanCa: path('PEM file of the authorities that may sign the Scans'),
  ledgerApi: httpAddress("address of a participant's JSON Ledger API"),
  ledgerApiParties: setting(list(z.union([z.literal('all'), z.string().refine(isPartyId)])), {
    expected: `parties separated by commas (${PARTY_EXPECTED}), or all`,
    help: 'owners to follow; all: the local parties of the participant',
    default: null,
    placeholder: 'P,...',
  }),
  ledgerApiTokenFile: path("file of the participant's token, read again for each connection"),
  ledgerApiCa: path('PEM file of the authorities that may sign the participant'),
  postgres: setting(z.string().refine(isPostgresUrl), {
    expected:
      'a URL such as postgres://user@host:5432/database, without a password and with sslmode as its only parameter',
    help: 'store in PostgreSQL',
    default: null,
    placeholder: 'URL',
  }),
  postgresPasswordFile: path("file of the PostgreSQL user's password"),
  postgresCa: path('PEM file of the authorities that may sign the PostgreSQL server'),
  ...FLINK_SETTINGS,
  start: setting(z.enum(['snapshot', 'beginning']), {
    expected: 'snapshot or beginning',
    help: 'where a network begins in an empty directory: at its active contracts, or at its first update',
    default: 'snapshot',
    placeholder: 'WHERE',
  }),
  migrationId: setting(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }), {
    expected: 'a whole number from 0',
    help: 'migration of feeds that name none, the Ledger API form',
    default: null,
    otherwise: '0; required where the directory has one above 0',
    placeholder: 'N',
  }),
  snapshotPeriod: setting(
    durationUs({ min: '1s', max: '24h' }).refine((micros) => DAY_US % micros === 0),
    {
      expected: 'a duration from 1s to 24h that divides 24h, such as 10m or 3h',
      help: 'time between snapshots; fixed when the data directory is created',
      default: null,
      otherwise: '10m',
      placeholder: 'D',
    },
  ),
  dso: setting(z.string().refine(isPartyId), {
    expected: PARTY_EXPECTED,
    help: 'the DSO whose coins count',
    default: null,
    otherwise: 'the first seen',
    placeholder: 'PARTY',
  }),
  emptyOwners: setting(z.enum(['zero', 'omit']), {
    expected: 'zero or omit',
    help: 'what a summary answers for an owner without coin: zero or omit',
    default: 'zero',
    placeholder: 'HOW',
  }),
  onBadUpdate: setting(z.enum(['halt', 'quarantine']), {
    expected: 'halt or quarantine',
    help: 'what follows an update that cannot be applied: halt or quarantine',
    default: 'halt',
    placeholder: 'HOW',
  }),
  forceSnapshots: flag('allow POST /v0/state/acs/force'),
  ownersMax: setting(wholeNumber({ min: 1, max: OWNERS_MAX_MAX }), {
    expected: `a whole number from 1 to ${OWNERS_MAX_MAX}`,
    help: 'owners that one request may name',
    default: String(OWNERS_MAX_DEFAULT),
    placeholder: 'N',
  }),
  bodyBytesMax: setting(wholeNumber({ min: 1, max: BODY_BYTES_MAX_MAX }), {
    expected: `a whole number of bytes from 1 to ${BODY_BYTES_MAX_MAX}`,
    help: 'bytes that the body of a request may have',
    default: '1048576',
    placeholder: 'N',
  }),
  decodeWorkers: setting(wholeNumber({ min: 1, max: DECODE_WORKERS_MAX }), {
    expected: `a whole number from 1 to ${DECODE_WORKERS_MAX}`,
    help: 'threads that decode, at most',
    default: null,
    otherwise: 'all cores but one, at most 6',
    placeholder: 'N',
  }),
  recordTimeAheadMax: setting(durationUs({ min: '0s', max: LONGEST }), {
    expected: `${DURATION_EXPECTED}, from 0s to ${LONGEST}`,
    help: 'how far a record time may be ahead of our clock',
    default: '1h',
    placeholder: 'D',
  }),
  recordTimeGapMax: setting(durationUs({ min: '1s', max: LONGEST }), {
    expected: `${DURATION_EXPECTED}, from 1s to ${LONGEST}`,
    help: 'how far a record time may jump',
    default: '400d',
    placeholder: 'D',
  }),
  readyLagMax: setting(durationMs({ min: '1ms', max: LONGEST }), {
    expected: `${DURATION_EXPECTED}, from 1ms to ${LONGEST}`,
    help: 'how far behind its source the service may be and still be ready',
    default: '1m',
    placeholder: 'D',
  }),
  dashboard: setting(z.enum(['on', 'off']), {
    expected: 'on or off',
    help: 'the page at /: on or off',
    default: 'on',
    placeholder: 'HOW',
  }),
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
    default: null,
    otherwise: 'one created with users.db',
    placeholder: 'ID',
  }),
  logLevel: setting(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), {
    expected: 'trace, debug, info, warn, error, fatal or silent',
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

export function environmentName(key: SettingKey | 'config'): string {
  return `HOLDFAST_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}
