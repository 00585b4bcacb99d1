import { createWriteStream } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../support/kafka/broker.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { type RunningService, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { startProgram } from '../../../support/program/program.ts';
import { scanLedger } from '../../../support/scan/ledger.ts';
import { startFakeScan } from '../../../support/scan/server.ts';

let broker: Broker;
let address: string;
beforeAll(async () => {
  broker = await startBroker({ heapMb: 256, restarts: true });
  address = broker.addresses.plain;
});
afterAll(() => broker[Symbol.asyncDispose]());

const directory = freshDirectory();
/** A thousand seconds apart, so that snapshots are sealed. */
const quiet = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', (from + n) * 1_000) }));
const valuesOf = async (topic: TestTopic): Promise<(string | null)[]> =>
  (await readTopic(address, topic.name)).map(({ value }) => value);

it('serve waits for a broker that is down at the start or later, and readiness and the log say so', async () => {
  const topic = await createTopic(address);
  await topic.send(quiet(0, 5));
  await broker.kill();
  await using service = await serveTopic(topic, directory);
  const unreachable = new RegExp(`cannot read topic ${topic.name}: .*(ECONNREFUSED|[Cc]onnection)`);
  const says = async ({ readyz }: RunningService): Promise<boolean> =>
    unreachable.test((await readyz()).reasons.join());
  await service.until('unreachable', () => says(service));
  expect(service.log.filter(({ level, message }) => level === 'warn' && unreachable.test(message))).not.toEqual([]);
  expect((await service.get('/livez')).status).toBe(200);
  await broker.start();
  await service.untilReady();
  await broker.kill();
  await service.until('unreachable again', () => says(service));
  await broker.start();
  await topic.untilLed();
  await topic.send(quiet(5, 10));
  await service.until('went on', async () => (await service.status()).source?.position['0'] === 10);
  expect((await service.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
});

it('produce waits for a broker that goes away, leaves nothing out, sends nothing twice and keeps the order', async () => {
  const topic = await createTopic(address);
  const rows = emptyRows(60_000).map(({ value }) => value!);
  const pipe = directory.namedPipe('pipe');
  await using program = startProgram(['produce', pipe, '--kafka-brokers', address, '--kafka-topic', topic.name]);
  const input = createWriteStream(pipe);
  input.write(`${rows.slice(0, 30_000).join('\n')}\n`);
  await expect.poll(async () => (await valuesOf(topic)).length).toBeGreaterThan(0);
  await broker.kill();
  input.end(`${rows.slice(30_000).join('\n')}\n`);
  const waits = `cannot write to topic ${topic.name}: .*; waiting for it, for \\d+ s at most`;
  await expect.poll(() => program.stderr()).toMatch(new RegExp(waits));
  await broker.start();
  const { code, stdout } = await program.ended;
  expect([code, stdout]).toEqual([0, `60000 messages sent to topic ${topic.name}, 1 partition\n`]);
  expect(await valuesOf(topic)).toEqual(rows);
});

it('produce --scan --follow waits for a broker that goes away, and then sends each update once', async () => {
  const lines = scanLedger(73, 200);
  await using scan = await startFakeScan({ migrationId: 0, lines: lines.slice(0, 100) });
  const topic = await createTopic(address);
  await using program = startProgram([
    ...['produce', '--scan', scan.url, '--start', 'beginning', '--follow', '--scan-poll-interval', '100ms'],
    ...['--kafka-brokers', address, '--kafka-topic', topic.name],
  ]);
  await expect.poll(async () => (await valuesOf(topic)).length).toBe(100);
  await broker.kill();
  scan.add(...lines.slice(100));
  await expect.poll(() => program.stderr()).toContain('; waiting for it');
  await broker.start();
  await expect.poll(() => valuesOf(topic)).toEqual(lines);
  program.kill('SIGTERM');
  const stdout = `200 messages sent to topic ${topic.name}, 1 partition\n`;
  expect(await program.ended).toMatchObject({ code: 0, stdout });
});
