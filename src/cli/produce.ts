import { statSync } from 'node:fs';
import { KAFKA_KEYS } from '../config/kafka.ts';
import { counted } from '../counted.ts';
import { tryDecode } from '../decode/decode.ts';
import { type FileSource, openFileSource } from '../feed/file/source.ts';
import { readableSize } from '../feed/file/unusable-file.ts';
import { openTopicProducer, type ProducedRecord, type TopicProducer } from '../feed/kafka/producer.ts';
import type { SourceLogger } from '../feed/source.ts';
import { BrokenContainer, type Message } from '../feed/source.ts';
import { createPartitionPlan, type Destination, destinationFor } from '../feed/synchronizer-partitions.ts';
import { refuseDisorder } from '../ingest/file-order.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import { type CliCommand, EXIT } from './command.ts';
import { createProgress, FILE_BAR, fileStep } from './progress.ts';
import { STANDARD_INPUT } from './replay.ts';

/** Below Kafka's default limit of a batch, 1 MiB; a larger message is sent alone and needs a topic that allows it. */
const PARTITION_BYTES_MAX = 800_000;
/** Bytes not sent yet, over all partitions. */
const REQUEST_BYTES_MAX = 8_000_000;
const RECORD_OVERHEAD_BYTES = 100;

export const produceCommand: CliCommand = {
  usage: 'produce <FILE...>',
  summary:
    'Send feed files (- is standard input) to a Kafka topic: one partition per synchronizer, checkpoints to each',
  examples: [
    'holdfast produce --kafka-brokers broker:9092 --kafka-topic updates --create feed.ndjson',
    'zcat old.ndjson.gz | holdfast produce --kafka-brokers broker:9092 --kafka-topic updates -',
  ],
  dataDir: 'unused',
  // The settings of a connection; group and idle partitions concern only readers.
  settings: KAFKA_KEYS.filter((key) => key !== 'kafkaGroup' && key !== 'kafkaPartitionIdle'),
  addOptions: (command) =>
    command.option(
      '--create',
      'create the topic if it is missing, with a partition for each synchronizer of the files',
    ),
  run: async ({ args: files, options, config: { kafka }, terminal, logger }) => {
    if (kafka === null) throw new Refusal('--kafka-brokers and --kafka-topic say where to send the files');
    for (const file of files) readableSize(file);
    const signal = terminal.stopSignal();
    // What is sent cannot be taken back, and a reader halts where it is out of order.
    await refuseDisorder(files, { migrationId: 0, signal });
    const create = options.create === true ? { partitions: await countSynchronizers(files, signal) } : null;
    await using producer = await openTopicProducer({ connection: kafka, topic: kafka.topic, create, logger, signal });
    using progress = createProgress({ doing: 'producing', format: FILE_BAR, stderr: terminal.stderr, logger });
    const sender = await createSender(producer, { topic: kafka.topic, logger });
    try {
      for (const file of files) {
        const source = openFileSource(file);
        for await (const messages of batchesOf(source, signal)) {
          for (const message of messages) await sender.add(message, file);
          progress.update(fileStep(file, source.progress(), { messages: sender.sent }));
        }
      }
      await sender.flush();
      progress[Symbol.dispose]();
      if (signal.aborted) throw new Error('stopped before the end');
    } catch (error) {
      throw withSentCount(error, sender.sent);
    }
    const sent = counted(sender.sent, 'message');
    terminal.stdout.write(`${sent} sent to topic ${kafka.topic}, ${counted(producer.partitions, 'partition')}\n`);
    return EXIT.ok;
  },
};

/** The error with its class and message, and what an operator needs to continue. */
function withSentCount(error: unknown, sent: number): unknown {
  if (!(error instanceof Error)) return error;
  error.message +=
    `; ${counted(sent, 'message')} sent before; sending them again is harmless: ` +
    'an update that comes twice counts once';
  return error;
}

/** Names the file in the error of a broken container. */
async function* batchesOf(source: FileSource, signal: AbortSignal): AsyncGenerator<readonly Message[]> {
  try {
    yield* source.batches(signal);
  } catch (error) {
    if (!(error instanceof BrokenContainer)) throw error;
    throw new Error(`${source.name}, ${error.place}: ${error.message}`, { cause: error });
  }
}

interface Sender {
  /** How many of the files' first messages the brokers have; a checkpoint counts once. */
  readonly sent: number;
  add(message: Message, file: string): Promise<void>;
  flush(): Promise<void>;
}

async function createSender(
  producer: TopicProducer,
  { topic, logger }: { topic: string; logger: Pick<SourceLogger, 'info'> },
): Promise<Sender> {
  const isSingle = producer.partitions === 1;
  let known = isSingle ? new Map<string, number>() : await producer.partitionsByName(synchronizerOf, { all: false });
  let isAllKnown = known.size === 0;
  let plan = createPartitionPlan(producer.partitions, known);
  const every = Array.from({ length: producer.partitions }, (_, partition) => partition);
  let records: ProducedRecord[] = [];
  let bytes = new Map<number, number>();
  let total = 0;
  let added = 0;
  let sent = 0;

  /** A synchronizer may follow another one in a partition, and is then found only by reading the whole topic. */
  async function partitionOf(synchronizerId: string): Promise<number | null> {
    if (!isAllKnown && !known.has(synchronizerId)) {
      logger.info({ topic, synchronizerId }, 'reading the topic to see which partition has this synchronizer');
      known = await producer.partitionsByName(synchronizerOf, { all: true });
      isAllKnown = true;
      plan = createPartitionPlan(producer.partitions, known);
    }
    return plan(synchronizerId);
  }

  async function partitionsOf(destination: Destination): Promise<readonly number[]> {
    if (destination === 'every') return every;
    if (destination === 'first') return [0];
    const partition = await partitionOf(destination.synchronizerId);
    if (partition !== null) return [partition];
    throw new Refusal(
      `topic ${topic} has ${counted(producer.partitions, 'partition')}, each with a synchronizer of its own, and none for ` +
        `${destination.synchronizerId}: send to a topic with more partitions, or with a single one`,
    );
  }

  async function flush(): Promise<void> {
    if (records.length > 0) await producer.send(records);
    records = [];
    bytes = new Map();
    total = 0;
    sent = added;
  }

  return {
    get sent() {
      return sent;
    },
    flush,
    async add(message, file) {
      const { bytes: value, offset, overlong } = message;
      if (overlong !== undefined) {
        throw new Error(`${file}, message ${offset} is ${overlong.length} bytes long: no consumer would accept it`);
      }
      const size = (value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
      for (const partition of await partitionsOf(destinationOf(value))) {
        const waiting = bytes.get(partition) ?? 0;
        if (waiting > 0 && (waiting + size > PARTITION_BYTES_MAX || total + size > REQUEST_BYTES_MAX)) await flush();
        records.push({ partition, value });
        bytes.set(partition, (bytes.get(partition) ?? 0) + size);
        total += size;
      }
      added += 1;
    },
  };
}

async function countSynchronizers(files: readonly string[], signal: AbortSignal): Promise<number> {
  // Standard input and pipes can be read only once: a topic of one partition needs no look ahead.
  if (files.some((file) => file === STANDARD_INPUT || !statSync(file).isFile())) return 1;
  const names = new Set<string>();
  for (const file of files) {
    for await (const messages of batchesOf(openFileSource(file), signal)) {
      for (const { bytes } of messages) names.add(synchronizerOf(bytes) ?? '');
    }
  }
  names.delete('');
  return Math.max(1, names.size);
}

function synchronizerOf(value: Uint8Array | null): string | null {
  const destination = destinationOf(value);
  return typeof destination === 'string' ? null : destination.synchronizerId;
}

/** What cannot be decoded is sent as it is, and its readers decide. */
function destinationOf(value: Uint8Array | null): Destination {
  const decoded = value && tryDecode(value, { migrationId: 0 });
  return destinationFor(decoded instanceof BadUpdate ? null : decoded, value);
}
