import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { startConsumer } from '../../../support/kafka/consumer-process.ts';
import { serveTopic, topicOptions } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { runProgram } from '../../../support/program/program.ts';
import { temporaryDirectory } from '../../../support/program/temporary-directory.ts';

const address = inject('kafka').addresses.plain;

const quiet = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', (from + n) * 1_000) }));

describe.concurrent('a consumer of a broker that is well', () => {
  it('a topic that does not exist yet is waited for', async () => {
    using directory = temporaryDirectory();
    const topic = await createTopic(address);
    await topic.admin((admin) => admin.deleteTopics({ topics: [topic.name] }));
    await using service = await serveTopic(topic, directory);
    const missing = `cannot read topic ${topic.name}: there is no topic ${topic.name} on this cluster`;
    await service.until('missing', async () => (await service.readyz()).reasons.includes(missing));
    await topic.admin((admin) => admin.createTopics({ topics: [{ topic: topic.name }], waitForLeaders: false }));
    await topic.untilLed();
    await topic.send(quiet(0, 5));
    await service.untilReady();
  });

  it('a consumer that was suspended for longer than its session joins again and continues', async ({ expect }) => {
    using directory = temporaryDirectory();
    const topic = await createTopic(address);
    await topic.send(quiet(0, 5));
    const consumer = await startConsumer(topicOptions(topic, directory));
    const isAt = async (offset: number): Promise<boolean> => (await consumer.status()).source?.position['0'] === offset;
    await expect.poll(() => isAt(5)).toBe(true);
    consumer.signal('SIGSTOP');
    await topic.send(quiet(5, 10));
    await sleep(4_000);
    consumer.signal('SIGCONT');
    await expect.poll(() => isAt(10)).toBe(true);
    expect((await consumer.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
    expect(await consumer.end('SIGTERM')).toBe(0);
  });

  it('a topic that is recreated while the consumer is suspended is refused when it continues', async ({ expect }) => {
    using directory = temporaryDirectory();
    const topic = await createTopic(address);
    await topic.send(quiet(0, 5));
    const consumer = await startConsumer(topicOptions(topic, directory));
    const offset = async (): Promise<number | undefined> => (await consumer.status()).source?.position['0'];
    await expect.poll(offset).toBe(5);
    consumer.signal('SIGSTOP');
    await topic.recreate();
    // As long as the old one and longer: its offsets alone do not show it.
    await topic.send(quiet(5, 20));
    await sleep(3_000);
    consumer.signal('SIGCONT');
    await expect.poll(async () => (await consumer.status()).phase).toBe('refused');
    expect(await consumer.status()).toMatchObject({
      last_error: { message: expect.stringMatching(/created again/) },
      counts: { updates: 5 },
    });
    expect(await consumer.end('SIGTERM')).toBe(0);
  });

  it('what will never pass ends the process, which says why: a wrong password', async () => {
    using directory = temporaryDirectory();
    const password = directory.writeLines('password', ['wrong']);
    const { code, stderr } = await runProgram([
      ...['serve', '--data', directory.at('views'), '--port', '0', '--kafka-topic', 't'],
      ...['--kafka-brokers', inject('kafka').addresses.sasl, '--kafka-sasl-mechanism', 'plain'],
      ...['--kafka-sasl-username', 'alice', '--kafka-sasl-password-file', password],
    ]);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^holdfast: the Kafka consumer stopped: .*[Aa]uthentication/);
    expect(code).toBe(1);
  });
});
