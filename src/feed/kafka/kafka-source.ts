import { createPauses } from '../../retry.ts';
import {
  BrokenContainer,
  FeedRefused,
  type Message,
  type Source,
  type SourceContext,
  type SourceStart,
} from '../source.ts';
import { createKafkaClient, type TopicSettings } from './kafka-client.ts';
import { describeKafkaError, isTransient, MayPass, RETRY_READING } from './kafka-errors.ts';
import { lackingTexts, NOTHING_READ, positionsOf, startOf, type TopicTelemetry } from './kafka-positions.ts';
import { openSession, type Session } from './kafka-session.ts';

export type KafkaSourceOptions = TopicSettings &
  Pick<SourceContext, 'migrationId' | 'stored' | 'logger'> & { readonly group: string };

const BATCH_MESSAGES_MAX = 2_000;

/**
 * A Kafka topic: its messages from the stored position on, in one order over all partitions. Waits for what may come back (a
 * broker that is down, a missing topic); throws what will not: FeedRefused, or the error that stopped kafkajs.
 */
export function openKafkaSource(options: KafkaSourceOptions): Source<TopicTelemetry> {
  const { topic, logger } = options;
  const kafka = createKafkaClient(options, logger);
  const positions = positionsOf(options.stored.lanes);
  const stored = new Map([...positions].map(([partition, { nextOffset }]) => [partition, nextOffset]));
  /** What the positions belong to; null before the topic was found. */
  let { identity } = options.stored;
  let session: Session | null = null;
  const connecting = `connecting to Kafka at ${options.brokers.join(',')}`;
  /** The batch that could not be read last, which is fetched twice: the connection may have damaged it. */
  let damaged = '';
  /** Why nothing is read, while there is no session. */
  let notRead = connecting;
  let last: Omit<TopicTelemetry, 'stopped'> = NOTHING_READ;
  let change = Promise.withResolvers<void>();

  function onChange(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  async function* batches(signal: AbortSignal): AsyncGenerator<readonly Message[] | SourceStart> {
    const pauses = createPauses(RETRY_READING, { signal });
    signal.addEventListener('abort', onChange);
    while (!signal.aborted) {
      try {
        const { newestRecordTime } = last;
        const from = { identity, positions };
        await using opened = await openSession({ ...options, kafka, from, stored, newestRecordTime, onChange });
        session = opened;
        notRead = connecting;
        try {
          notePositions(opened);
          const lacking = lackingTexts(positions);
          if (identity === null && lacking.length > 0)
            logger.warn({ topic }, `this topic begins late for these views: ${lacking.join('; ')}`);
          identity = opened.identity;
          yield startOf(identity, positions);
          while (!signal.aborted) {
            const changed = change.promise;
            const messages = opened.take(BATCH_MESSAGES_MAX);
            if (messages.length === 0) {
              await changed;
            } else {
              // A session that only begins is no success: one that fails again and again is waited for longer and longer.
              pauses.afterSuccess();
              yield messages;
            }
          }
        } finally {
          notePositions(opened);
          last = opened.intake.telemetry();
          session = null;
        }
      } catch (thrown) {
        const error = readAgain(thrown);
        if (!isTransient(error)) {
          const isOurs = error instanceof FeedRefused || error instanceof BrokenContainer;
          const reason = `the Kafka consumer stopped: ${describeKafkaError(error, topic)}`;
          const final = isOurs ? error : new Error(reason, { cause: error });
          notRead = final.message;
          throw final;
        }
        await pauses.afterFailure(error, ({ retryInMs }) => {
          notRead = `cannot read topic ${topic}: ${describeKafkaError(error, topic)}`;
          logger.warn({ topic, err: error, retryInMs }, notRead);
        });
      }
    }
    notRead = `topic ${topic} is no longer read`;
  }

  /** A transient error in place of the first one of a batch. */
  function readAgain(error: unknown): unknown {
    if (!(error instanceof BrokenContainer)) return error;
    const batch = JSON.stringify(error.batch);
    if (batch === damaged) return error;
    damaged = batch;
    return new MayPass(`${error.location}: ${error.message}`);
  }

  /** New partitions keep this beginning, even if the topic begins later when the next session looks. */
  function notePositions({ intake }: Session): void {
    for (const [partition, position] of intake.positions()) positions.set(partition, position);
  }

  return {
    batches,
    progress: () => ({ read: 0, total: null }),
    stored(resumeTokens) {
      for (const [lane, resumeToken] of resumeTokens) stored.set(Number(lane), Number(resumeToken));
      session?.intake.noteStored();
    },
    telemetry() {
      if (session === null) return { stopped: notRead, ...last };
      return { stopped: null, ...session.intake.telemetry() };
    },
  };
}
