import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { type Broker, startBroker } from '../../../support/kafka/broker.ts';
import { startConsumer } from '../../../support/kafka/consumer-process.ts';
import { type RunningService, serve } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { programEnv } from '../../../support/program/soak.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../support/program/temporary-directory.ts';

let broker: Broker;
beforeAll(async () => {
  broker = await startBroker({ heapMb: 256, restarts: true });
});
afterAll(() => broker[Symbol.asyncDispose]());

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

const quiet = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', (from + n) * 1_000) }));
const reasonsOf = async (service: RunningService): Promise<string> => (await service.readyz()).reasons.join('; ');

it('a broker that is down at the start or later is waited for, and readiness and the log say so', async () => {
  const address = broker.addresses.plain;
  const topic = await createTopic(address);
  await topic.send(quiet(0, 5));
  await broker.kill();
  await using service = await serve({ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name });
  const unreachable = new RegExp(`cannot read topic ${topic.name}: .*(ECONNREFUSED|[Cc]onnection)`);
  await service.until('unreachable', async () => unreachable.test(await reasonsOf(service)));
  expect(service.log.filter(({ level, message }) => level === 'warn' && unreachable.test(message))).not.toEqual([]);
  expect((await service.get('/livez')).status).toBe(200);

  await broker.start();
  await service.untilReady();
  await broker.kill();
  await service.until('unreachable again', async () => unreachable.test(await reasonsOf(service)));
  await broker.start();
  await topic.send(quiet(5, 10));
  await service.until('went on', async () => (await service.status()).source?.position['0'] === 10);
  expect((await service.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
});

it('a broker that takes connections and does not answer is waited for', async () => {
  const address = broker.addresses.plain;
  const topic = await createTopic(address);
  await topic.send(quiet(0, 5));
  process.kill(broker.pid(), 'SIGSTOP');
  try {
    await using service = await serve({ data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name });
    // Longer than a request waits for its answer.
    await sleep(32_000);
    expect(await reasonsOf(service)).toContain(`connecting to Kafka at ${address}`);
    process.kill(broker.pid(), 'SIGCONT');
    await service.untilReady();
  } finally {
    process.kill(broker.pid(), 'SIGCONT');
  }
});

it('a topic that does not exist yet is waited for', async () => {
  const kafka = inject('kafka').addresses.plain;
  const topic = await createTopic(kafka);
  await topic.admin((admin) => admin.deleteTopics({ topics: [topic.name] }));
  await using service = await serve({ data: directory.at('views'), kafkaBrokers: kafka, kafkaTopic: topic.name });
  const missing = `cannot read topic ${topic.name}: there is no topic ${topic.name} on this cluster`;
  await service.until('missing', async () => (await reasonsOf(service)).includes(missing));
  await topic.admin((admin) => admin.createTopics({ topics: [{ topic: topic.name }], waitForLeaders: false }));
  await topic.send(quiet(0, 5));
  await service.untilReady();
});

it('a consumer that stood still for longer than its session joins again and goes on', async () => {
  const kafka = inject('kafka').addresses.plain;
  const topic = await createTopic(kafka);
  await topic.send(quiet(0, 5));
  const consumer = await startConsumer({ data: directory.at('views'), kafkaBrokers: kafka, kafkaTopic: topic.name });
  const isAt = async (offset: number): Promise<boolean> => (await consumer.status()).source?.position['0'] === offset;
  await expect.poll(() => isAt(5), { timeout: 20_000 }).toBe(true);
  consumer.signal('SIGSTOP');
  await topic.send(quiet(5, 10));
  await sleep(4_000);
  consumer.signal('SIGCONT');
  await expect.poll(() => isAt(10), { timeout: 20_000 }).toBe(true);
  expect((await consumer.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
  expect(await consumer.end('SIGTERM')).toBe(0);
});

it('a topic that is made anew while the consumer stands still is refused when it goes on', async () => {
  const kafka = inject('kafka').addresses.plain;
  const topic = await createTopic(kafka);
  await topic.send(quiet(0, 5));
  const consumer = await startConsumer({ data: directory.at('views'), kafkaBrokers: kafka, kafkaTopic: topic.name });
  const offset = async (): Promise<number | undefined> => (await consumer.status()).source?.position['0'];
  await expect.poll(offset, { timeout: 20_000 }).toBe(5);
  consumer.signal('SIGSTOP');
  await topic.recreate();
  // As long as the old one and longer: by its offsets alone nobody could tell.
  await topic.send(quiet(5, 20));
  await sleep(3_000);
  consumer.signal('SIGCONT');
  await expect.poll(async () => (await consumer.status()).phase, { timeout: 20_000 }).toBe('refused');
  expect(await consumer.status()).toMatchObject({
    last_error: { message: expect.stringMatching(/made anew/) },
    counts: { updates: 5 },
  });
  expect(await consumer.end('SIGTERM')).toBe(0);
});

it('what will never pass ends the process, which says why: a wrong password', async () => {
  const password = directory.writeLines('password', ['wrong']);
  const args = [
    ...['serve', '--data', directory.at('views'), '--port', '0', '--kafka-topic', 't'],
    ...['--kafka-brokers', inject('kafka').addresses.sasl, '--kafka-sasl-mechanism', 'plain'],
    ...['--kafka-sasl-username', 'alice', '--kafka-sasl-password-file', password],
  ];
  const main = join(import.meta.dirname, '../../../../dist/main.js');
  const program = spawn(process.execPath, [main, ...args], { env: programEnv(), stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  program.stderr.on('data', (bytes) => {
    said += String(bytes);
  });
  const [code] = (await once(program, 'exit')) as [number];
  expect(said.trim().split('\n').at(-1)).toMatch(/^holdfast: the Kafka consumer stopped: .*[Aa]uthentication/);
  expect(code).toBe(1);
});
