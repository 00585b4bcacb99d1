import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { Client } from 'pg';
import { migrateStore } from '../src/scale/store-form.ts';
import { type Broker, startBroker } from '../test/support/kafka/broker.ts';
import { createTopic, type TestTopic } from '../test/support/kafka/topic.ts';
import { startProgram } from '../test/support/program/program.ts';
import { type FlinkCluster, startFlink } from '../test/support/scale/cluster.ts';
import { FLAT_DSO } from '../test/support/scale/ledgers.ts';
import { type PostgresServer, startPostgres } from '../test/support/scale/postgres.ts';
import { measure } from './measure.ts';
import { cpuMsOf, parentOf } from './process-cpu.ts';
import { makeScaleFeed, type ScaleFeed } from './scale-feed.ts';
import { type Promised, printTable, rounded } from './table.ts';

const PARTITIONS = 4;
const PERIOD_US = 600_000_000;
const LOOK_MS = 200;
const POSTGRES = ['fsync=on', 'shared_buffers=512MB', 'max_wal_size=4GB', 'wal_compression=lz4', 'jit=off'];
/** Of the task manager; all contracts are in it. */
const HEAP_MB = 2_500;

interface Run {
  readonly wallMs: number;
  /** How much of the events came in that time. */
  readonly share: number;
  /** Milliseconds of each process over the whole. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** What decoding, the job and sealing take, at one and two tasks, beside one process on the same feed. */
export async function benchScale(folder: string, { events }: { events: number }): Promise<Promised[]> {
  await using parts = new AsyncDisposableStack();
  const broker = parts.use(await startBroker({ isMeasured: true, heapMb: 768 }));
  const topic = await createTopic(broker.addresses.plain, { partitions: PARTITIONS });
  console.error('scale: making the feed');
  const path = join(folder, 'scale.ndjson');
  const feed = await makeScaleFeed(path, topic, { events, partitions: PARTITIONS, periodUs: PERIOD_US });
  console.error('scale: one process');
  const single = measure('replay-holdfast', path, 'worker');
  const one: Run = { wallMs: single.wallMs, share: 1, cpu: { Holdfast: single.cpuMs } };
  const rows: [string, Run][] = [['one process, from a file', one]];
  let flat = '';
  for (const members of [1, 2]) {
    console.error(`scale: ${members} of holdfast decode`);
    flat = `flat-${members}`;
    rows.push([`decode, ${members} of them`, await decode(broker, { topic, flat, members, feed })]);
  }
  const server = parts.use(await startPostgres(POSTGRES));
  for (const parallelism of [1, 2]) {
    console.error(`scale: the job with ${parallelism} of its tasks`);
    // Every job compiles anew; a cluster of its own has no leavings of another.
    await using flink = await startFlink({ slots: parallelism, taskHeapMb: HEAP_MB, isMeasured: true });
    const filled = await fill({ broker, flink, server, flat, parallelism, feed });
    rows.push([`the job, parallelism ${parallelism}`, filled.job], ['sealing after it', filled.sealing]);
  }
  printTable(
    `A feed of ${feed.events} events in ${PARTITIONS} partitions, decoded and added up past one process`,
    ['', 'k events/s', 'CPU us/event', 'of'],
    rows.map(([name, { wallMs, share, cpu }]) => [
      name,
      rounded((feed.events * share) / wallMs),
      rounded((Object.values(cpu).reduce((sum, each) => sum + each, 0) * 1000) / feed.events),
      Object.entries(cpu)
        .map(([part, ms]) => `${part} ${rounded((ms * 1000) / feed.events)}`)
        .join(', '),
    ]),
  );
  return [];
}

/** The rate once the first is at work; joining a group takes seconds. */
async function decode(
  { addresses, pid }: Broker,
  { topic, flat, members, feed }: { topic: TestTopic; flat: string; members: number; feed: ScaleFeed },
): Promise<Run> {
  const args = ['--kafka-brokers', addresses.plain, '--kafka-topic', topic.name, '--kafka-group', flat];
  const own = ['decode', ...args, '--flat-topic', flat, '--create', '--dso', FLAT_DSO, '--log-level', 'warn'];
  const kafkaBefore = cpuMsOf(pid());
  await using parts = new AsyncDisposableStack();
  const programs = Array.from({ length: members }, () => parts.use(startProgram(own)));
  // A broker that has just started still loads its groups.
  const offsets = (): ReturnType<Admin['fetchOffsets']> =>
    topic.admin((admin) => admin.fetchOffsets({ groupId: flat, topics: [topic.name] })).catch(() => []);
  const done = async (): Promise<number> => {
    const partitions = (await offsets()).flatMap((each) => each.partitions);
    return partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  };
  let from = { at: 0, messages: 0 };
  for (;;) {
    const now = await done();
    if (now > 0 && from.at === 0) from = { at: performance.now(), messages: now };
    if (now >= feed.messages) break;
    await sleep(LOOK_MS);
  }
  return {
    wallMs: performance.now() - from.at,
    share: 1 - from.messages / feed.messages,
    cpu: {
      decode: programs.reduce((sum, program) => sum + cpuMsOf(program.pid), 0),
      Kafka: cpuMsOf(pid()) - kafkaBefore,
    },
  };
}

interface Filling {
  readonly broker: Broker;
  readonly flink: FlinkCluster;
  readonly server: PostgresServer;
  readonly flat: string;
  readonly parallelism: number;
  readonly feed: ScaleFeed;
}

async function fill({ broker, flink, server, flat, parallelism, feed }: Filling): Promise<{ job: Run; sealing: Run }> {
  const database = `bench_${parallelism}`;
  {
    await using admin = await server.connect();
    await admin.query(`CREATE DATABASE ${database}`);
  }
  await using client = await server.connect(undefined, database);
  await migrateStore(server.settings(undefined, database), { dso: FLAT_DSO, periodUs: PERIOD_US });
  const postgresPid = Number((await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
  const pids = {
    'task manager': flink.pid('taskManager'),
    'job manager': flink.pid('jobManager'),
    PostgreSQL: parentOf(postgresPid),
    Kafka: broker.pid(),
  };
  const cpu = (): number[] => Object.values(pids).map(cpuMsOf);
  const since = (before: readonly number[]): Record<string, number> => {
    const now = cpu();
    return Object.fromEntries(Object.keys(pids).map((name, i) => [name, now[i]! - before[i]!]));
  };
  const store = server.settings(undefined, database);
  const job = { broker: broker.addresses.plain, topic: flat, store, periodUs: PERIOD_US, parallelism };
  const jobId = await flink.startJob(job);
  const [started, before] = [performance.now(), cpu()];
  while (!(await isFilled(client, feed))) await sleep(LOOK_MS);
  const filling = { wallMs: performance.now() - started, share: 1, cpu: since(before) };
  await flink.flink('cancel', jobId);
  const [sealingFrom, sealingBefore] = [performance.now(), cpu()];
  await client.query('SELECT seal(1000000)');
  const { PostgreSQL } = since(sealingBefore);
  return {
    job: filling,
    sealing: { wallMs: performance.now() - sealingFrom, share: 1, cpu: { PostgreSQL: PostgreSQL! } },
  };
}

/** Whether the rows of all intervals are there. */
async function isFilled(client: Client, { lastSeq }: ScaleFeed): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM snapshot_control WHERE seq = $1', [lastSeq]);
  if (rows.length === 0) return false;
  const sums = await client.query(
    `SELECT sum(owner_rows) = (SELECT count(*) FROM owner_total) AND sum(created) = (SELECT count(*) FROM coin)
       AND sum(archived) = (SELECT count(*) FROM spent) AS whole FROM snapshot_control`,
  );
  return sums.rows[0].whole as boolean;
}
