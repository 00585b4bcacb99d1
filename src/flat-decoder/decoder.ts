import { createKafkaClient, type KafkaConnection } from '../feed/kafka/kafka-client.ts';
import { describeKafkaError, passesAnew, RETRY_READING } from '../feed/kafka/kafka-errors.ts';
import type { SourceLogger } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { createPauses } from '../retry.ts';
import type { DecodedBatch, DecodeRules } from './decode-batch.ts';
import { addBatch, type DecoderFigures } from './figures.ts';
import { runMember } from './member.ts';
import { type DecoderTopics, prepareTopics } from './topics.ts';

export interface DecoderOptions {
  readonly connection: KafkaConnection;
  readonly group: string;
  readonly topics: DecoderTopics;
  /** Whether topics to write to are created where they are missing. */
  readonly create: boolean;
  readonly rules: Omit<DecodeRules, 'now' | 'dropped'>;
  /** Messages that are not decoded where a partition is halted at them: offsets by partition. */
  readonly dropped: ReadonlyMap<number, ReadonlySet<number>>;
  readonly markIntervalMs: number;
  /** After how long the group gives a silent member's partitions to others. */
  readonly sessionTimeoutMs?: number;
  readonly figures: DecoderFigures;
  readonly logger: SourceLogger;
}

export const DECODE_GROUP_DEFAULT = 'holdfast-decode';
const SESSION_TIMEOUT_MS = 10_000;
const PROGRESS_INTERVAL_MS = 10_000;
const NONE: ReadonlySet<number> = new Set();

/**
 * Decodes as a member of a group until the signal aborts: reads a topic of updates and writes their flat events to another. Waits
 * for what may come back, as a new member; throws what will not.
 */
export async function runDecoder(options: DecoderOptions, signal: AbortSignal): Promise<void> {
  const { connection, topics, rules, dropped, figures, logger, sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  const kafka = createKafkaClient(connection, logger);
  const { dso, periodUs, migrationId } = rules;
  const pauses = createPauses({ ...RETRY_READING, passes: passesAnew }, { signal });
  const progress = reportProgress(topics.input, figures, logger);
  try {
    while (!signal.aborted) {
      try {
        const { brokers } = connection;
        const partitions = await prepareTopics(kafka, { topics, brokers, create: options.create });
        figures.topicPartitions = partitions;
        const member = {
          ...options,
          kafka,
          settings: { flatTopic: topics.flat, dso, periodUs, migrationId },
          partitions,
          rules: (partition: number) => ({
            ...rules,
            now: Date.now() * 1000,
            dropped: dropped.get(partition) ?? NONE,
          }),
          sessionTimeoutMs,
          onDecoded(batch: DecodedBatch) {
            pauses.afterSuccess();
            addBatch(figures, batch);
          },
        };
        await runMember(member, signal);
      } catch (error) {
        const reason = error instanceof Refusal ? error.message : describeKafkaError(error, topics.input);
        if (error instanceof Refusal) throw error;
        if (!passesAnew(error)) throw new Error(`the decoder stopped: ${reason}`, { cause: error });
        await pauses.afterFailure(error, ({ retryInMs }) =>
          logger.warn({ topic: topics.input, err: error, retryInMs }, `cannot decode topic ${topics.input}: ${reason}`),
        );
      }
    }
  } finally {
    clearInterval(progress);
  }
}

/** A line in the log where something was decoded. */
function reportProgress(topic: string, figures: DecoderFigures, logger: SourceLogger): NodeJS.Timeout {
  let reported = 0;
  return setInterval(() => {
    const { messages, events, deadLetters: bad } = figures;
    if (messages > reported) logger.info({ topic, messages, events, bad }, 'decoded');
    reported = messages;
  }, PROGRESS_INTERVAL_MS);
}
