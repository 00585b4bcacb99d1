import { counted } from '../../counted.ts';
import type { TopicSettings } from '../../feed/kafka/kafka-client.ts';
import { RETRY_PRODUCING } from '../../feed/kafka/kafka-errors.ts';
import { openSoleProducer, openSoleTopic, type SoleProducer, type SoleTopic } from '../../feed/kafka/topic-producer.ts';
import { IN_IMPORT } from '../../feed/network/snapshot-import.ts';
import { lastPosition } from '../../feed/scan/scan-position.ts';
import { Refusal } from '../../refusal.ts';
import { createPauses, type Pause } from '../../retry.ts';
import type { Invocation } from '../command.ts';
import { openNetworkLines } from './network-lines.ts';
import type { NetworkLines } from './network-source.ts';
import { SeedSpool } from './seed-spool.ts';
import { createSender, type Sender } from './topic-sender.ts';

/** How often the log says how much is sent. */
const REPORT_MS = 10_000;

/** Sends what a network has behind what the topic holds. What fails at the brokers begins again with the end of the topic. */
export async function sendNetwork(
  invocation: Invocation,
  { topic: name, ...connection }: TopicSettings,
): Promise<void> {
  const { options, terminal, logger } = invocation;
  const stop = terminal.stopSignal();
  const create = options.create === true ? { partitions: 1 } : null;
  const topic = await openSoleTopic({ connection, topic: name, create, logger });
  // A bridge is to be there when the brokers are.
  const forMsMax = options.follow === true ? null : RETRY_PRODUCING.forMsMax;
  const pauses = createPauses({ ...RETRY_PRODUCING, forMsMax }, { signal: stop });
  const onPause = ({ error, retryInMs, leftMs }: Pause): void => {
    const waits = `waiting for it${leftMs === Infinity ? '' : `, for ${Math.ceil(leftMs / 1000)} s at most`}`;
    logger.warn({ topic: name, err: error, retryInMs }, `${error.message}; ${waits}`);
  };
  let sent = 0;
  const onSent = (messages: number): void => {
    sent += messages;
    pauses.afterSuccess();
  };
  for (let isDone = false; !isDone && !stop.aborted; ) {
    try {
      await sendOnce(invocation, topic, { stop, onSent });
      isDone = true;
    } catch (error) {
      if (!stop.aborted) await pauses.afterFailure(error, onPause);
    }
  }
  const messages = counted(sent, 'message');
  terminal.stdout.write(`${messages} sent to topic ${name}, ${counted(topic.partitions, 'partition')}\n`);
}

async function sendOnce(
  { options, config, logger }: Invocation,
  topic: SoleTopic,
  { stop, onSent }: { stop: AbortSignal; onSent: (messages: number) => void },
): Promise<void> {
  const { topic: name } = topic;
  await using producer = await openSoleProducer(topic);
  const ends = [...(await producer.ends()).values()];
  const written = { ends, name: `topic ${name}`, otherwise: 'send to another topic' };
  const network = openNetworkLines(written, config, { follow: options.follow === true, stop, logger });
  if (network.isHalfSeed)
    throw new Refusal(
      `topic ${name} ends within a seed, which was not sent whole: delete the topic, or send to another one`,
    );
  const sender = await createSender(producer, { topic: name, logger });
  using _ = reporting(sender, {
    network,
    say: (fields) => logger.info({ topic: name, ...fields }, 'sending the network to the topic'),
  });
  using spool = new SeedSpool();
  for await (const step of network.read()) {
    if (step === 'begins') continue;
    if (step === 'anew') await spool.begin();
    else if (spool.isOpen && !isEndOfSeed(step)) await spool.write(step);
    else {
      const before = sender.sent;
      if (spool.isOpen) await sendSeed(spool, step, { producer, sender, name, stop });
      else await sendAll(sender, step);
      onSent(sender.sent - before);
    }
  }
}

async function sendAll(sender: Sender, messages: readonly Uint8Array[]): Promise<void> {
  for (const [i, bytes] of messages.entries()) await sender.add({ bytes, offset: i + 1 }, 'the network');
  await sender.flush();
}

/** Sends a seed with its mark. */
async function sendSeed(
  spool: SeedSpool,
  mark: readonly Uint8Array[],
  { producer, sender, name, stop }: { producer: SoleProducer; sender: Sender; name: string; stop: AbortSignal },
): Promise<void> {
  // Its imports and ours would both count.
  if ((await producer.ends()).size > 0)
    throw new Refusal(
      `topic ${name} was empty before the seed was read, and now has messages of another process: only one may write it; ` +
        'send to another topic',
    );
  await producer.whole(async () => {
    for await (const lines of spool.take(stop)) for (const line of lines) await sender.add(line, 'the seed');
    await sendAll(sender, mark);
  });
}

function reporting(
  sender: Sender,
  { network, say }: { network: NetworkLines; say: (fields: object) => void },
): Disposable {
  let reported = 0;
  const timer = setInterval(() => {
    if (sender.sent === reported) return;
    reported = sender.sent;
    say({ sent: sender.sent, lagSeconds: network.lagSeconds() });
  }, REPORT_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function isEndOfSeed(messages: readonly Uint8Array[]): boolean {
  const last = lastPosition(messages);
  return last !== null && last !== IN_IMPORT;
}
