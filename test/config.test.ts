import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Config, loadConfig } from '../src/config.ts';
import { Refusal } from '../src/refusal.ts';
import { type Certificates, createCertificates } from './support/kafka/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));

function writeConfig(value: unknown): string {
  const name = join(folder, 'holdfast.json');
  writeFileSync(name, typeof value === 'string' ? value : JSON.stringify(value));
  return name;
}

interface Given {
  readonly options?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly file?: unknown;
}

function load({ options = {}, env = {}, file }: Given): Config {
  const config = file === undefined ? {} : { config: writeConfig(file) };
  return loadConfig({ options: { ...options, ...config }, env }).config;
}

function refusalOf(given: Given): string {
  try {
    load(given);
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    return (error as Refusal).message;
  }
  throw new Error('the settings were accepted');
}

describe('where a setting comes from', () => {
  test('an option comes before the environment, that before the file, that before the default', () => {
    const [options, env, file] = [{ port: '1' }, { HOLDFAST_PORT: '2' }, { port: 3 }];
    expect(load({ options, env, file }).port).toBe(1);
    expect(load({ env, file }).port).toBe(2);
    expect(load({ file }).port).toBe(3);
    expect(load({}).port).toBe(8080);
  });

  test('the environment may name the configuration file', () => {
    const { config } = loadConfig({ options: {}, env: { HOLDFAST_CONFIG: writeConfig({ port: 3 }) } });
    expect(config.port).toBe(3);
  });

  test('a value that another source overrides is still validated', () => {
    expect(refusalOf({ options: { port: '1' }, file: { port: -1 } })).toContain('port in ');
  });

  test('without any setting every default applies', () => {
    expect(load({})).toEqual({
      dataDir: resolve('data'),
      host: '127.0.0.1',
      dashboard: 'on',
      compareWith: null,
      port: 8080,
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
      forceSnapshots: false,
      ownersMax: 1000,
      bodyBytesMax: 1_048_576,
      decodeWorkers: null,
      recordTimeAheadMaxUs: 3_600_000_000,
      recordTimeGapMaxUs: 34_560_000_000_000,
      readyLagMaxMs: 60_000,
      corsOrigins: ['*'],
      trustedProxies: [],
      participantId: null,
      logLevel: 'info',
      users: expect.objectContaining({ authServices: [], lifetimeMaxS: null, usersMax: 100_000 }),
    });
  });

  test('the result is frozen, lists included', () => {
    const config = load({ env: { HOLDFAST_CORS_ORIGINS: 'https://a.example' } });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.corsOrigins)).toBe(true);
  });

  test('relative paths in the file count from its folder, others from the working directory', () => {
    const file = { data: 'd', file: ['a.ndjson', '-', '/b'] };
    expect(load({ file })).toMatchObject({ dataDir: join(folder, 'd'), files: [join(folder, 'a.ndjson'), '-', '/b'] });
    expect(load({ env: { HOLDFAST_DATA: 'd' } }).dataDir).toBe(resolve('d'));
  });
});

describe('what a setting may say', () => {
  const accepted: readonly [variable: string, text: string, key: keyof Config, value: unknown][] = [
    ['HOLDFAST_SNAPSHOT_PERIOD', '10m', 'snapshotPeriodUs', 600_000_000],
    ['HOLDFAST_SNAPSHOT_PERIOD', '24h', 'snapshotPeriodUs', 86_400_000_000],
    ['HOLDFAST_SNAPSHOT_PERIOD', '1.5h', 'snapshotPeriodUs', 5_400_000_000],
    ['HOLDFAST_MIGRATION_ID', '4', 'migrationId', 4],
    ['HOLDFAST_FORCE_SNAPSHOTS', 'true', 'forceSnapshots', true],
    ['HOLDFAST_FORCE_SNAPSHOTS', '0', 'forceSnapshots', false],
    ['HOLDFAST_RECORD_TIME_AHEAD_MAX', '500ms', 'recordTimeAheadMaxUs', 500_000],
    ['HOLDFAST_READY_LAG_MAX', '2m', 'readyLagMaxMs', 120_000],
    ['HOLDFAST_CORS_ORIGINS', '', 'corsOrigins', []],
    ['HOLDFAST_CORS_ORIGINS', 'https://a.example,http://b:81', 'corsOrigins', ['https://a.example', 'http://b:81']],
    ['HOLDFAST_TRUSTED_PROXIES', '10.0.0.1, ::1', 'trustedProxies', ['10.0.0.1', '::1']],
    ['HOLDFAST_DSO', 'DSO::1220ab', 'dso', 'DSO::1220ab'],
  ];
  test.each(accepted)('%s=%s is %s', (variable, text, key, value) => {
    expect(load({ env: { [variable]: text } })[key]).toEqual(value);
  });

  const refused: readonly [variable: string, text: string, expected: string][] = [
    ['HOLDFAST_PORT', '65536', 'given "65536", expected a whole number from 0 to 65535'],
    ['HOLDFAST_PORT', '8o80', 'given "8o80"'],
    ['HOLDFAST_PORT', '', 'given ""'],
    ['HOLDFAST_SNAPSHOT_PERIOD', '7m', 'divides 24h'],
    ['HOLDFAST_SNAPSHOT_PERIOD', '500ms', 'a duration from 1s to 24h that divides 24h'],
    ['HOLDFAST_SNAPSHOT_PERIOD', '48h', 'divides 24h'],
    ['HOLDFAST_SNAPSHOT_PERIOD', '10', 'expected a duration'],
    ['HOLDFAST_RECORD_TIME_GAP_MAX', '36501d', 'given "36501d", expected a duration such as 500ms'],
    ['HOLDFAST_RECORD_TIME_GAP_MAX', '36501d', ', from 1s to 36500d'],
    ['HOLDFAST_RECORD_TIME_AHEAD_MAX', '36501d', ', from 0s to 36500d'],
    ['HOLDFAST_READY_LAG_MAX', '0s', ', from 1ms to 36500d'],
    ['HOLDFAST_KAFKA_PARTITION_IDLE', '36501d', 'expected off, or a duration'],
    ['HOLDFAST_KAFKA_PARTITION_IDLE', '36501d', ', from 1ms to 36500d'],
    ['HOLDFAST_DSO', 'DSO', 'expected a party id'],
    ['HOLDFAST_EMPTY_OWNERS', 'none', 'expected zero or omit'],
    ['HOLDFAST_ON_BAD_UPDATE', 'skip', 'expected halt or quarantine'],
    ['HOLDFAST_OWNERS_MAX', '0', 'expected a whole number from 1'],
    ['HOLDFAST_BODY_BYTES_MAX', '1e6', 'expected a whole number of bytes'],
    ['HOLDFAST_FORCE_SNAPSHOTS', 'yes', 'expected true or false'],
    ['HOLDFAST_TRUSTED_PROXIES', '10.0.0', 'expected IP addresses'],
    ['HOLDFAST_CORS_ORIGINS', 'example.org', 'expected *, or origins'],
    ['HOLDFAST_LOG_LEVEL', 'loud', 'expected trace, debug'],
    ['HOLDFAST_KAFKA_BROKERS', 'broker', 'expected host:port'],
    ['HOLDFAST_PROT', '1', 'no such setting'],
    ['HOLDFAST_TOSTRING', '1', 'no such setting'],
  ];
  test.each(refused)('%s=%s is refused by name', (variable, text, expected) => {
    const message = refusalOf({ env: { [variable]: text } });
    expect(message).toMatch(new RegExp(`^${variable}: `));
    expect(message).toContain(expected);
    expect(message).not.toContain('\n');
  });

  test('an option that is refused is named as it was written', () => {
    expect(refusalOf({ options: { snapshotPeriod: '7m' } })).toMatch(/^--snapshot-period: given "7m"/);
  });

  const files: readonly [content: unknown, message: string][] = [
    [{ prot: 1 }, 'prot in '],
    [{ ledger: { maxUsers: 0 } }, 'ledger.maxUsers'],
    [{ toString: 1 }, 'toString in '],
    [{ port: '80a' }, 'port in '],
    [{ forceSnapshots: 'maybe' }, 'forceSnapshots in '],
    ['{"port": ', 'is not JSON'],
    [[], 'must contain one JSON object'],
  ];
  test.each(files)('a configuration file %j is refused', (content, message) => {
    expect(refusalOf({ file: content })).toContain(message);
  });

  test('a configuration file that is no JSON is refused without repeating its content', () => {
    for (const secret of ['hush', "'hush'", '"\\hush"']) {
      const message = refusalOf({ file: `{"ledger": {"authServices": [\n{"secret":\n${secret}}]}}` });
      expect(message).toMatch(/ is not JSON: \S/);
      expect(message).not.toMatch(/ush|\n/);
    }
  });

  test('a configuration file that is not there is refused', () => {
    expect(refusalOf({ options: { config: '/nonexistent.json' } })).toContain('cannot read /nonexistent.json');
  });
});

describe('what Kubernetes injects', () => {
  test.each([
    ['HOLDFAST_SERVICE_HOST', '10.0.0.1'],
    ['HOLDFAST_PORT_8080_TCP_ADDR', '10.0.0.1'],
    ['HOLDFAST_PORT', 'tcp://10.0.0.1:8080'],
  ])('%s is ignored with a warning', (name, value) => {
    const { config, warnings } = loadConfig({ options: {}, env: { [name]: value } });
    expect(config.port).toBe(8080);
    expect(warnings).toEqual([expect.stringContaining(name)]);
  });
});

describe('Kafka', () => {
  const source = { kafkaBrokers: 'a:9092,b:9092', kafkaTopic: 'updates' };
  const password = join(folder, 'password');
  writeFileSync(password, 'secret\n');

  test('brokers and a topic are a source', () => {
    expect(load({ options: source }).kafka).toEqual({
      brokers: ['a:9092', 'b:9092'],
      topic: 'updates',
      group: null,
      ssl: null,
      sasl: null,
      partitionIdleMs: null,
    });
  });

  test('the password is read from its file, without the newline at its end', () => {
    const login = { kafkaSaslMechanism: 'PLAIN', kafkaSaslUsername: 'me', kafkaSaslPasswordFile: password };
    const sasl = { mechanism: 'plain', username: 'me', password: 'secret' };
    expect(load({ options: { ...source, ...login } }).kafka?.sasl).toEqual(sasl);
  });

  describe('TLS', () => {
    const text = (file: string): string => readFileSync(file, 'utf8');
    let files: Certificates;
    beforeAll(async () => {
      files = await createCertificates(folder);
    });

    test('is turned on by naming an authority', () => {
      const { kafka } = load({ options: { ...source, kafkaSslCa: files.ca } });
      expect(kafka?.ssl).toEqual({ ca: text(files.ca), cert: null, key: null });
    });

    test('takes a certificate with its key', () => {
      const { clientCert: kafkaSslCert, clientKey: kafkaSslKey } = files;
      const { kafka } = load({ options: { ...source, kafkaSslCert, kafkaSslKey } });
      expect(kafka?.ssl).toEqual({ ca: null, cert: text(kafkaSslCert), key: text(kafkaSslKey) });
    });

    test('refuses files that hold something else, and repeats nothing of them', () => {
      const { clientCert, clientKey, broker } = files;
      const cases: readonly [options: Record<string, string>, message: string][] = [
        [{ kafkaSslCa: password }, `--kafka-ssl-ca: ${password} contains no PEM certificate`],
        [{ kafkaSslCa: clientKey }, `--kafka-ssl-ca: ${clientKey} contains no PEM certificate`],
        [
          { kafkaSslCert: password, kafkaSslKey: clientKey },
          `--kafka-ssl-cert: ${password} contains no PEM certificate`,
        ],
        [{ kafkaSslCert: clientCert, kafkaSslKey: password }, `--kafka-ssl-key: ${password} does not contain`],
        [{ kafkaSslCert: clientCert, kafkaSslKey: broker }, `--kafka-ssl-key: ${broker} does not contain`],
      ];
      for (const [options, message] of cases) {
        const refused = refusalOf({ options: { ...source, ...options } });
        expect(refused).toContain(message);
        expect(refused).not.toContain('secret');
      }
    });
  });

  const incomplete: readonly [options: Record<string, unknown>, message: string][] = [
    [{ kafkaTopic: 't' }, '--kafka-topic needs --kafka-brokers too'],
    [{ kafkaBrokers: 'a:1' }, '--kafka-brokers needs --kafka-topic too'],
    [{ ...source, kafkaSslCert: password }, '--kafka-ssl-cert needs --kafka-ssl-key'],
    [{ ...source, kafkaSaslUsername: 'me' }, '--kafka-sasl-username needs --kafka-sasl-mechanism'],
    [{ ...source, kafkaSaslMechanism: 'plain' }, '--kafka-sasl-mechanism needs --kafka-sasl-username'],
    [{ ...source, kafkaSslCa: '/nonexistent.pem' }, '--kafka-ssl-ca: cannot read /nonexistent.pem'],
  ];
  test.each(incomplete)('%j is refused', (options, message) => {
    expect(refusalOf({ options })).toContain(message);
  });

  test('an idle limit is a duration, or off', () => {
    expect(load({ options: { ...source, kafkaPartitionIdle: '30s' } }).kafka?.partitionIdleMs).toBe(30_000);
    expect(load({ options: { ...source, kafkaPartitionIdle: 'off' } }).kafka?.partitionIdleMs).toBeNull();
  });
});
