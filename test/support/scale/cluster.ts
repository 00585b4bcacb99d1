import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PostgresSettings } from '../../../src/scale/postgres-settings.ts';
import { accepts } from '../program/accepts.ts';
import { classArchive } from '../program/class-archive.ts';
import type { Ended } from '../program/command.ts';
import { freePorts } from '../program/free-ports.ts';
import { spawnTied, type TiedProcess } from '../program/tied-process.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../../..');
const START_TIMEOUT_MS = 90_000;
const FRAMEWORK_HEAP_MB = 64;
const QUICK_START = '-XX:TieredStopAtLevel=1';
const HOST = '127.0.0.1';

/** With their heaps in megabytes, but for that of the task manager. */
const PROCESSES = {
  zooKeeper: [64, 'org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain'],
  jobManager: [
    192,
    'org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint',
    ...['--executionMode', 'cluster'],
  ],
  taskManager: [0, 'org.apache.flink.runtime.taskexecutor.TaskManagerRunner'],
} as const satisfies Record<string, readonly [number, string, ...string[]]>;

/** Flink's tools, as its distribution starts them. */
const TOOLS = {
  flink: 'org.apache.flink.client.cli.CliFrontend',
  'sql-client.sh': 'org.apache.flink.table.client.SqlClient',
};

export type FlinkProcess = keyof typeof PROCESSES;

/** What a job reads and fills. */
export interface Job {
  readonly broker: string;
  /** Of flat events. */
  readonly topic: string;
  readonly store: PostgresSettings;
  readonly periodUs: number;
  readonly parallelism?: number;
  readonly checkpointMs?: number;
}

/** A job manager and a task manager of a test's own, on free ports of 127.0.0.1. They end with this process. */
export interface FlinkCluster extends AsyncDisposable {
  /** The address of the job manager's REST API, as a URL. */
  readonly rest: string;
  pid(name: FlinkProcess): number;
  /** SIGKILL. */
  kill(name: FlinkProcess): Promise<void>;
  /** Starts a killed one again, on the same ports. */
  start(name: FlinkProcess): Promise<void>;
  /** Runs Flink's own command. */
  flink(...args: readonly string[]): Promise<Ended>;
  /** Runs deploy/scale/start-job.sh, and gives the job's id. */
  startJob(job: Job, savepoint?: string): Promise<string>;
}

export interface FlinkOptions {
  /** As many as the tasks of all jobs at a time; 1 unless said. */
  readonly slots?: number;
  /** For the state of jobs and what they work on. */
  readonly taskHeapMb?: number;
  /** Something is measured. Otherwise it is compiled only as far as C1 does, which costs less in short runs. */
  readonly isMeasured?: boolean;
  /** It will lose its job manager, and must go on with its jobs: with ZooKeeper. */
  readonly restarts?: boolean;
}

export async function startFlink(options: FlinkOptions = {}): Promise<FlinkCluster> {
  const { slots = 1, taskHeapMb = 192, isMeasured = false, restarts = false } = options;
  const jars = await flinkJars();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-flink-'));
  const [rpc, blob, rest, zooKeeper] = (await freePorts(4)) as [number, number, number, number];
  for (const name of ['tmp', 'bin']) await mkdir(join(folder, name));
  const write = (name: string, lines: readonly string[], mode = 0o600): Promise<void> =>
    writeFile(join(folder, name), lines.map((line) => `${line}\n`).join(''), { mode });
  const settings = {
    ...flinkSettings(folder, { rpc, blob, rest }, { slots, taskHeapMb }),
    ...(restarts ? highAvailability(folder, zooKeeper, rpc) : {}),
  };
  await write(
    'config.yaml',
    Object.entries(settings).map(([name, value]) => `${name}: ${value}`),
  );
  await write('zoo.cfg', [
    'tickTime=2000',
    `dataDir=${join(folder, 'zookeeper')}`,
    `clientPort=${zooKeeper}`,
    `clientPortAddress=${HOST}`,
    'admin.enableServer=false',
  ]);
  const env = { ...process.env, FLINK_CONF_DIR: folder, FLINK_LIB_DIR: jars };
  const toolEnv = { ...env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  const running = new Map<FlinkProcess, TiedProcess>();
  const url = `http://${HOST}:${rest}`;

  async function start(name: FlinkProcess): Promise<void> {
    const [heapMb, main, ...args] = PROCESSES[name];
    const flags = [
      `-Xmx${name === 'taskManager' ? taskHeapMb + FRAMEWORK_HEAP_MB : heapMb}m`,
      ...(isMeasured ? [] : [QUICK_START, ...classArchive(jars, name).flags]),
    ];
    const where = name === 'zooKeeper' ? [join(folder, 'zoo.cfg')] : ['-c', folder];
    const child = await spawnTied([...javaCommand(main, jars, flags), ...where, ...args], env);
    running.set(name, child);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isReady(name, url, zooKeeper))) {
      if (Date.now() > deadline || !child.isAlive()) {
        await child.kill();
        throw new Error(`the ${name} of Flink did not start; its last words:\n${child.said()}`);
      }
      await sleep(100);
    }
  }

  /** The scripts that PyPI's distribution lacks. */
  async function writeTools(): Promise<void> {
    for (const [name, main] of Object.entries(TOOLS)) {
      const flags = ['-Xmx192m', QUICK_START, ...classArchive(jars, name).flags];
      const words = javaCommand(main, jars, flags).map((word) => `'${word}'`);
      await write(join('bin', name), ['#!/bin/sh', `exec ${words.join(' ')} "$@"`], 0o700);
    }
  }

  async function ended(file: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
    await writeTools();
    return await new Promise((resolve) =>
      execFile(file, args, { env: { ...toolEnv, ...more } }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      ),
    );
  }

  const kill = async (name: FlinkProcess): Promise<void> => running.get(name)?.kill();
  const cluster: FlinkCluster = {
    rest: url,
    pid: (name) => running.get(name)!.pid,
    kill,
    start,
    flink: (...args) => ended('flink', args),
    async startJob(job, savepoint) {
      const args = savepoint === undefined ? [] : [savepoint];
      const { code, stdout, stderr } = await ended(join(ROOT, 'deploy/scale/start-job.sh'), args, jobParameters(job));
      if (code !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [...running].map(([name, child]) =>
          child.isAlive() && classArchive(jars, name).isMissing ? child.end() : child.kill(),
        ),
      );
      await rm(folder, { recursive: true, force: true });
    },
  };
  const names = (Object.keys(PROCESSES) as FlinkProcess[]).filter((name) => restarts || name !== 'zooKeeper');
  const failed = (await Promise.allSettled(names.map(start))).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    await cluster[Symbol.asyncDispose]();
    throw failed.reason;
  }
  return cluster;
}

function jobParameters({ broker, topic, store, periodUs, parallelism = 1, checkpointMs = 30_000 }: Job) {
  const { host, port, database, user } = store;
  return {
    JOB_NAME: `holdfast ${database}`,
    PARALLELISM: String(parallelism),
    CHECKPOINT_INTERVAL: `${checkpointMs} ms`,
    PERIOD_SECONDS: String(periodUs / 1_000_000),
    KAFKA_BROKERS: broker,
    KAFKA_TOPIC: topic,
    KAFKA_OPTIONS: "'properties.security.protocol' = 'PLAINTEXT'",
    STORE_URL: `jdbc:postgresql://${host}:${port}/${database}?reWriteBatchedInserts=true`,
    STORE_USER: user,
    STORE_PASSWORD: "it's unused",
  };
}

/** Brings them where they are not there yet. */
async function flinkJars(): Promise<string> {
  const { stdout, stderr } = await run('sh', [join(ROOT, 'scripts/setup-flink.sh')]);
  if (stdout === '') throw new Error(stderr);
  return stdout.trim();
}

function javaCommand(main: string, jars: string, flags: readonly string[]): string[] {
  const packages = ['lang', 'net', 'io', 'nio', 'lang.reflect', 'text', 'time', 'util', 'util.concurrent'];
  return [
    ...['java', ...flags, '-XX:+UseSerialGC'],
    ...packages.map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`),
    `-Dlog4j.configurationFile=file:${join(ROOT, 'scripts/flink/log4j2.properties')}`,
    ...['-cp', join(jars, '*'), main],
  ];
}

async function isReady(name: FlinkProcess, rest: string, zooKeeper: number): Promise<boolean> {
  try {
    if (name === 'zooKeeper') return await accepts(zooKeeper);
    const response = await fetch(`${rest}/v1/overview`);
    return (
      response.ok && (name === 'jobManager' || ((await response.json()) as { taskmanagers: number }).taskmanagers > 0)
    );
  } catch {
    return false;
  }
}

type Settings = Readonly<Record<string, string | number>>;

/**
 * The configuration of a cluster on this machine, with the least memory that works for the ledgers of tests. Flink's scripts would
 * compute the sizes of a task manager's memory.
 */
function flinkSettings(
  folder: string,
  ports: { readonly rpc: number; readonly blob: number; readonly rest: number },
  { slots, taskHeapMb }: { readonly slots: number; readonly taskHeapMb: number },
): Settings {
  return {
    'jobmanager.rpc.address': HOST,
    'jobmanager.rpc.port': ports.rpc,
    'jobmanager.bind-host': HOST,
    'blob.server.port': ports.blob,
    'rest.address': HOST,
    'rest.bind-address': HOST,
    // Without a bind port: the SQL client would take that for its own.
    'rest.port': ports.rest,
    'taskmanager.host': HOST,
    'taskmanager.bind-host': HOST,
    'taskmanager.numberOfTaskSlots': slots,
    'taskmanager.cpu.cores': slots,
    'taskmanager.memory.framework.heap.size': `${FRAMEWORK_HEAP_MB}m`,
    'taskmanager.memory.framework.off-heap.size': '64m',
    'taskmanager.memory.task.heap.size': `${taskHeapMb}m`,
    'taskmanager.memory.task.off-heap.size': '32m',
    'taskmanager.memory.managed.size': '32m',
    'taskmanager.memory.network.min': '32m',
    'taskmanager.memory.network.max': '32m',
    'taskmanager.memory.jvm-metaspace.size': '192m',
    'taskmanager.memory.jvm-overhead.min': '64m',
    'taskmanager.memory.jvm-overhead.max': '64m',
    'execution.checkpointing.dir': `file://${join(folder, 'checkpoints')}`,
    'execution.checkpointing.savepoint-dir': `file://${join(folder, 'savepoints')}`,
    'restart-strategy.type': 'fixed-delay',
    'restart-strategy.fixed-delay.attempts': 2_147_483_647,
    'restart-strategy.fixed-delay.delay': '1 s',
    'io.tmp.dirs': join(folder, 'tmp'),
  };
}

/** What makes a job survive its job manager: where that is, and what it runs, is kept by ZooKeeper. */
function highAvailability(folder: string, zooKeeper: number, rpc: number): Settings {
  return {
    'high-availability.type': 'zookeeper',
    'high-availability.zookeeper.quorum': `${HOST}:${zooKeeper}`,
    'high-availability.zookeeper.client.session-timeout': '10000 ms',
    'high-availability.storageDir': `file://${join(folder, 'ha')}`,
    'high-availability.jobmanager.port': rpc,
    'resourcemanager.taskmanager-registration.timeout': '5 min',
    'heartbeat.interval': '1 s',
    'heartbeat.timeout': '10 s',
  };
}
