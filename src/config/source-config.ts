import { createSecureContext } from 'node:tls';
import type { TopicSettings } from '../feed/kafka/kafka-client.ts';
import type { LedgerApiSettings, OauthSettings, ScanSettings } from '../feed/network/network-settings.ts';
import { readCertificate, readNamed, readSecret, requireUsable } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { optionName } from '../setting-kinds.ts';
import type { Settings } from './setting-list.ts';

/** Each of these is null where its source is not given, and throws a Refusal for a file that cannot be read. */
export function kafkaConfig(settings: Settings): TopicSettings | null {
  const { kafkaBrokers: brokers, kafkaTopic: topic, kafkaGroup: group, kafkaPartitionIdle } = settings;
  if (brokers === null || topic === null) return null;
  const ssl = sslConfig(settings);
  return { brokers, topic, group, ssl, sasl: saslConfig(settings), partitionIdleMs: kafkaPartitionIdle };
}

function sslConfig({ kafkaSsl, kafkaSslCa, kafkaSslCert, kafkaSslKey }: Settings): TopicSettings['ssl'] {
  if (!(kafkaSsl ?? (kafkaSslCa !== null || kafkaSslCert !== null))) return null;
  const ca = readCertificate(optionName('kafkaSslCa'), kafkaSslCa);
  const cert = readCertificate(optionName('kafkaSslCert'), kafkaSslCert);
  if (cert === null || kafkaSslKey === null) return { ca, cert: null, key: null };
  const key = readNamed(optionName('kafkaSslKey'), kafkaSslKey).toString();
  const wanted = `${kafkaSslKey} does not contain the certificate's private key, as PEM and without a passphrase`;
  requireUsable(optionName('kafkaSslKey'), wanted, () => createSecureContext({ cert, key }));
  return { ca, cert, key };
}

function saslConfig(settings: Settings): TopicSettings['sasl'] {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPasswordFile: file } = settings;
  if (mechanism === null || username === null || file === null) return null;
  return { mechanism, username, password: readSecret(optionName('kafkaSaslPasswordFile'), file).toString() };
}

export function scanConfig(settings: Settings): ScanSettings | null {
  const { scan, scanPageSize: pageSize, scanPollInterval: pollIntervalMs, readyLagMaxMs, start, scanCa } = settings;
  if (scan === null || scan.length === 0) return null;
  const urls = scan.map(operationsOf);
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (twice !== undefined) throw new Refusal(`${optionName('scan')}: ${twice} is given twice`);
  return { urls, pageSize, pollIntervalMs, readyLagMaxMs, ca: readCertificate(optionName('scanCa'), scanCa), start };
}

/** The path below which a Scan's operations are may be given or left out. */
function operationsOf(given: string): string {
  const url = withoutSlash(given);
  return url.endsWith('/api/scan') ? url : `${url}/api/scan`;
}

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}

export function ledgerApiConfig(settings: Settings, oauth: OauthSettings | null): LedgerApiSettings | null {
  const { ledgerApi, ledgerApiParties: parties, ledgerApiTokenFile: tokenFile, ledgerApiCa, start } = settings;
  if (oauth !== null && ledgerApi === null) throw new Refusal(`ledgerApi.oauth needs ${optionName('ledgerApi')} too`);
  if (ledgerApi === null || parties === null) return null;
  if (parties.includes('all') && parties.length > 1)
    throw new Refusal(`${optionName('ledgerApiParties')}: given all and others, expected all alone`);
  if (oauth !== null && tokenFile !== null)
    throw new Refusal(`${optionName('ledgerApiTokenFile')} cannot be given with ledgerApi.oauth: each brings a token`);
  return {
    url: withoutSlash(ledgerApi),
    parties: parties[0] === 'all' ? 'all' : parties,
    tokens: settings.tokens !== 'off',
    tokenFile,
    oauth,
    ca: readCertificate(optionName('ledgerApiCa'), ledgerApiCa),
    start,
  };
}
