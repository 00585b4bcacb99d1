import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { migrateStore } from '../src/scale/store-form.ts';
import { type Service, startService } from '../test/support/http/service.ts';
import { startBroker } from '../test/support/kafka/broker.ts';
import { createTopic } from '../test/support/kafka/topic.ts';
import { createRandom } from '../test/support/ledger/random.ts';
import { startFlink } from '../test/support/scale/cluster.ts';
import { FLAT_DSO } from '../test/support/scale/ledgers.ts';
import { type SpawnedMember, spawnMember } from '../test/support/scale/members.ts';
import { startPostgres } from '../test/support/scale/postgres.ts';
import { readCommitted } from '../test/support/scale/read-committed.ts';
import { randomWorld } from '../test/support/scale/world.ts';
import { createFeeder } from './scale/feeder.ts';
import { differences } from './scale/verdict.ts';
import { watch } from './scale/watcher.ts';

/**
 * Kills every part of the whole again and again, each at random moments of a feed that goes on: `npm run test:scale -- --rounds 1
 * --seed 7`. No interval that is sealed may ever change, and in the end all is what a fold and a replay of the feed make of it.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seed: { type: 'string', default: '1' } },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];

const PARTITIONS = 3;
const PERIOD_US = 300_000_000;
const UPDATES_A_KILL = 300;
const BEFORE_MS_MAX = 4_000;
const GONE_MS_MAX = 3_000;
const PROGRESS_MS_MAX = 240_000;

const random = createRandom(seed);
const began = Date.now();
const say = (text: string): void => console.log(`${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}`);

await using parts = new AsyncDisposableStack();
const broker = parts.use(await startBroker({ restarts: true }));
const flinkStarts = startFlink({ slots: 2, restarts: true });
const server = parts.use(await startPostgres());
{
  await using client = await server.connect();
  await migrateStore(server.settings(), { dso: FLAT_DSO, periodUs: PERIOD_US });
  await client.query('CREATE ROLE engine LOGIN; GRANT holdfast_writer TO engine');
  await client.query('CREATE ROLE reader LOGIN; GRANT holdfast_reader TO reader');
}
const address = broker.addresses.plain;
const topic = await createTopic(address, { partitions: PARTITIONS });
const task = {
  ...{ address, input: topic.name, flat: `flat-${topic.name}` },
  ...{ rules: { periodUs: PERIOD_US }, markIntervalMs: 1_000 },
};
const flink = parts.use(await flinkStarts);

const decoders: SpawnedMember[] = [spawnMember(task), spawnMember(task)];
const readers: Service[] = [await startReader(), await startReader()];
parts.defer(async () => {
  for (const each of [...decoders, ...readers]) await each[Symbol.asyncDispose]();
});
function startReader(): Promise<Service> {
  return startService(['--postgres', server.url('reader')]);
}

interface Victim {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

const flinkVictim = (...names: readonly ('jobManager' | 'taskManager')[]): Victim => ({
  name: names.join(' and '),
  kill: async () => void (await Promise.all(names.map((name) => flink.kill(name)))),
  start: async () => void (await Promise.all(names.map((name) => flink.start(name)))),
});

const VICTIMS: readonly Victim[] = [
  flinkVictim('taskManager'),
  flinkVictim('jobManager'),
  flinkVictim('jobManager', 'taskManager'),
  {
    name: 'decoder',
    kill: async () => decoders.shift()![Symbol.asyncDispose](),
    start: async () => void decoders.push(spawnMember(task)),
  },
  {
    name: 'reader',
    kill: async () => readers.shift()![Symbol.asyncDispose](),
    start: async () => void readers.push(await startReader()),
  },
  { name: 'PostgreSQL', kill: () => server.stop(), start: () => server.start() },
  { name: 'Kafka', kill: () => broker.kill(), start: () => broker.start() },
];
const kills = Array.from({ length: rounds }, () => VICTIMS.map((victim) => ({ victim, at: random.below(1_000_000) })))
  .flatMap((round) => round.sort((a, b) => a.at - b.at))
  .map(({ victim }) => victim);

const world = randomWorld(seed, {
  updates: UPDATES_A_KILL * (kills.length + 1),
  partitions: PARTITIONS,
  periodUs: PERIOD_US,
});
await using feeder = createFeeder(address, topic.name, world.rows);
// The snapshot import covers the first tenth of the updates, which close no interval.
const begin = Math.ceil(feeder.rows / 5);
const share = Math.floor((feeder.rows - begin) / kills.length);
await feeder.sendUntil(begin);
await untilDecoded();
await flink.startJob({
  ...{ broker: address, topic: task.flat, store: server.settings('engine'), periodUs: PERIOD_US },
  ...{ parallelism: 2, checkpointMs: 2_000 },
});
const watcher = watch(() => server.connect());
await untilMoreThan(0, 'the start');
say(`${feeder.rows} messages in ${PARTITIONS} partitions, ${kills.length} kills, seed ${seed}`);

for (const [i, victim] of kills.entries()) {
  const before = watcher.sealed();
  const sending = feeder.sendUntil(begin + share * (i + 1));
  await sleep(random.below(BEFORE_MS_MAX));
  await victim.kill();
  await sleep(random.below(GONE_MS_MAX));
  await victim.start();
  await sending;
  await untilMoreThan(before, `the kill of ${victim.name}`);
  say(`killed ${victim.name}; ${watcher.sealed()} intervals are sealed`);
}
await feeder.sendUntil(feeder.rows);

const failures = await differences(world, { address, flat: task.flat, server, periodUs: PERIOD_US, dso: FLAT_DSO });
const watched = await watcher.finish();
if (watched.changed.length > 0) failures.push(`sealed intervals changed: ${watched.changed.slice(0, 5).join(', ')}`);
for (const reader of readers) {
  const { body } = await reader.ask('/readyz');
  const { ready, degraded } = body as { ready: boolean; degraded: readonly unknown[] };
  if (!ready || degraded.length > 0) failures.push(`a reader says ${JSON.stringify(body)}`);
}
for (const failure of failures) console.error(`wrong: ${failure}`);
say(
  `${watched.sealed} sealed intervals in ${watched.looks} looks, ${watched.changed.length} of them changed: ${failures.length === 0 ? 'good' : 'BAD'}`,
);
process.exitCode = failures.length === 0 ? 0 : 1;

async function untilDecoded(): Promise<void> {
  for (;;) {
    const read = await readCommitted(address, task.flat).catch(() => []);
    if (read.length > 0 && read.every((messages) => messages.length > 0)) return;
    await sleep(300);
  }
}

async function untilMoreThan(before: number, since: string): Promise<void> {
  const deadline = Date.now() + PROGRESS_MS_MAX;
  while (watcher.sealed() <= before) {
    if (Date.now() > deadline) throw new Error(`nothing was sealed for ${PROGRESS_MS_MAX / 1000} s since ${since}`);
    await sleep(250);
  }
}
