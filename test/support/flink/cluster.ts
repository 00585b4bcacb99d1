import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { accepts } from '../program/accepts.ts';
import { freePorts } from '../program/free-ports.ts';
import { spawnTied, type TiedProcess } from '../program/tied-process.ts';
import { FRAMEWORK_HEAP_MB, flinkSettings, highAvailability, zooKeeperSettings } from './settings.ts';

const run = promisify(execFile);
const SCRIPTS = resolve(import.meta.dirname, '../../../scripts');
const START_TIMEOUT_MS = 90_000;

/** With their heaps in megabytes, but for that of the task manager. */
const PROCESSES = {
  zooKeeper: [64, 'org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServerMain'],
  jobManager: [
    192,
    'org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint',
    ...['--executionMode', 'cluster'],
  ],
  taskManager: [0, 'org.apache.flink.runtime.taskexecutor.TaskManagerRunner'],
  gateway: [192, 'org.apache.flink.table.gateway.SqlGateway'],
} as const satisfies Record<string, readonly [number, string, ...string[]]>;

export type FlinkProcess = keyof typeof PROCESSES;

/** A job manager, a task manager and a SQL gateway of a test's own, on free ports of 127.0.0.1. They end with this process. */
export interface FlinkCluster extends AsyncDisposable {
  /** The addresses of the SQL gateway and of the job manager's REST API, as URLs. */
  readonly gateway: string;
  readonly rest: string;
  pid(name: FlinkProcess): number;
  /** SIGKILL. */
  kill(name: FlinkProcess): Promise<void>;
  /** Starts a killed one again, on the same ports. */
  start(name: FlinkProcess): Promise<void>;
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
  await mkdir(join(folder, 'tmp'));
  const [rpc, blob, rest, gateway, zooKeeper] = (await freePorts(5)) as [number, number, number, number, number];
  const all = {
    ...flinkSettings(folder, { rpc, blob, rest, gateway }, { slots, taskHeapMb }),
    ...(restarts ? highAvailability(folder, zooKeeper, rpc) : {}),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\n`);
  await writeFile(join(folder, 'config.yaml'), lines.join(''));
  await writeFile(join(folder, 'zoo.cfg'), zooKeeperSettings(folder, zooKeeper));
  const at = { gateway: `http://127.0.0.1:${gateway}`, rest: `http://127.0.0.1:${rest}`, zooKeeper };
  const running = new Map<FlinkProcess, TiedProcess>();

  async function start(name: FlinkProcess): Promise<void> {
    const heapMb = name === 'taskManager' ? taskHeapMb + FRAMEWORK_HEAP_MB : PROCESSES[name][0];
    const flags = [`-Xmx${heapMb}m`, ...(isMeasured ? [] : ['-XX:TieredStopAtLevel=1'])];
    const child = await spawnTied(javaCommand(name, jars, folder, flags), {
      ...process.env,
      FLINK_CONF_DIR: folder,
      FLINK_LIB_DIR: jars,
    });
    running.set(name, child);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isReady(name, at))) {
      if (Date.now() > deadline || !child.isAlive()) {
        await child.kill();
        throw new Error(`the ${name} of Flink did not start; its last words:\n${child.said()}`);
      }
      await sleep(100);
    }
  }
  const kill = async (name: FlinkProcess): Promise<void> => running.get(name)?.kill();
  const cluster: FlinkCluster = {
    gateway: at.gateway,
    rest: at.rest,
    pid: (name) => running.get(name)!.pid,
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await Promise.all([...running.keys()].map(kill));
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

/** Brings them where they are not there yet. */
async function flinkJars(): Promise<string> {
  const { stdout, stderr } = await run('sh', [join(SCRIPTS, 'setup-flink.sh')]);
  if (stdout === '') throw new Error(stderr);
  return stdout.trim();
}

function javaCommand(name: FlinkProcess, jars: string, folder: string, flags: readonly string[]): string[] {
  const [, main, ...args] = PROCESSES[name];
  const settings = name === 'gateway' ? [] : name === 'zooKeeper' ? [join(folder, 'zoo.cfg')] : ['-c', folder];
  const packages = ['lang', 'net', 'io', 'nio', 'lang.reflect', 'text', 'time', 'util', 'util.concurrent'];
  return [
    ...['java', ...flags, '-XX:+UseSerialGC'],
    ...packages.map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`),
    `-Dlog4j.configurationFile=file:${join(SCRIPTS, 'flink/log4j2.properties')}`,
    ...['-cp', join(jars, '*'), main, ...settings, ...args],
  ];
}

interface Addresses {
  readonly gateway: string;
  readonly rest: string;
  readonly zooKeeper: number;
}

async function isReady(name: FlinkProcess, { gateway, rest, zooKeeper }: Addresses): Promise<boolean> {
  try {
    if (name === 'zooKeeper') return await accepts(zooKeeper);
    if (name === 'gateway') return (await fetch(`${gateway}/v1/info`)).ok;
    const response = await fetch(`${rest}/v1/overview`);
    return (
      response.ok && (name === 'jobManager' || ((await response.json()) as { taskmanagers: number }).taskmanagers > 0)
    );
  } catch {
    return false;
  }
}
