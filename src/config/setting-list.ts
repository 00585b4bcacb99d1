import type { z } from 'zod';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import {
  count,
  durationDividing,
  durationMs,
  durationMsOrOff,
  durationUs,
  flag,
  httpAddress,
  httpAddresses,
  ipAddresses,
  listMatching,
  matching,
  oneOf,
  partiesOrAll,
  party,
  path,
  paths,
  postgresUrl,
  text,
} from './setting-kinds.ts';

/** What a Scan gives at most. */
const SCAN_PAGE_SIZE_MAX = 1000;
/** Above this a request could block the event loop for long: about 12 us an owner. */
const OWNERS_MAX_MAX = 100_000;
const DECODE_WORKERS_MAX = 16;
/** A whole body is in memory, as bytes, as text and as values. */
const BODY_BYTES_MAX_MAX = 256 * 1024 * 1024;

export const KAFKA_SETTINGS = {
  kafkaBrokers: listMatching(
    /^[^\s,:]+:\d{1,5}$|^\[[0-9A-Fa-f:.]+\]:\d{1,5}$/,
    'host:port, several separated by commas',
    'H:P,...',
  )('addresses of Kafka brokers', { needs: ['kafkaTopic'] }),
  kafkaTopic: matching(
    /^[A-Za-z0-9._-]{1,249}$/,
    'a topic name, 1-249 of letters, digits, ".", "_" and "-"',
    'TOPIC',
  )('Kafka topic', { needs: ['kafkaBrokers'] }),
  kafkaGroup: matching(
    /^.{1,255}$/s,
    'a group name of 1-255 characters',
    'GROUP',
  )('Kafka consumer group (default: one created with the directory)', { needs: ['kafkaBrokers'] }),
  kafkaSsl: flag('connect to Kafka with TLS', { needs: ['kafkaBrokers'] }),
  kafkaSslCa: path('PEM file of the authorities that may sign the brokers', { path: true, needs: ['kafkaBrokers'] }),
  kafkaSslCert: path('PEM file of the client certificate', { path: true, needs: ['kafkaBrokers', 'kafkaSslKey'] }),
  kafkaSslKey: path('PEM file of the client key', { path: true, needs: ['kafkaBrokers', 'kafkaSslCert'] }),
  kafkaSaslMechanism: oneOf(
    'plain',
    'scram-sha-256',
    'scram-sha-512',
  )('how to log in to Kafka', {
    needs: ['kafkaBrokers', 'kafkaSaslUsername', 'kafkaSaslPasswordFile'],
  }),
  kafkaSaslUsername: text('a user name', 'NAME')('Kafka user', { needs: ['kafkaBrokers', 'kafkaSaslMechanism'] }),
  kafkaSaslPasswordFile: path("file of the Kafka user's password", {
    path: true,
    needs: ['kafkaBrokers', 'kafkaSaslMechanism'],
  }),
  kafkaPartitionIdle: durationMsOrOff('1ms')('an idle partition makes the others wait no longer than this', {
    default: 'off',
    needs: ['kafkaBrokers'],
  }),
} as const;

export const SCAN_SETTINGS = {
  scan: httpAddresses('addresses of Scans of one network; the next is read where one fails'),
  scanPageSize: count(1, SCAN_PAGE_SIZE_MAX)('updates that a Scan is asked for at once', {
    default: '500',
    needs: ['scan'],
  }),
  scanPollInterval: durationMs('100ms', '1h')('how often a Scan is asked for more at its end', {
    default: '10s',
    needs: ['scan'],
  }),
  scanCa: path('PEM file of the authorities that may sign the Scans', { path: true, needs: ['scan'] }),
  start: oneOf('snapshot', 'beginning')(
    'where a network begins in an empty directory: at its active contracts, or at its first update',
    { default: 'snapshot' },
  ),
} as const;

export const LEDGER_API_SETTINGS = {
  ledgerApi: httpAddress("address of a participant's JSON Ledger API", { needs: ['ledgerApiParties'] }),
  ledgerApiParties: partiesOrAll('owners to follow; all: the local parties of the participant', {
    needs: ['ledgerApi'],
  }),
  ledgerApiTokenFile: path("file of the participant's token, read again for each connection", {
    path: true,
    needs: ['ledgerApi'],
  }),
  ledgerApiCa: path('PEM file of the authorities that may sign the participant', { path: true, needs: ['ledgerApi'] }),
} as const;

export const POSTGRES_SETTINGS = {
  postgres: postgresUrl('store in PostgreSQL', { reads: true }),
  postgresPasswordFile: path("file of the PostgreSQL user's password", {
    path: true,
    reads: true,
    needs: ['postgres'],
  }),
  postgresCa: path('PEM file of the authorities that may sign the PostgreSQL server', {
    path: true,
    reads: true,
    needs: ['postgres'],
  }),
} as const;

/**
 * Every setting by its key in the configuration file. The option is the key in kebab-case, the environment variable the
 * option in upper case after HOLDFAST_.
 */
export const SETTINGS = {
  data: text('a directory', 'DIR')('directory of views.db and users.db', {
    default: './data',
    field: 'dataDir',
    path: true,
    reads: true,
  }),
  host: text('an address to listen on', 'HOST')('address to listen on', { default: '127.0.0.1', reads: true }),
  port: count(0, 65_535)('port to listen on; 0 picks a free one', {
    default: '8080',
    placeholder: 'PORT',
    reads: true,
  }),
  readOnly: flag('serve the holdings of a directory that another process writes: no source, no users', {
    default: 'false',
    reads: true,
  }),
  reusePort: flag('share the port with other processes that do the same', { default: 'false', reads: true }),
  file: paths('feed files, applied in the order given, before a topic or a network', {
    default: '',
    field: 'files',
    path: true,
  }),
  ...KAFKA_SETTINGS,
  ...SCAN_SETTINGS,
  ...LEDGER_API_SETTINGS,
  ...POSTGRES_SETTINGS,
  migrationId: count(
    0,
    Number.MAX_SAFE_INTEGER,
  )(
    'migration of feeds that name none, the Ledger API form (default: 0; required where the directory has one above 0)',
  ),
  snapshotPeriod: durationDividing('1s', '24h')(
    'time between snapshots; fixed when the data directory is created (default: 10m)',
    { field: 'snapshotPeriodUs' },
  ),
  dso: party('the DSO whose coins count (default: the first seen)'),
  emptyOwners: oneOf('zero', 'omit')('what a summary answers for an owner without coin', {
    default: 'zero',
    reads: true,
  }),
  onBadUpdate: oneOf('halt', 'quarantine')('what follows an update that cannot be applied', { default: 'halt' }),
  forceSnapshots: flag('allow POST /v0/state/acs/force', { default: 'false' }),
  ownersMax: count(1, OWNERS_MAX_MAX)('owners that one request may name', {
    default: `${OWNERS_MAX_DEFAULT}`,
    reads: true,
  }),
  bodyBytesMax: count(1, BODY_BYTES_MAX_MAX)('bytes that the body of a request may have', {
    default: '1048576',
    reads: true,
  }),
  decodeWorkers: count(
    1,
    DECODE_WORKERS_MAX,
  )('threads that decode, at most (default: all cores but one and at most 6)'),
  recordTimeAheadMax: durationUs('0s')('how far a record time may be ahead of our clock', {
    default: '1h',
    field: 'recordTimeAheadMaxUs',
  }),
  recordTimeGapMax: durationUs('1s')('how far a record time may jump', {
    default: '400d',
    field: 'recordTimeGapMaxUs',
  }),
  readyLagMax: durationMs('1ms')('how far behind its source the service may be and still be ready', {
    default: '1m',
    field: 'readyLagMaxMs',
  }),
  compareWith: httpAddresses('other Holdfasts, whose digests must equal those of this one', { reads: true }),
  dashboard: oneOf('on', 'off')('the page at /', { default: 'on', reads: true }),
  corsOrigins: listMatching(
    /^(\*|https?:\/\/[^\s/,]+)$/,
    '*, or origins such as https://example.org separated by commas',
    'O,...',
  )('origins whose pages may read from a browser', { default: '*', reads: true }),
  trustedProxies: ipAddresses('proxies whose X-Forwarded-For is trusted (default: none)', { default: '', reads: true }),
  participantId: matching(
    /^[A-Za-z0-9._:\-#/ ]{1,255}$/,
    '1-255 of letters, digits, ".", "_", ":", "-", "#", "/" and space',
    'ID',
  )("the ledger area's own name (default: one created with users.db)"),
  logLevel: oneOf(
    'trace',
    'debug',
    'info',
    'warn',
    'error',
    'fatal',
    'silent',
  )('lowest level that is logged', {
    default: 'info',
    placeholder: 'L',
    reads: true,
  }),
} as const;

type Declared = typeof SETTINGS;
export type SettingKey = keyof Declared;

type Field<Key extends SettingKey> = Declared[Key] extends { field: infer Name extends string } ? Name : Key;
type Value<Key extends SettingKey> =
  | z.output<Declared[Key]['schema']>
  | (Declared[Key] extends { default: string } ? never : null);
/** The value of every setting. Units are in the names. Null: not given, and without a default. */
export type Settings = { readonly [Key in SettingKey as Field<Key>]: Value<Key> };

/** The keys of a group of settings. */
export function keysOf<Group extends object>(group: Group): readonly (keyof Group)[] {
  return Object.keys(group) as (keyof Group)[];
}

export const SETTING_KEYS = keysOf(SETTINGS);
