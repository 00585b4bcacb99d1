import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Producer } from 'kafkajs';
import { awaitBounds, createKafkaClient } from '../../src/feed/kafka/kafka-client.ts';
import { keepingLogger } from '../../test/support/kafka/reading.ts';
import { plainConnection, type Row } from '../../test/support/kafka/topic.ts';

const PIECE_ROWS = 10;
const PAUSE_MS = 100;
const RETRY_MS = 500;

/** Writes rows into a topic in their order, each once, whatever happens to the broker meanwhile. */
export interface Feeder extends AsyncDisposable {
  /** How many rows there are to send. */
  readonly rows: number;
  /** Sends the next ones, up to that many of all. */
  sendUntil(end: number): Promise<void>;
}

export function createFeeder(address: string, topic: string, rows: readonly Row[]): Feeder {
  const kafka = createKafkaClient(plainConnection(address), keepingLogger());
  const numbers = new Map<number, number>();
  const numbered = rows.map((row) => {
    const no = numbers.get(row.partition) ?? 0;
    numbers.set(row.partition, no + 1);
    return { row, no };
  });
  /** How many each partition has. */
  let there = new Map<number, number>();
  let producer: Producer | null = null;
  let next = 0;

  async function send(piece: readonly (typeof numbered)[number][]): Promise<void> {
    producer ??= kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
    await producer.connect();
    const missing = piece.filter(({ row, no }) => no >= (there.get(row.partition) ?? 0));
    if (missing.length === 0) return;
    await producer.send({ topic, messages: missing.map(({ row }) => row) as Message[] });
    for (const { row, no } of missing) there.set(row.partition, no + 1);
  }

  return {
    rows: rows.length,
    async sendUntil(end) {
      while (next < end) {
        const piece = numbered.slice(next, Math.min(end, next + PIECE_ROWS));
        try {
          await send(piece);
          next += piece.length;
          await sleep(PAUSE_MS);
        } catch {
          // Some of it may be there all the same.
          await producer?.disconnect().catch(() => {});
          producer = null;
          await sleep(RETRY_MS);
          const bounds = await awaitBounds(kafka, topic);
          there = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
        }
      }
    },
    [Symbol.asyncDispose]: async () => producer?.disconnect(),
  };
}
