import { statSync } from 'node:fs';
import { KAFKA_SETTINGS, keysOf, LEDGER_API_SETTINGS, SCAN_SETTINGS } from '../config/setting-list.ts';
import { counted } from '../counted.ts';
import { type FileSource, openFileSource, readableSize } from '../feed/file/file-source.ts';
import type { TopicSettings } from '../feed/kafka/kafka-client.ts';
import { passesReopened, RETRY_PRODUCING } from '../feed/kafka/kafka-errors.ts';
import { openTopicProducer, type TopicProducer } from '../feed/kafka/topic-producer.ts';
import { BrokenContainer, type Message } from '../feed/source.ts';
import { refuseDisorder } from '../ingest/file-order.ts';
import { Refusal } from '../refusal.ts';
import { type Pause, retry } from '../retry.ts';
import type { CliCommand, Invocation } from './command.ts';
import { createProgress, fileStep } from './progress.ts';
import { STANDARD_INPUT } from './replay.ts';
import { openNetworkLines } from './transfer/network-lines.ts';
import { createSender, synchronizerOf } from './transfer/topic-sender.ts';

/** How often the log says how much of a network is sent. */
const REPORT_MS = 10_000;

export const produceCommand: CliCommand = {
  usage: 'produce [FILE...]',
  summary:
    'Send feed files or a network to a Kafka topic, behind what it has of them: one partition per synchronizer, checkpoints to each',
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
  await using producer = await openTopicProducer({ connection, topic, create, logger, signal });
  using progress = createProgress({ doing: 'producing', stderr: terminal.stderr, logger });
  const sender = createSender(producer, await producer.tails(), { mayRepeat: true, logger });
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
    // Of one that refuses to go on from here, the message says all.
    if (error instanceof Error && (sender.sent > 0 || !(error instanceof Refusal)))
      error.message += `; ${counted(sender.sent, 'message')} sent before; called again with the same files or input, it continues behind them`;
    throw error;
  }
  const had = sender.leftOut > 0 ? `; ${sender.leftOut} left out, up to where it ended` : '';
  terminal.stdout.write(`${sentText(sender.sent, producer)}${had}\n`);
}

/** Sends what a network has behind what the topic holds. With --follow what fails at the brokers begins again with the end of the topic. */
async function sendNetwork(
  { options, config, terminal, logger }: Invocation,
  { topic, ...connection }: TopicSettings,
): Promise<void> {
  const signal = terminal.stopSignal();
  const follow = options.follow === true;
  const create = options.create === true ? { partitions: 1 } : null;
  let sent = 0;
  const sendOnce = async (): Promise<string> => {
    await using producer = await openTopicProducer({ connection, topic, create, logger, signal });
    const tails = await producer.tails();
    const ends = [...tails.values()].map(({ values }) => values);
    // A participant continues behind an offset, and repeats what other partitions have behind it.
    const mayRepeat = config.scan !== null || producer.partitions > 1;
    const sender = createSender(producer, tails, { mayRepeat, logger });
    const written = { ends, name: `topic ${topic}`, otherwise: 'send to another topic' };
    const network = openNetworkLines(written, config, { follow, stop: signal, logger });
    let reported = 0;
    const report = setInterval(() => {
      const fields = { topic, sent: sender.sent, lagSeconds: network.lagSeconds() };
      if (sender.sent > reported) logger.info(fields, 'sending the network to the topic');
      reported = sender.sent;
    }, REPORT_MS);
    using _ = { [Symbol.dispose]: () => clearInterval(report) };
    const before = sent;
    for await (const step of network.read()) {
      if (step === 'begins') continue;
      if (step === 'restarts') {
        if (sent === 0 && ends.flat().length === 0) continue;
        throw new Refusal(
          `a snapshot import begins, and topic ${topic} has messages already: delete the topic, ` +
            'fetch the network with fetch --output FILE, and send that with produce FILE',
        );
      }
      for (const [i, bytes] of step.entries()) await sender.add({ bytes, offset: i + 1 }, 'the network');
      await sender.flush();
      sent = before + sender.sent;
    }
    return sentText(sent, producer);
  };
  const onFailure = ({ error, retryInMs }: Pause): void =>
    logger.warn({ topic, err: error, retryInMs }, `${error.message}; waiting for it`);
  // A bridge is to be there when the brokers are.
  const policy = { ...RETRY_PRODUCING, forMsMax: null, passes: passesReopened };
  const done = follow ? retry(policy, sendOnce, { signal, onFailure }) : sendOnce();
  terminal.stdout.write(`${await done}\n`);
}

function sentText(sent: number, { topic, partitions }: TopicProducer): string {
  return `${counted(sent, 'message')} sent to topic ${topic}, ${counted(partitions, 'partition')}`;
}

/** Names the file in the error of a broken container. */
async function* batchesOf(source: FileSource, signal: AbortSignal): AsyncGenerator<readonly Message[]> {
  try {
    yield* source.batches(signal);
  } catch (error) {
    if (!(error instanceof BrokenContainer)) throw error;
    throw new Error(`${source.name}, ${error.location}: ${error.message}`, { cause: error });
  }
}

async function countSynchronizers(files: readonly string[], signal: AbortSignal): Promise<number> {
  // Standard input and pipes can be read only once: a topic of one partition needs no look ahead.
  if (files.some((file) => file === STANDARD_INPUT || !statSync(file).isFile())) return 1;
  const names = new Set<string>();
  for (const file of files)
    for await (const messages of batchesOf(openFileSource(file), signal))
      for (const { bytes } of messages) names.add(synchronizerOf(bytes) ?? '');
  names.delete('');
  return Math.max(1, names.size);
}
