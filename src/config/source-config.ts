import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TopicSettings } from '../feed/kafka/kafka-client.ts';
import type { LedgerApiSettings, OauthSettings, ScanSettings } from '../feed/network/network-settings.ts';
import { readNamed, readSecret } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import type { PostgresSettings } from '../scale/postgres-connection.ts';
import { optionName, SSL_MODES } from './setting-kinds.ts';
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
  const ca = certificateOf('kafkaSslCa', kafkaSslCa);
  const cert = certificateOf('kafkaSslCert', kafkaSslCert);
  if (cert === null || kafkaSslKey === null) return { ca, cert: null, key: null };
  const key = readNamed(optionName('kafkaSslKey'), kafkaSslKey).toString();
  const wanted = `${kafkaSslKey} does not contain the certificate's private key, as PEM and without a passphrase`;
  requireUsable('kafkaSslKey', wanted, () => createSecureContext({ cert, key }));
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
  return { urls, pageSize, pollIntervalMs, readyLagMaxMs, ca: certificateOf('scanCa', scanCa), start };
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
    tokenFile,
    oauth,
    ca: certificateOf('ledgerApiCa', ledgerApiCa),
    start,
  };
}

export function postgresConfig({
  postgres,
  postgresPasswordFile: file,
  postgresCa,
}: Settings): PostgresSettings | null {
  if (postgres === null) return null;
  const url = new URL(postgres);
  const password = file === null ? null : readSecret(optionName('postgresPasswordFile'), file).toString();
  const ca = certificateOf('postgresCa', postgresCa);
  const mode = url.searchParams.get('sslmode');
  if (ca !== null && mode === 'disable')
    throw new Refusal(`${optionName('postgresCa')} cannot be given with sslmode=disable in ${optionName('postgres')}`);
  return {
    host: decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1')),
    port: url.port === '' ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)),
    user: decodeURIComponent(url.username),
    password,
    ssl: SSL_MODES[mode ?? 'disable']! || ca !== null ? { ca } : null,
  };
}

/** TLS accepts any file of authorities, and with a wrong one silently trusts none. */
function certificateOf(key: string, file: string | null): string | null {
  if (file === null) return null;
  const pem = readNamed(optionName(key), file).toString();
  requireUsable(key, `${file} contains no PEM certificate`, () => new X509Certificate(pem));
  return pem;
}

function requireUsable(key: string, otherwise: string, use: () => unknown): void {
  try {
    use();
  } catch (error) {
    throw new Refusal(`${optionName(key)}: ${otherwise} (${(error as Error).message})`, { cause: error });
  }
}
