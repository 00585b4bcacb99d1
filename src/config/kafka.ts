import { createSecureContext } from 'node:tls';
import type { TopicSettings } from '../feed/kafka/kafka-client.ts';
import { readNamed, readSecret } from '../named-file.ts';
import { certificateOf, unusable } from './certificate.ts';
import { KAFKA_SETTINGS } from './connection-settings.ts';
import { keysOf } from './setting.ts';
import { type GivenSettings, needs, optionName } from './settings.ts';

export const KAFKA_KEYS = keysOf(KAFKA_SETTINGS);

/** Null where no Kafka setting is given. Throws a Refusal for a missing one, and for a file that cannot be read. */
export function kafkaConfig(given: GivenSettings): TopicSettings | null {
  const first = KAFKA_KEYS.find((key) => given[key] !== undefined && given[key] !== false);
  if (first === undefined) return null;
  if (given.kafkaBrokers === undefined || given.kafkaBrokers.length === 0) throw needs(first, 'kafkaBrokers');
  if (given.kafkaTopic === undefined) throw needs(first, 'kafkaTopic');
  return {
    brokers: given.kafkaBrokers,
    topic: given.kafkaTopic,
    group: given.kafkaGroup ?? null,
    ssl: sslConfig(given),
    sasl: saslConfig(given),
    partitionIdleMs: given.kafkaPartitionIdle ?? null,
  };
}

function sslConfig(given: GivenSettings): TopicSettings['ssl'] {
  const { kafkaSsl, kafkaSslCa, kafkaSslCert, kafkaSslKey } = given;
  if (kafkaSslCert !== undefined && kafkaSslKey === undefined) throw needs('kafkaSslCert', 'kafkaSslKey');
  if (kafkaSslKey !== undefined && kafkaSslCert === undefined) throw needs('kafkaSslKey', 'kafkaSslCert');
  const wanted = kafkaSsl ?? (kafkaSslCa !== undefined || kafkaSslCert !== undefined);
  if (!wanted) return null;
  const ca = certificateOf('kafkaSslCa', kafkaSslCa);
  const cert = certificateOf('kafkaSslCert', kafkaSslCert);
  return { ca, cert, key: privateKeyOf(kafkaSslKey, cert) };
}

function privateKeyOf(file: string | undefined, cert: string | null): string | null {
  if (file === undefined || cert === null) return null;
  const key = readNamed(optionName('kafkaSslKey'), file).toString();
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const wanted = `${file} does not contain the certificate's private key, as PEM and without a passphrase`;
    throw unusable('kafkaSslKey', wanted, error);
  }
  return key;
}

function saslConfig(given: GivenSettings): TopicSettings['sasl'] {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPasswordFile: file } = given;
  if (mechanism === undefined) {
    if (username !== undefined) throw needs('kafkaSaslUsername', 'kafkaSaslMechanism');
    if (file !== undefined) throw needs('kafkaSaslPasswordFile', 'kafkaSaslMechanism');
    return null;
  }
  if (username === undefined) throw needs('kafkaSaslMechanism', 'kafkaSaslUsername');
  if (file === undefined) throw needs('kafkaSaslMechanism', 'kafkaSaslPasswordFile');
  return { mechanism, username, password: readSecret(optionName('kafkaSaslPasswordFile'), file).toString() };
}
