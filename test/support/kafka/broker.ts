import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { accepts } from '../program/accepts.ts';
import { classArchive } from '../program/class-archive.ts';
import { freePorts } from '../program/free-ports.ts';
import { spawnTied, type TiedProcess } from '../program/tied-process.ts';
import { type Certificates, createCertificates } from './certificates.ts';
import { type KafkaVersion, kafkaJars, LOG_CONFIGURATION } from './jars.ts';

const run = promisify(execFile);

const START_TIMEOUT_MS = 60_000;
const QUICK_START = '-XX:TieredStopAtLevel=1';
/** Of brokers whose version is not named. */
const VERSION = (process.env.HOLDFAST_TEST_KAFKA ?? '4.1.1') as KafkaVersion;
const CLUSTER_ID = 'aG9sZGZhc3QtdGVzdHMtMQ';

/** The user that SASL listeners know, under every mechanism. */
export const SASL_USER = { username: 'alice', password: 'alice-secret' } as const;

/** Addresses (`host:port`) of one broker by how a client connects to it. */
export interface BrokerAddresses {
  readonly plain: string;
  readonly sasl: string;
  /** Wants a client certificate. */
  readonly tls: string;
  readonly saslTls: string;
}

export interface Broker extends AsyncDisposable {
  readonly addresses: BrokerAddresses;
  readonly certificates: Certificates;
  /** Its place in its cluster, for a broker that joins it. */
  readonly cluster: { readonly id: string; readonly controller: string };
  pid(): number;
  /** The folder of its partitions. */
  readonly data: string;
  /** SIGKILL: what a power cut is to its clients. */
  kill(): Promise<void>;
  /** Starts a killed broker again, on the same ports and data. */
  start(): Promise<void>;
}

export interface BrokerOptions {
  readonly version?: KafkaVersion;
  readonly heapMb?: number;
  readonly clusterId?: string;
  /** Something is measured against it. Otherwise it is compiled only as far as C1 does, which halves what its start costs. */
  readonly isMeasured?: boolean;
  /**
   * It will be killed and started again. The controller then misses it after a second and not after nine, during which it
   * would not take it back; so it is taken for gone as well where the machine is too busy to let it answer in time.
   */
  readonly restarts?: boolean;
  /** The second broker of that one's cluster, with the node id 2; the first one controls it. */
  readonly joins?: Broker;
}

/**
 * Starts one Kafka broker (KRaft) on free ports. It ends with this process.
 */
export async function startBroker(options: BrokerOptions = {}): Promise<Broker> {
  const jars = await kafkaJars(options.version ?? VERSION);
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-kafka-'));
  const certificates = await createCertificates(directory);
  const [plain, sasl, tls, saslTls, controller] = await freePorts(5);
  const addresses: BrokerAddresses = {
    plain: `127.0.0.1:${plain}`,
    sasl: `127.0.0.1:${sasl}`,
    tls: `127.0.0.1:${tls}`,
    saslTls: `127.0.0.1:${saslTls}`,
  };
  const properties = join(directory, 'server.properties');
  const cluster = options.joins?.cluster ?? {
    id: options.clusterId ?? CLUSTER_ID,
    controller: `127.0.0.1:${controller}`,
  };
  await writeFile(properties, serverProperties(directory, addresses, cluster.controller, certificates, options));
  await format(jars, properties, cluster.id);
  const archive = classArchive(jars, 'broker');
  const flags = options.isMeasured === true ? [] : [QUICK_START, ...archive.flags];
  const java = { jars, heapMb: options.heapMb ?? 384, flags };

  let running = await launch(java, properties, plain!);
  return {
    addresses,
    certificates,
    cluster,
    pid: () => running.pid,
    data: join(directory, 'data'),
    kill: () => running.kill(),
    start: async () => {
      running = await launch(java, properties, plain!);
    },
    [Symbol.asyncDispose]: async () => {
      await (archive.isMissing && running.isAlive() ? running.end() : running.kill());
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function format(jars: string, properties: string, clusterId: string): Promise<void> {
  const { username, password } = SASL_USER;
  const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
  await run('java', [
    ...[QUICK_START, '-cp', join(jars, '*'), `-Dlog4j2.configurationFile=file:${LOG_CONFIGURATION}`],
    ...[
      'kafka.tools.StorageTool',
      'format',
      '--ignore-formatted',
      '--cluster-id',
      clusterId,
      '--config',
      properties,
      ...scram,
    ],
  ]);
}

interface Java {
  readonly jars: string;
  readonly heapMb: number;
  readonly flags: readonly string[];
}

async function launch({ jars, heapMb, flags }: Java, properties: string, port: number): Promise<TiedProcess> {
  const java = [
    ...['java', ...flags, `-Xms${heapMb}m`, `-Xmx${heapMb}m`, '-XX:+UseSerialGC', '-cp', join(jars, '*')],
    ...[`-Dlog4j2.configurationFile=file:${LOG_CONFIGURATION}`, 'kafka.Kafka', properties],
  ];
  const broker = await spawnTied(java);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (Date.now() > deadline || !broker.isAlive()) {
      await broker.kill();
      throw new Error(`the Kafka broker did not start; its last words:\n${broker.said()}`);
    }
    await sleep(50);
  }
  return broker;
}

function serverProperties(
  directory: string,
  at: BrokerAddresses,
  controller: string,
  files: Certificates,
  { restarts = false, joins }: BrokerOptions,
): string {
  const { username, password } = SASL_USER;
  const plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`;
  const scramLogin = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const listeners = `PLAINTEXT://${at.plain},SASL_PLAINTEXT://${at.sasl},SSL://${at.tls},SASL_SSL://${at.saslTls}`;
  const logins = ['sasl_plaintext', 'sasl_ssl'].flatMap((listener) => [
    `listener.name.${listener}.plain.sasl.jaas.config=${plainLogin}`,
    `listener.name.${listener}.scram-sha-256.sasl.jaas.config=${scramLogin}`,
    `listener.name.${listener}.scram-sha-512.sasl.jaas.config=${scramLogin}`,
  ]);
  const [roles, id, controls] =
    joins === undefined ? ['broker,controller', 1, `,CONTROLLER://${controller}`] : ['broker', 2, ''];
  return `process.roles=${roles}
node.id=${id}
controller.quorum.voters=1@${controller}
listeners=${listeners}${controls}
advertised.listeners=${listeners}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
${logins.join('\n')}
ssl.keystore.type=PEM
ssl.keystore.location=${files.broker}
ssl.truststore.type=PEM
ssl.truststore.location=${files.ca}
listener.name.ssl.ssl.client.auth=required
log.dirs=${join(directory, 'data')}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=${restarts ? 1_000 : 9_000}
broker.heartbeat.interval.ms=200
log.initial.task.delay.ms=100
log.cleaner.dedupe.buffer.size=4194304
num.io.threads=4
num.network.threads=2
message.max.bytes=67108864
replica.fetch.max.bytes=67108864
`;
}
