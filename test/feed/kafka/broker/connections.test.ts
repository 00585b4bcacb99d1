import { readFileSync } from 'node:fs';
import { expect, inject, it } from 'vitest';
import type { KafkaConnection } from '../../../../src/feed/kafka/kafka-client.ts';
import { SASL_USER } from '../../../support/kafka/broker.ts';
import { keepingLogger, type Reading, readingOptions, startReading } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { runProgram } from '../../../support/program/program.ts';

const { addresses, certificates } = inject('kafka');
const directory = freshDirectory();

const logger = keepingLogger();

function connecting({ broker, ...rest }: Omit<KafkaConnection, 'brokers'> & { broker: string }, name = 'any'): Reading {
  return startReading(readingOptions(broker, { name }, { ...rest, logger }));
}

const ca = readFileSync(certificates.ca, 'utf8');
const login = { mechanism: 'plain', ...SASL_USER } as const;
const tls = { ca: null, cert: null, key: null };

it('reads a topic with each login over TLS, and with a client certificate, once the topic is there', async () => {
  const topic = await createTopic(addresses.plain);
  await topic.admin((admin) => admin.deleteTopics({ topics: [topic.name] }));
  const logins = (['plain', 'scram-sha-256', 'scram-sha-512'] as const).map((mechanism) => {
    return connecting(
      { broker: addresses.saslTls, ssl: { ...tls, ca }, sasl: { mechanism, ...SASL_USER } },
      topic.name,
    );
  });
  const [cert, key] = [certificates.clientCert, certificates.clientKey].map((file) => readFileSync(file, 'utf8'));
  const withCertificate = connecting(
    { broker: addresses.tls, ssl: { ca, cert: cert!, key: key! }, sasl: null },
    topic.name,
  );
  await using readings = new AsyncDisposableStack();
  const all = [...logins, withCertificate].map((reading) => readings.use(reading));
  const missing = `cannot read topic ${topic.name}: there is no topic ${topic.name} on this cluster`;
  for (const reading of all) await reading.until('missing', () => reading.status().stopped === missing);
  await topic.admin((admin) => admin.createTopics({ topics: [{ topic: topic.name }], waitForLeaders: false }));
  await topic.untilLed();
  await topic.send(emptyRows(3));
  for (const reading of all) await reading.until('read', () => reading.messages.length === 3);
  const told = [logger.lines, ...all.map((reading) => reading.status())];
  expect(JSON.stringify(told)).not.toContain(SASL_USER.password);
});

it.each([
  ['that asks for a login, without one', { broker: addresses.sasl, ssl: null, sasl: null }, '--kafka-sasl-mechanism'],
  ['that asks for TLS, without it', { broker: addresses.saslTls, ssl: null, sasl: login }, '--kafka-ssl'],
  ['that knows no TLS, with it', { broker: addresses.sasl, ssl: tls, sasl: login }, '--kafka-ssl'],
  ['of an unknown authority', { broker: addresses.saslTls, ssl: tls, sasl: login }, '--kafka-ssl-ca'],
  ['that asks for a certificate', { broker: addresses.tls, ssl: { ...tls, ca }, sasl: null }, '--kafka-ssl-cert'],
])('a broker %s: what is tried again names the broker and the setting', async (_, connection, setting) => {
  await using reading = connecting(connection);
  // A broker that is busy may be too slow before that, which says something else.
  const stopped = (): string => reading.status().stopped ?? '';
  await expect.poll(stopped).toMatch(/^cannot read topic any: /);
  await expect.poll(stopped).toContain(`(broker ${connection.broker})`);
  await expect.poll(stopped).toContain(setting);
});

it('a login that a broker does not take ends the reading, and names the setting', async () => {
  await using reading = connecting({ broker: addresses.plain, ssl: null, sasl: login });
  expect(String(await reading.failure())).toContain('--kafka-sasl-mechanism');
});

it('a wrong password, which will never pass, ends the process, which says why', async () => {
  const password = directory.writeLines('password', ['wrong']);
  const { code, stderr } = await runProgram([
    ...['serve', '--data', directory.at('views'), '--port', '0', '--kafka-topic', 't'],
    ...['--kafka-brokers', addresses.sasl, '--kafka-sasl-mechanism', 'plain'],
    ...['--kafka-sasl-username', SASL_USER.username, '--kafka-sasl-password-file', password],
  ]);
  expect(stderr.trim().split('\n').at(-1)).toMatch(/^holdfast: the Kafka consumer stopped: .*[Aa]uthentication/);
  expect(code).toBe(1);
});
