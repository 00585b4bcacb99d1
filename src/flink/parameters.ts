import { createPrivateKey } from 'node:crypto';
import type { KafkaConnection } from '../feed/kafka/kafka-client.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import type { SqlOptions } from './job-sql.ts';

/** How the job's connections to PostgreSQL are named there. */
export const ENGINE_NAME = 'holdfast flink job';

/** What a person sees of the job on Flink's pages: which store it fills. */
export function jobName({ host, port, database }: PostgresSettings): string {
  return `holdfast ${host}:${port}/${database}`;
}

/** In the jar of Flink's SQL connector Kafka's classes have other names than Kafka's own. */
const LOGIN_MODULES = 'org.apache.flink.kafka.shaded.org.apache.kafka.common.security';

/** Options of a table that reads a topic: where, as whom, and with what certificates, all of them in the options themselves. */
export function kafkaOptions(
  { brokers, ssl, sasl }: KafkaConnection,
  { topic, group }: { readonly topic: string; readonly group: string },
): SqlOptions {
  return {
    connector: 'kafka',
    topic,
    'properties.bootstrap.servers': brokers.join(','),
    'properties.group.id': group,
    'properties.security.protocol': `${sasl === null ? '' : 'SASL_'}${ssl === null ? 'PLAINTEXT' : 'SSL'}`,
    ...(ssl?.ca != null && {
      'properties.ssl.truststore.type': 'PEM',
      'properties.ssl.truststore.certificates': ssl.ca,
    }),
    ...(ssl?.cert != null &&
      ssl.key !== null && {
        'properties.ssl.keystore.type': 'PEM',
        'properties.ssl.keystore.certificate.chain': ssl.cert,
        'properties.ssl.keystore.key': pkcs8(ssl.key),
      }),
    ...(sasl !== null && {
      'properties.sasl.mechanism': sasl.mechanism.toUpperCase(),
      'properties.sasl.jaas.config': loginConfiguration(sasl),
    }),
  };
}

/** The only form of a key that Kafka reads as PEM. */
function pkcs8(pem: string): string {
  return createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function loginConfiguration({ mechanism, username, password }: NonNullable<KafkaConnection['sasl']>): string {
  const module = mechanism === 'plain' ? 'plain.PlainLoginModule' : 'scram.ScramLoginModule';
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return `${LOGIN_MODULES}.${module} required username=${quoted(username)} password=${quoted(password)};`;
}

/** Options of a table in the store, but for its name. */
export function storeOptions({ host, port, database, user, password, ssl }: PostgresSettings): SqlOptions {
  const parameters = new URLSearchParams({
    ApplicationName: ENGINE_NAME,
    reWriteBatchedInserts: 'true',
    sslmode: ssl === null ? 'disable' : 'verify-full',
    ...(ssl === null
      ? {}
      : ssl.ca === null
        ? { sslfactory: 'org.postgresql.ssl.DefaultJavaSSLFactory' }
        : { sslfactory: 'org.postgresql.ssl.SingleCertValidatingFactory', sslfactoryarg: ssl.ca }),
  });
  const at = host.includes(':') ? `[${host}]` : host;
  return {
    connector: 'jdbc',
    url: `jdbc:postgresql://${at}:${port}/${encodeURIComponent(database)}?${parameters}`,
    username: user,
    // It wants both or none.
    password: password ?? '',
  };
}

/** What of the options no message may show: all of a password and of a key, and each of its lines. */
export function secretsOf(kafka: KafkaConnection | null, { password }: PostgresSettings): readonly string[] {
  const { sasl, ssl } = kafka ?? { sasl: null, ssl: null };
  const keys = ssl?.key == null ? [] : [ssl.key, pkcs8(ssl.key)];
  const lines = keys.flatMap((pem) => pem.split('\n').filter((line) => !line.startsWith('-----')));
  const login =
    sasl === null ? [] : [loginConfiguration(sasl), sasl.password, sasl.password.replaceAll(/["\\]/g, '\\$&')];
  return [...login, ...keys, ...lines, ...(password === null ? [] : [password])].filter((secret) => secret !== '');
}
