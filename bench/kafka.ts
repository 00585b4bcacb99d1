import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { awaitBounds, createKafkaClient } from '../src/feed/kafka/kafka-client.ts';
import { topicSpec } from '../src/sources.ts';
import { startBroker } from '../test/support/kafka/broker.ts';
import type { CatchUp } from './catch-up-holdfast.ts';
import { alternate, measure } from './measure.ts';
import { type Promised, printTable, rounded } from './table.ts';

const TOPIC = 'bench';

/** Consumes a backlog from a local broker, next to a replay of the same file and next to kafkajs alone. */
export async function benchKafka(
  feed: string,
  { events, rounds }: { events: number; rounds: number },
): Promise<Promised[]> {
  await using broker = await startBroker({ isMeasured: true });
  const address = broker.addresses.plain;
  console.error('kafka: producing the feed');
  produce(feed, address);
  const end = await lastMessageEnd(address);
  const kafka = { brokers: [address], ssl: null, sasl: null, topic: TOPIC, group: null, partitionIdleMs: null };
  const asked: CatchUp = { source: topicSpec(kafka), file: null, end };
  const runs = {
    'kafkajs, an empty handler': () => measure('kafka-empty', address, TOPIC, end),
    'holdfast, from the file': () => measure('replay-holdfast', feed, 'worker'),
    'holdfast, from the topic': () => measure('catch-up-holdfast', JSON.stringify(asked)),
  };
  const medians = alternate('kafka', runs, rounds);
  const rate = (run: keyof typeof runs): number => events / medians[run].wallMs;
  printTable(
    `A backlog of ${events} events in a topic of one partition, on a local broker`,
    ['', 'k events/s', 'CPU us/event', 'RSS MB'],
    Object.entries(medians).map(([run, { wallMs, cpuMs, rssMb }]) => {
      return [run, ...[events / wallMs, (cpuMs * 1000) / events, rssMb].map(rounded)];
    }),
  );
  const share = rate('holdfast, from the topic') / rate('holdfast, from the file');
  const memory = (run: keyof typeof runs): number => medians[run].rssMb;
  const extraMb = memory('holdfast, from the topic') - memory('holdfast, from the file');
  return [
    { what: 'rate from a topic, to that from a file', measured: share, least: 0.6, unit: 'x' },
    { what: 'resident memory of a backlog beyond that of a replay', measured: extraMb, most: 128, unit: 'MB' },
  ];
}

/** Sends the feed with `holdfast produce`. */
function produce(feed: string, address: string): void {
  const main = join(import.meta.dirname, '../dist/main.js');
  const options = ['--kafka-brokers', address, '--kafka-topic', TOPIC, '--create', '--log-level', 'warn'];
  execFileSync(process.execPath, [main, 'produce', feed, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** The offset after the last message. The one after that is the end of its transaction, which no reader gets. */
async function lastMessageEnd(address: string): Promise<string> {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const kafka = createKafkaClient({ brokers: [address], ssl: null, sasl: null }, silent);
  const { high } = (await awaitBounds(kafka, TOPIC)).get(0)!;
  return String(high - 1);
}
