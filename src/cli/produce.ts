import { statSync } from 'node:fs';
import { KAFKA_SETTINGS, keysOf, LEDGER_API_SETTINGS, SCAN_SETTINGS } from '../config/setting-list.ts';
import { counted } from '../counted.ts';
import { type FileSource, openFileSource, readableSize } from '../feed/file/file-source.ts';
import type { TopicSettings } from '../feed/kafka/kafka-client.ts';
import { openPatientProducer } from '../feed/kafka/topic-producer.ts';
import { BrokenContainer, type Message } from '../feed/source.ts';
import { refuseDisorder } from '../ingest/file-order.ts';
import { Refusal } from '../refusal.ts';
import type { CliCommand, Invocation } from './command.ts';
import { createProgress, FILE_BAR, fileStep } from './progress.ts';
import { STANDARD_INPUT } from './replay.ts';
import { sendNetwork } from './transfer/produce-network.ts';
import { resumePartitions } from './transfer/topic-resume.ts';
import { createSender, synchronizerOf } from './transfer/topic-sender.ts';

export const produceCommand: CliCommand = {
  usage: 'produce [FILE...]',
  summary:
    'Send feed files (- is standard input) or a network to a Kafka topic, behind what it has of them: one partition per synchronizer, checkpoints to each',
  examples: [
    'holdfast produce --kafka-brokers broker:9092 --kafka-topic updates --create feed.ndjson',
    'zcat old.ndjson.gz | holdfast produce --kafka-brokers broker:9092 --kafka-topic updates -',
    'holdfast produce --scan https://scan.example --follow --kafka-brokers broker:9092 --kafka-topic updates --create',
  ],
  dataDir: 'unused',
  // The settings of a connection; group and idle partitions concern only readers.
  settings: [
    ...keysOf(KAFKA_SETTINGS).filter((key) => key !== 'kafkaGroup' && key !== 'kafkaPartitionIdle'),
    ...keysOf(SCAN_SETTINGS),
    ...keysOf(LEDGER_API_SETTINGS),
    'migrationId',
  ],
  addOptions: (command) =>
    command
      .option(
        '--create',
        'create the topic if it is missing, with a partition for each synchronizer of the files, or one for a network',
      )
      .option('--follow', 'of a network: continue at its end, until SIGTERM or SIGINT'),
  run: async (invocation) => {
    const { args: files, options, config } = invocation;
    const { kafka } = config;
    const isNetwork = config.scan !== null || config.ledgerApi !== null;
    if (kafka === null) throw new Refusal('--kafka-brokers and --kafka-topic say where to send');
    if (files.length > 0 === isNetwork)
      throw new Refusal('name either files to send, or with --scan or --ledger-api a network');
    if (!isNetwork && options.follow === true) throw new Refusal('--follow is for a network: files have an end');
    await (isNetwork ? sendNetwork(invocation, kafka) : sendFiles(invocation, kafka));
  },
};

async function sendFiles(
  { args: files, options, terminal, logger }: Invocation,
  { topic, ...connection }: TopicSettings,
): Promise<void> {
  for (const file of files) readableSize(file);
  const signal = terminal.stopSignal();
  // What is sent cannot be taken back, and a reader halts where it is out of order.
  await refuseDisorder(files, { migrationId: 0, signal });
  const create = options.create === true ? { partitions: await countSynchronizers(files, signal) } : null;
  await using producer = await openPatientProducer({ connection, topic, create, logger, signal });
  using progress = createProgress({ doing: 'producing', format: FILE_BAR, stderr: terminal.stderr, logger });
  const resumed = resumePartitions(topic, await producer.ends());
  const sender = await createSender(producer, { topic, logger, resumed });
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
    await sender.end();
  } catch (error) {
    throw withSentCount(error, sender.sent);
  }
  const sent = counted(sender.sent, 'message');
  const to = `topic ${topic}, ${counted(producer.partitions, 'partition')}`;
  const had = sender.leftOut > 0 ? `; ${sender.leftOut} left out, up to where it ended` : '';
  terminal.stdout.write(`${sent} sent to ${to}${had}\n`);
}

/** The error with its class and message, and what an operator needs to continue. */
function withSentCount(error: unknown, sent: number): unknown {
  // Of one that refuses to go on from here, the message says all.
  if (!(error instanceof Error) || (error instanceof Refusal && sent === 0)) return error;
  error.message += `; ${counted(sent, 'message')} sent before; called again with the same files or input, it continues behind them`;
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
