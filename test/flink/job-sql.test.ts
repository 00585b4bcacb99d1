import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { jobSqlOf, readJobSql } from '../../src/flink/job-sql.ts';
import { kafkaOptions, secretsOf, storeOptions } from '../../src/flink/parameters.ts';

const PASSWORD = `it's "x\\y" ü;\n`;
const KAFKA = { brokers: ['a:9092', 'b:9092'], ssl: null, sasl: null };
const STORE = { host: 'db', port: 5432, database: 'hold fast', user: 'engine', password: PASSWORD, ssl: null };
const COINS = { topic: 'coins', group: 'g' };

describe("the job's SQL", () => {
  const parameters = {
    jobName: "o'hara",
    jobId: 'ab12',
    parallelism: '2',
    checkpointInterval: '1000 ms',
    periodMs: 600_000,
    periodSeconds: '600',
    kafka: kafkaOptions(KAFKA, COINS),
    store: storeOptions(STORE),
  };

  it('is sent as statements, with every value quoted', () => {
    const statements = readJobSql().statements(parameters);
    expect(statements[0]).toBe("SET 'pipeline.name' = 'o''hara'");
    expect(statements.filter((each) => !/^(SET|CREATE|EXECUTE)/.test(each))).toEqual([]);
    expect(statements.at(-1)).toMatch(/^EXECUTE STATEMENT SET BEGIN\nINSERT[\s\S]*;\nEND;$/);
    const tables = statements.filter((each) => each.includes("'jdbc'"));
    expect(tables.length).toBeGreaterThan(5);
    for (const each of tables) expect(each).toContain(`'password' = 'it''s "x\\y" ü;\n'`);
    expect(statements.join('\n')).not.toMatch(/\$\{|--/);
  });

  it('refuses a parameter that is missing, and one that it does not have', () => {
    const { kafka: _, ...fewer } = parameters;
    expect(() => readJobSql().statements(fewer)).toThrow('needs a parameter kafka');
    expect(() => readJobSql().statements({ ...parameters, more: '1' })).toThrow('has no parameter more');
    expect(() => readJobSql().statements({ ...parameters, kafka: 'x' })).toThrow('another kind of parameter kafka');
    expect(() => readJobSql().statements({ ...parameters, periodMs: 0.5 })).toThrow('parameter periodMs');
  });

  it('puts a value in once, whatever is in it', () => {
    const { statements } = jobSqlOf('SET ${a};\nSET ${b};\n');
    expect(statements({ a: "${b}';\nDROP", b: '$&' })).toEqual(["SET '${b}'';\nDROP'", "SET '$&'"]);
  });

  it('has a digest that comments do not change, and a word does', () => {
    const digest = (text: string): string => jobSqlOf(text).digest;
    expect(digest('-- one\nSET a;\n')).toBe(digest('SET a;\n  -- two\n'));
    expect(digest('SET a;\n')).not.toBe(digest('SET b;\n'));
  });
});

describe('the options of the tables', () => {
  it('have the login and the certificates themselves, each in the form that Kafka reads', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
    const sasl = { mechanism: 'scram-sha-256', username: 'al"ice', password: PASSWORD } as const;
    const connection = { ...KAFKA, ssl: { ca: 'CA', cert: 'CERT', key }, sasl };
    const options = kafkaOptions(connection, COINS);
    expect(options).toMatchObject({
      'properties.bootstrap.servers': 'a:9092,b:9092',
      'properties.security.protocol': 'SASL_SSL',
      'properties.ssl.truststore.certificates': 'CA',
      'properties.sasl.mechanism': 'SCRAM-SHA-256',
    });
    expect(options['properties.ssl.keystore.key']).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(options['properties.sasl.jaas.config']).toMatch(
      /ScramLoginModule required username="al\\"ice" password="it's \\"x\\\\y\\" ü;\n";$/,
    );
    const secrets = secretsOf(connection, STORE);
    for (const line of key.split('\n').filter((each) => !each.startsWith('---') && each !== ''))
      expect(secrets).toContain(line);
  });

  it('have an address of the store that says what Holdfast was told, and no password', () => {
    const { url, username } = storeOptions({ ...STORE, host: '::1', ssl: { ca: null } });
    const { host, pathname, searchParams } = new URL(url!.slice('jdbc:'.length));
    expect([host, pathname, username]).toEqual(['[::1]:5432', '/hold%20fast', 'engine']);
    expect(searchParams.get('sslmode')).toBe('verify-full');
  });
});
