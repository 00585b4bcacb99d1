import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../support/kafka/broker.ts';
import { type RunningService, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

let broker: Broker;
beforeAll(async () => {
  broker = await startBroker({ heapMb: 256, restarts: true });
});
afterAll(() => broker[Symbol.asyncDispose]());

const directory = freshDirectory();

const quiet = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', (from + n) * 1_000) }));
const reasonsOf = async (service: RunningService): Promise<string> => (await service.readyz()).reasons.join('; ');

it('a broker that is down at the start or later is waited for, and readiness and the log say so', async () => {
  const address = broker.addresses.plain;
  const topic = await createTopic(address);
  await topic.send(quiet(0, 5));
  await broker.kill();
  await using service = await serveTopic(topic, directory);
  const unreachable = new RegExp(`cannot read topic ${topic.name}: .*(ECONNREFUSED|[Cc]onnection)`);
  await service.until('unreachable', async () => unreachable.test(await reasonsOf(service)));
  expect(service.log.filter(({ level, message }) => level === 'warn' && unreachable.test(message))).not.toEqual([]);
  expect((await service.get('/livez')).status).toBe(200);

  await broker.start();
  await service.untilReady();
  await broker.kill();
  await service.until('unreachable again', async () => unreachable.test(await reasonsOf(service)));
  await broker.start();
  await topic.untilLed();
  await topic.send(quiet(5, 10));
  await service.until('went on', async () => (await service.status()).source?.position['0'] === 10);
  expect((await service.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
});

it('a broker that takes connections and does not answer is waited for, by serve and by produce, which say so', async () => {
  const address = broker.addresses.plain;
  const topic = await createTopic(address);
  await topic.send(quiet(0, 5));
  const more = directory.writeLines(
    'feed.ndjson',
    quiet(0, 10).map(({ value }) => value!),
  );
  process.kill(broker.pid(), 'SIGSTOP');
  try {
    await using service = await serveTopic(topic, directory);
    const run = holdfast('produce', more, '--kafka-brokers', address, '--kafka-topic', topic.name);
    // Longer than a request waits for its answer.
    await sleep(32_000);
    expect(await reasonsOf(service)).toContain(`connecting to Kafka at ${address}`);
    process.kill(broker.pid(), 'SIGCONT');
    const { code, stderr } = await run;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`connecting to Kafka at ${address}`)]);
    await service.until('read', async () => (await service.status()).source?.position['0'] === 10);
  } finally {
    process.kill(broker.pid(), 'SIGCONT');
  }
});
