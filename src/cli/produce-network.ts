import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counted } from '../counted.ts';
import { openLinesFile } from '../feed/file/lines-file.ts';
import { openFileSource } from '../feed/file/source.ts';
import { openTopicProducer } from '../feed/kafka/producer.ts';
import type { TopicSettings } from '../feed/kafka/settings.ts';
import { IN_SEED } from '../feed/scan/cursor.ts';
import { lastPlace } from '../feed/scan/place-of-line.ts';
import { Refusal } from '../refusal.ts';
import { EXIT, type ExitCode, type Invocation } from './command.ts';
import { openNetworkLines } from './network-lines.ts';
import { createSender, type Sender } from './topic-sender.ts';
import type { NetworkLines } from './written.ts';

/** How often the log says how much is sent. */
const REPORT_MS = 10_000;

/** Sends what a network has behind what the topic holds. */
export async function sendNetwork(
  { options, config, terminal, logger }: Invocation,
  { topic, ...connection }: TopicSettings,
): Promise<ExitCode> {
  const stop = terminal.stopSignal();
  const follow = options.follow === true;
  await using producer = await openTopicProducer({
    connection,
    topic,
    create: options.create === true ? { partitions: 1 } : null,
    logger,
    signal: stop,
    // A bridge is to be there when the brokers are.
    ...(follow && { retryForMs: null }),
  });
  const ends = await producer.ends();
  const written = { ends, name: `topic ${topic}`, otherwise: 'send to another topic' };
  const network = openNetworkLines(written, { config, follow, stop, logger });
  if (network.isHalfSeed)
    throw new Refusal(
      `topic ${topic} ends within a seed, which was not sent whole: delete the topic, or send to another one`,
    );
  const sender = await createSender(producer, { topic, logger, isInOrder: true });
  using _ = reporting(sender, {
    network,
    say: (fields) => logger.info({ topic, ...fields }, 'sending the network to the topic'),
  });
  using spool = createSpool({
    // Its imports and ours would both count.
    async onWhole() {
      if ((await producer.ends()).length === 0) return;
      throw new Refusal(
        `topic ${topic} was empty before the seed was read, and now has messages of another process: only one may write it; ` +
          'send to another topic',
      );
    },
  });
  try {
    for await (const step of network.read()) {
      if (step === 'anew') await spool.begin();
      else if (step !== 'begins') await spool.pass(step, sender);
    }
  } catch (error) {
    // It waits for brokers until it is stopped.
    if (!stop.aborted) throw error;
  }
  const sent = counted(sender.sent, 'message');
  terminal.stdout.write(`${sent} sent to topic ${topic}, ${counted(producer.partitions, 'partition')}\n`);
  return EXIT.ok;
}

function reporting(
  sender: Sender,
  { network, say }: { network: NetworkLines; say: (fields: object) => void },
): Disposable {
  let reported = 0;
  const timer = setInterval(() => {
    if (sender.sent === reported) return;
    reported = sender.sent;
    say({ sent: sender.sent, lagSeconds: network.lagSeconds });
  }, REPORT_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Keeps a seed on disk until all of it is there: what is sent cannot be taken back, and another Scan, or the same one later, has
 * another seed.
 */
function createSpool({ onWhole }: { onWhole: () => Promise<void> }) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
  const path = join(folder, 'seed.ndjson');
  let file: ReturnType<typeof openLinesFile> | null = null;
  return {
    async begin(): Promise<void> {
      if (file === null) file = openLinesFile(path, process.stdout, 0);
      else await file.clear();
    },
    /** Sends messages; of a seed all of it once its mark is there. */
    async pass(messages: readonly Uint8Array[], sender: Sender): Promise<void> {
      if (file !== null && !isEndOfSeed(messages)) return file.write(messages);
      if (file !== null) {
        await file.end();
        file = null;
        await onWhole();
        for await (const lines of openFileSource(path).batches(new AbortController().signal))
          for (const line of lines) await sender.add(line, 'the seed');
        rmSync(path);
      }
      for (const [i, bytes] of messages.entries()) await sender.add({ bytes, offset: i + 1 }, 'the network');
      await sender.flush();
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function isEndOfSeed(messages: readonly Uint8Array[]): boolean {
  const last = lastPlace(messages);
  return last !== null && last !== IN_SEED;
}
