import type { z } from 'zod';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import { POSTGRES_SETTINGS } from '../scale/postgres-settings.ts';
import {
  count,
  directory,
  durationDividing,
  durationMs,
  durationMsOrOff,
  durationUs,
  flag,
  hostAndPort,
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
  text,
} from '../setting-kinds.ts';

const broker = /^[^\s,:]+:\d{1,5}$|^\[[0-9A-Fa-f:.]+\]:\d{1,5}$/;
const topicName = /^[A-Za-z0-9._-]{1,249}$/;
const topicExpected = 'a topic name, 1-249 of letters, digits, ".", "_" and "-"';

export const KAFKA_SETTINGS = {
  kafkaBrokers: listMatching(broker, 'host:port, several separated by commas', 'H:P,...')('addresses of Kafka brokers'),
  kafkaTopic: matching(topicName, topicExpected, 'TOPIC')('Kafka topic'),
  kafkaGroup: text('a group name', 'GROUP')('Kafka consumer group (default: one created with the directory)'),
  kafkaSsl: flag('connect to Kafka with TLS'),
  kafkaSslCa: path('PEM file of the authorities that may sign the brokers'),
  kafkaSslCert: path('PEM file of the client certificate', { needs: ['kafkaSslKey'] }),
  kafkaSslKey: path('PEM file of the client key', { needs: ['kafkaSslCert'] }),
  kafkaSaslMechanism: oneOf(
    'plain',
    'scram-sha-256',
    'scram-sha-512',
  )('login to Kafka', { needs: ['kafkaSaslUsername', 'kafkaSaslPasswordFile'] }),
  kafkaSaslUsername: text('a user name', 'NAME')('Kafka user', { needs: ['kafkaSaslMechanism'] }),
  kafkaSaslPasswordFile: path("file of the Kafka user's password", { needs: ['kafkaSaslMechanism'] }),
  kafkaPartitionIdle: durationMsOrOff('1ms')('how long the others wait for an idle partition', { default: 'off' }),
} as const;

export const SCAN_SETTINGS = {
  scan: httpAddresses('addresses of Scans of one network; the next is read where one fails'),
  scanPageSize: count(1, 1000)('updates that a Scan is asked for at once', { default: '500' }),
  scanPollInterval: durationMs('100ms', '1h')('how often a Scan is asked for more at its end', { default: '10s' }),
  scanCa: path('PEM file of the authorities that may sign the Scans'),
  start: oneOf('snapshot', 'beginning')('where a network begins in an empty directory', { default: 'snapshot' }),
} as const;

export const LEDGER_API_SETTINGS = {
  ledgerApi: httpAddress("address of a participant's JSON Ledger API"),
  ledgerApiParties: partiesOrAll('owners to follow; all: the local parties of the participant'),
  ledgerApiTokenFile: path("file of the participant's token, read again for each connection"),
  ledgerApiCa: path('PEM file of the authorities that may sign the participant'),
} as const;

/** Every setting by its key in the configuration file. Its option is that in kebab-case, its variable the option in upper case after HOLDFAST_. */
export const SETTINGS = {
  data: directory('directory of views.db and users.db', { default: './data', field: 'dataDir', reads: true }),
  host: text('an address to listen on', 'HOST')('address to listen on', { default: '127.0.0.1', reads: true }),
  port: count(0, 65_535)('port to listen on, 0: a free one', { default: '8080', placeholder: 'PORT', reads: true }),
  readOnly: flag('serve a directory that another process writes', { default: 'false', reads: true }),
  reusePort: flag('share the port with other processes that do the same', { default: 'false', reads: true }),
  metricsAddress: hostAndPort('serve /metrics at this address only, and not at --port', { reads: true }),
  file: paths('feed files, applied in the order given, before a topic or a network', { default: '', field: 'files' }),
  ...KAFKA_SETTINGS,
  ...SCAN_SETTINGS,
  ...LEDGER_API_SETTINGS,
  ...POSTGRES_SETTINGS,
  migrationId: count(0, 2 ** 53 - 1)('migration of feeds that name none, the Ledger API form (default: 0)'),
  snapshotPeriod: durationDividing('1s', '24h')('time between snapshots, fixed at the first start (default: 10m)', {
    field: 'snapshotPeriodUs',
  }),
  dso: party('the DSO whose coins count (default: the first seen)'),
  tokens: oneOf(
    'on',
    'off',
  )('holdings of other instruments, fixed with the first update (default: on in a new directory)'),
  emptyOwners: oneOf('zero', 'omit')('answer for an owner without coin', { default: 'zero', reads: true }),
  onBadUpdate: oneOf('halt', 'quarantine')('what follows an update that cannot be applied', { default: 'halt' }),
  forceSnapshots: flag('allow POST /v0/state/acs/force', { default: 'false' }),
  ownersMax: count(1, 100_000)('owners of a request', { default: `${OWNERS_MAX_DEFAULT}`, reads: true }),
  bodyBytesMax: count(1, 256 * 1024 * 1024)('bytes of a request', { default: '1048576', reads: true }),
  decodeWorkers: count(1, 16)('threads that decode files or one partition (default: cores - 1, at most 6)'),
  recordTimeAheadMax: durationUs('0s')('how far a record time may be ahead of the clock', {
    default: '1h',
    field: 'recordTimeAheadMaxUs',
  }),
  recordTimeGapMax: durationUs('1s')('how far a record time may jump', {
    default: '400d',
    field: 'recordTimeGapMaxUs',
  }),
  readyLagMax: durationMs('1ms')('how far behind its source a ready service may be', {
    default: '1m',
    field: 'readyLagMaxMs',
  }),
  compareWith: httpAddresses('other Holdfasts, whose digests must equal those of this one', { reads: true }),
  dashboard: oneOf('on', 'off')('the page at /', { default: 'on', reads: true }),
  instruments: path('JSON file of symbols, names and decimals of instruments, for the page and for tables', {
    reads: true,
  }),
  labels: path('JSON file of names and groups of parties, for the page', { field: 'labelsFile', reads: true }),
  corsOrigins: listMatching(
    /^(\*|https?:\/\/[^\s/,]+)$/,
    '*, or origins such as https://example.org separated by commas',
    'O,...',
  )('origins whose pages may read from a browser', { default: '*', reads: true }),
  trustedProxies: ipAddresses('proxies whose X-Forwarded-For is trusted (default: none)', { default: '', reads: true }),
  apiKeysFile: path('keys that requests must have, but those to /v2/users (default: anybody may ask)', { reads: true }),
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
  )('lowest level that is logged', { default: 'info', placeholder: 'L', reads: true }),
  logFormat: oneOf(
    'auto',
    'json',
    'text',
  )('JSON, or lines for people; auto: lines on a terminal, else JSON', { default: 'auto', reads: true }),
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

/** Groups of settings that are of no use without those named. */
export const GROUPS: readonly (readonly [group: object, needs: readonly string[]])[] = [
  [KAFKA_SETTINGS, ['kafkaBrokers', 'kafkaTopic']],
  [SCAN_SETTINGS, ['scan']],
  [LEDGER_API_SETTINGS, ['ledgerApi', 'ledgerApiParties']],
  [POSTGRES_SETTINGS, ['postgres']],
];

export const SETTING_KEYS = keysOf(SETTINGS);

/** The settings of `serve` as its help groups them; any other is in its general group. */
export const HELP_GROUPS: readonly (readonly [heading: string, keys: readonly string[]])[] = [
  ['Files and topics', ['file', 'migrationId', ...keysOf(KAFKA_SETTINGS)]],
  ['Scans', keysOf(SCAN_SETTINGS)],
  ['A participant', keysOf(LEDGER_API_SETTINGS)],
  ['A store in PostgreSQL', keysOf(POSTGRES_SETTINGS)],
  [
    'Rules of the ledger',
    ['dso', 'snapshotPeriod', 'onBadUpdate', 'forceSnapshots', 'recordTimeAheadMax', 'recordTimeGapMax'],
  ],
  ['Answers and limits', ['emptyOwners', 'ownersMax', 'bodyBytesMax', 'readyLagMax', 'compareWith']],
  ['Who may ask', ['apiKeysFile', 'corsOrigins', 'trustedProxies', 'metricsAddress']],
];
