import { closeSync, openSync, writeSync } from 'node:fs';
import type { Message } from 'kafkajs';
import { createKafkaClient } from '../src/feed/kafka/kafka-client.ts';
import { keepingLogger } from '../test/support/kafka/reading.ts';
import { plainConnection, type TestTopic } from '../test/support/kafka/topic.ts';
import { inOrder } from '../test/support/ledger/history.ts';
import { realLedger } from '../test/support/ledger/options.ts';
import { createRandom } from '../test/support/ledger/random.ts';
import { randomLedger } from '../test/support/ledger/random-ledger.ts';
import { scanLine } from '../test/support/ledger/scan-lines.ts';
import { FLAT_DSO } from '../test/support/scale/ledgers.ts';
import { closingUpdates, createSpread } from '../test/support/scale/world.ts';

const BATCH_ROWS = 1_000;

export interface ScaleFeed {
  readonly events: number;
  readonly messages: number;
  /** The interval that ends with the last snapshot. */
  readonly lastSeq: number;
}

/** Writes a ledger of so many creates and archives into a file, and into the partitions of a topic at random. */
export async function makeScaleFeed(
  path: string,
  topic: TestTopic,
  { events, partitions, periodUs }: { events: number; partitions: number; periodUs: number },
): Promise<ScaleFeed> {
  const producer = createKafkaClient(plainConnection(topic.address), keepingLogger()).producer();
  await producer.connect();
  const file = openSync(path, 'w');
  let batch: { partition: number; value: string }[] = [];
  let messages = 0;
  const flush = async (): Promise<void> => {
    messages += batch.length;
    writeSync(file, batch.map(({ value }) => `${value}\n`).join(''));
    await producer.send({ topic: topic.name, messages: batch as Message[] });
    batch = [];
  };
  const partitionOf = createSpread(createRandom(1), partitions);
  let [made, last] = [0, ''];
  for (const item of randomLedger({ ...realLedger({ seed: 1, events }), dso: FLAT_DSO })) {
    const line = scanLine(item);
    if (line === null || item.kind !== 'update') continue;
    for (const event of inOrder(item.events)) if (event.kind === 'create' || event.consuming) made++;
    last = line;
    batch.push({ partition: partitionOf(item), value: line });
    if (batch.length >= BATCH_ROWS) await flush();
    if (made >= events) break;
  }
  const closing = closingUpdates(last, { partitions, periodUs });
  batch.push(...closing.rows);
  await flush();
  closeSync(file);
  await producer.disconnect();
  return { events: made, messages, lastSeq: Math.ceil(closing.ends[0]! / periodUs) - 1 };
}
