import { z } from 'zod';
import { DURATION_EXPECTED } from '../ledger/duration.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/party.ts';
import { count, durationMs, flag, httpAddress, httpAddresses, path, setting, text } from './setting.ts';
import { isPostgresUrl, LONGEST, list, msWithin } from './value-schemas.ts';

/** What a Scan gives at most. */
const SCAN_PAGE_SIZE_MAX = 1000;

export const KAFKA_SETTINGS = {
  kafkaBrokers: setting(list(z.string().regex(/^[^\s,:]+:\d{1,5}$|^\[[0-9A-Fa-f:.]+\]:\d{1,5}$/)), {
    expected: 'host:port, several separated by commas',
    help: 'addresses of Kafka brokers',
    placeholder: 'H:P,...',
  }),
  kafkaTopic: setting(z.string().regex(/^[A-Za-z0-9._-]{1,249}$/), {
    expected: 'a topic name, 1-249 of letters, digits, ".", "_" and "-"',
    help: 'Kafka topic',
    placeholder: 'TOPIC',
  }),
  kafkaGroup: setting(z.string().min(1).max(255), {
    expected: 'a group name of 1-255 characters',
    help: 'Kafka consumer group',
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
      placeholder: 'MECHANISM',
    },
  ),
  kafkaSaslUsername: setting(text(), { expected: 'a user name', help: 'Kafka user', placeholder: 'NAME' }),
  kafkaSaslPasswordFile: path("file of the Kafka user's password"),
  kafkaPartitionIdle: setting(
    z.union([z.literal('off').transform(() => null), msWithin({ min: '1ms', max: LONGEST })]),
    {
      expected: `off, or ${DURATION_EXPECTED}, from 1ms to ${LONGEST}`,
      help: 'an idle partition makes the others wait no longer than this',
      default: 'off',
      placeholder: 'D',
    },
  ),
} as const;

export const SCAN_SETTINGS = {
  scan: httpAddresses('addresses of Scans of one network; the next is read where one fails'),
  scanPageSize: count(1, SCAN_PAGE_SIZE_MAX, { help: 'updates that a Scan is asked for at once', default: '500' }),
  scanPollInterval: durationMs('100ms', '1h', {
    help: 'how often a Scan is asked for more at its end',
    default: '10s',
  }),
  scanCa: path('PEM file of the authorities that may sign the Scans'),
} as const;

export const LEDGER_API_SETTINGS = {
  ledgerApi: httpAddress("address of a participant's JSON Ledger API"),
  ledgerApiParties: setting(list(z.union([z.literal('all'), z.string().refine(isPartyId)])), {
    expected: `parties separated by commas (${PARTY_EXPECTED}), or all`,
    help: 'owners to follow; all: the local parties of the participant',
    placeholder: 'P,...',
  }),
  ledgerApiTokenFile: path("file of the participant's token, read again for each connection"),
  ledgerApiCa: path('PEM file of the authorities that may sign the participant'),
} as const;

export const POSTGRES_SETTINGS = {
  postgres: setting(z.string().refine(isPostgresUrl), {
    expected:
      'a URL such as postgres://user@host:5432/database, without a password and with sslmode as its only parameter',
    help: 'store in PostgreSQL',
    placeholder: 'URL',
  }),
  postgresPasswordFile: path("file of the PostgreSQL user's password"),
  postgresCa: path('PEM file of the authorities that may sign the PostgreSQL server'),
} as const;
