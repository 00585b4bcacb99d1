import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load-config.ts';
import { optionName } from '../../src/setting-kinds.ts';
import { type Certificates, createCertificates } from '../support/kafka/certificates.ts';
import { settingsOf } from '../support/program/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));

function writeConfig(value: unknown): string {
  const name = join(folder, 'holdfast.json');
  writeFileSync(name, typeof value === 'string' ? value : JSON.stringify(value));
  return name;
}

type Values = Readonly<Record<string, string>>;

interface Given {
  readonly args?: readonly string[];
  /** Options by their keys. */
  readonly options?: Values;
  readonly env?: Values;
  readonly file?: unknown;
}

function load({ args = [], options = {}, env = {}, file }: Given): Config {
  const given = Object.entries(options).flatMap(([key, value]) => [optionName(key), value]);
  return settingsOf([...args, ...given], {
    ...env,
    ...(file !== undefined && { HOLDFAST_CONFIG: writeConfig(file) }),
  }).config;
}

function refusalOf(given: Given): string {
  try {
    load(given);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings were accepted');
}

describe('a setting', () => {
  it('comes from an option before the environment, that before the file, that before the default', () => {
    const [options, env, file] = [{ port: '1' }, { HOLDFAST_PORT: '2' }, { port: 3 }];
    expect(load({ options, env, file }).port).toBe(1);
    expect(load({ env, file }).port).toBe(2);
    expect(load({ file }).port).toBe(3);
    expect(load({}).port).toBe(8080);
    expect(refusalOf({ options, file: { port: -1 } })).toContain('port in ');
  });

  it('has its default where it is not given', () => {
    expect(load({})).toMatchObject({
      dataDir: resolve('data'),
      host: '127.0.0.1',
      compareWith: null,
      reusePort: false,
      readOnly: false,
      writerSettings: [],
      files: [],
      kafka: null,
      scan: null,
      ledgerApi: null,
      postgres: null,
      migrationId: null,
      snapshotPeriodUs: null,
      dso: null,
      emptyOwners: 'zero',
      onBadUpdate: 'halt',
      ownersMax: 1000,
      bodyBytesMax: 1_048_576,
      decodeWorkers: null,
      recordTimeAheadMaxUs: 3_600_000_000,
      recordTimeGapMaxUs: 34_560_000_000_000,
      readyLagMaxMs: 60_000,
      corsOrigins: ['*'],
      trustedProxies: [],
      users: expect.objectContaining({ authServices: [], lifetimeMaxS: null, usersMax: 100_000 }),
    });
  });

  it('has relative paths that start at the folder of the file, or at the working directory', () => {
    const file = { data: 'd', file: ['a.ndjson', '-', '/b'] };
    expect(load({ file })).toMatchObject({ dataDir: join(folder, 'd'), files: [join(folder, 'a.ndjson'), '-', '/b'] });
    expect(load({ env: { HOLDFAST_DATA: 'd' } }).dataDir).toBe(resolve('d'));
    expect(load({ args: ['--file', 'a', 'b', '--port', '1'] }).files).toEqual([resolve('a'), resolve('b')]);
  });

  it.each<[string, Given, boolean]>([
    ['is on where it is given', { args: ['--read-only'] }, true],
    ['stays off where the environment says so', { env: { HOLDFAST_READ_ONLY: 'false' } }, false],
    [
      'is off by an option that comes before the environment',
      { args: ['--read-only', 'false'], env: { HOLDFAST_READ_ONLY: 'true' } },
      false,
    ],
    ['is on by the file', { file: { readOnly: true } }, true],
  ])('that is a switch %s', (_name, given, expected) => {
    expect(load(given).readOnly).toBe(expected);
  });

  it.each<[variable: string, text: string, key: keyof Config, value: unknown]>([
    ['HOLDFAST_SNAPSHOT_PERIOD', '10m', 'snapshotPeriodUs', 600_000_000],
    ['HOLDFAST_SNAPSHOT_PERIOD', '1.5h', 'snapshotPeriodUs', 5_400_000_000],
    ['HOLDFAST_FORCE_SNAPSHOTS', '0', 'forceSnapshots', false],
    ['HOLDFAST_READY_LAG_MAX', '2m', 'readyLagMaxMs', 120_000],
    ['HOLDFAST_CORS_ORIGINS', '', 'corsOrigins', []],
    ['HOLDFAST_CORS_ORIGINS', 'https://a.example,http://b:81', 'corsOrigins', ['https://a.example', 'http://b:81']],
    ['HOLDFAST_TRUSTED_PROXIES', '10.0.0.1, ::1', 'trustedProxies', ['10.0.0.1', '::1']],
    ['HOLDFAST_METRICS_ADDRESS', '[::1]:9464', 'metricsAddress', { host: '::1', port: 9464 }],
    ['HOLDFAST_METRICS_ADDRESS', 'metrics.local:0', 'metricsAddress', { host: 'metrics.local', port: 0 }],
  ])('%s=%s is read', (variable, text, key, value) => {
    expect(load({ env: { [variable]: text } })[key]).toEqual(value);
  });

  it.each<[variable: string, text: string, expected: string]>([
    ['HOLDFAST_PORT', '65536', 'given "65536", expected a whole number from 0 to 65535'],
    ['HOLDFAST_SNAPSHOT_PERIOD', '7m', 'a duration from 1s to 24h that divides 24h'],
    ['HOLDFAST_RECORD_TIME_GAP_MAX', '36501d', 'given "36501d", expected a duration such as 500ms'],
    ['HOLDFAST_KAFKA_PARTITION_IDLE', '36501d', 'expected off, or a duration'],
    ['HOLDFAST_DSO', 'DSO', 'expected a party id'],
    ['HOLDFAST_EMPTY_OWNERS', 'none', 'Allowed choices are zero, omit'],
    ['HOLDFAST_FORCE_SNAPSHOTS', 'yes', 'expected true or false'],
    ['HOLDFAST_TRUSTED_PROXIES', '10.0.0', 'expected IP addresses'],
    ['HOLDFAST_CORS_ORIGINS', 'example.org', 'expected *, or origins'],
    ['HOLDFAST_KAFKA_BROKERS', 'broker', 'expected host:port'],
    ['HOLDFAST_METRICS_ADDRESS', '9464', 'expected a host and a port such as 127.0.0.1:9464'],
    ['HOLDFAST_METRICS_ADDRESS', '::1:9464', 'expected a host and a port'],
    ['HOLDFAST_METRICS_ADDRESS', '127.0.0.1:65536', 'expected a host and a port'],
    ['HOLDFAST_PROT', '1', 'no such setting'],
  ])('%s=%s is refused by name', (variable, text, expected) => {
    const message = refusalOf({ env: { [variable]: text } });
    expect(message).toContain(variable);
    expect(message).toContain(expected);
    expect(message).not.toContain('\n');
  });

  it('that is a wrong option is named as it was written', () => {
    expect(refusalOf({ options: { snapshotPeriod: '7m' } })).toMatch(/^--snapshot-period: given "7m"/);
  });

  it.each([
    ['HOLDFAST_SERVICE_HOST', '10.0.0.1'],
    ['HOLDFAST_PORT_8080_TCP_ADDR', '10.0.0.1'],
    ['HOLDFAST_PORT', 'tcp://10.0.0.1:8080'],
  ])('%s that Kubernetes sets is ignored with a warning', (name, value) => {
    const { config, warnings } = settingsOf([], { [name]: value });
    expect(config.port).toBe(8080);
    expect(warnings).toEqual([expect.stringContaining(name)]);
  });
});

describe('a configuration file', () => {
  it.each<[content: unknown, message: string]>([
    [{ prot: 1 }, 'prot in '],
    [{ ledger: { maxUsers: 0 } }, 'ledger.maxUsers'],
    [{ port: '80a' }, 'port in '],
    ['{"port": ', 'is not JSON'],
    [[], 'must contain one JSON object'],
  ])('of %j is refused', (content, message) => {
    expect(refusalOf({ file: content })).toContain(message);
  });

  it('that is no JSON is refused without repeating its content', () => {
    for (const secret of ['hush', "'hush'", '"\\hush"']) {
      const message = refusalOf({ file: `{"ledger": {"authServices": [\n{"secret":\n${secret}}]}}` });
      expect(message).toMatch(/ is not JSON: \S/);
      expect(message).not.toMatch(/ush|\n/);
    }
  });

  it('that is not there is refused', () => {
    expect(refusalOf({ env: { HOLDFAST_CONFIG: '/nonexistent.json' } })).toContain('cannot read /nonexistent.json');
  });
});

describe('the settings of a source', () => {
  const kafka = { kafkaBrokers: 'a:9092,b:9092', kafkaTopic: 'updates' };
  const password = join(folder, 'password');
  writeFileSync(password, 'secret\n');

  it('name a topic, with the password of its file without the newline at its end', () => {
    const topic = { brokers: ['a:9092', 'b:9092'], topic: 'updates', group: null, ssl: null, partitionIdleMs: null };
    expect(load({ options: kafka }).kafka).toEqual({ ...topic, sasl: null });
    const login = { kafkaSaslMechanism: 'plain', kafkaSaslUsername: 'me', kafkaSaslPasswordFile: password };
    const sasl = { mechanism: 'plain', username: 'me', password: 'secret' };
    expect(load({ options: { ...kafka, ...login, kafkaPartitionIdle: '30s' } }).kafka).toEqual({
      ...topic,
      sasl,
      partitionIdleMs: 30_000,
    });
    expect(load({ options: { ...kafka, kafkaPartitionIdle: 'off' } }).kafka?.partitionIdleMs).toBeNull();
  });

  it('name Scans, with or without the path of the operations', () => {
    const scan = 'https://a.example,http://b.example:8080/,https://c.example/api/scan/';
    expect(load({ options: { scan } }).scan).toEqual({
      urls: ['https://a.example/api/scan', 'http://b.example:8080/api/scan', 'https://c.example/api/scan'],
      pageSize: 500,
      pollIntervalMs: 10_000,
      readyLagMaxMs: 60_000,
      ca: null,
      start: 'snapshot',
    });
  });

  describe('with TLS', () => {
    const text = (file: string): string => readFileSync(file, 'utf8');
    let files: Certificates;
    beforeAll(async () => {
      files = await createCertificates(folder);
    });

    it('name an authority, and a certificate with its key', () => {
      const ssl = (options: Values): unknown => load({ options: { ...kafka, ...options } }).kafka?.ssl;
      expect(ssl({ kafkaSslCa: files.ca })).toEqual({ ca: text(files.ca), cert: null, key: null });
      const { clientCert: kafkaSslCert, clientKey: kafkaSslKey } = files;
      expect(ssl({ kafkaSslCert, kafkaSslKey })).toEqual({
        ca: null,
        cert: text(kafkaSslCert),
        key: text(kafkaSslKey),
      });
    });

    it('are refused with files that have something else, of which nothing is repeated', () => {
      const { clientCert, clientKey, broker } = files;
      const cases: readonly [options: Values, message: string][] = [
        [{ kafkaSslCa: password }, `--kafka-ssl-ca: ${password} contains no PEM certificate`],
        [{ kafkaSslCa: clientKey }, `--kafka-ssl-ca: ${clientKey} contains no PEM certificate`],
        [{ kafkaSslCert: clientCert, kafkaSslKey: password }, `--kafka-ssl-key: ${password} does not contain`],
        [{ kafkaSslCert: clientCert, kafkaSslKey: broker }, `--kafka-ssl-key: ${broker} does not contain`],
      ];
      for (const [options, message] of cases) {
        const refused = refusalOf({ options: { ...kafka, ...options } });
        expect(refused).toContain(message);
        expect(refused).not.toContain('secret');
      }
    });
  });

  const scan = { scan: 'https://a.example' };
  it.each<[options: Values, message: string]>([
    [{ kafkaTopic: 't' }, '--kafka-topic needs --kafka-brokers too'],
    [{ ...kafka, kafkaSslCert: password }, '--kafka-ssl-cert needs --kafka-ssl-key'],
    [{ ...kafka, kafkaSaslUsername: 'me' }, '--kafka-sasl-username needs --kafka-sasl-mechanism'],
    [{ ...kafka, kafkaSslCa: '/nonexistent.pem' }, '--kafka-ssl-ca: cannot read /nonexistent.pem'],
    [{ scan: 'scan.example' }, '--scan: given "scan.example", expected http or https addresses without a user'],
    [{ scan: 'https://me:secret@a.example' }, 'expected http or https addresses without a user'],
    [{ scan: 'https://a.example,https://a.example/api/scan' }, '--scan: https://a.example/api/scan is given twice'],
    [{ scanPageSize: '10' }, '--scan-page-size needs --scan too'],
    [{ start: 'beginning' }, '--start needs --scan or --ledger-api too'],
    [{ ...scan, ledgerApi: 'http://p', ledgerApiParties: 'all' }, '--ledger-api cannot be given with --scan'],
  ])('%o are refused: %s', (options, message) => {
    expect(refusalOf({ options })).toContain(message);
  });
});
