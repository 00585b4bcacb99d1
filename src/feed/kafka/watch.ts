import { setTimeout as sleep } from 'node:timers/promises';
import { createPauses } from '../../retry.ts';
import { FeedRefused, type Source } from '../source.ts';
import { readBounds } from './bounds.ts';
import { createKafkaClient, withAdmin } from './client.ts';
import { describeKafkaError, RETRY_WATCHING } from './errors.ts';
import { checkIdentity, positionsOf, startOffsets } from './positions.ts';
import type { KafkaSourceOptions } from './source.ts';
import { NOTHING_READ, type PartitionTelemetry, type TopicTelemetry, withoutEnds } from './status.ts';

const INTERVAL_MS = 1_000;

/** Follows the ends of a topic after a halt, and reads no messages. */
export function openKafkaWatch({ connection, topic, stored, logger }: KafkaSourceOptions): Source<TopicTelemetry> {
  const { identity } = stored;
  const positions = positionsOf(stored.lanes);
  const kafka = createKafkaClient(connection, logger);
  const connecting = `connecting to Kafka at ${connection.brokers.join(',')}`;
  let stopped = connecting;
  let partitions: readonly PartitionTelemetry[] = [];

  /** Runs until a request fails, and throws that error. */
  function follow(signal: AbortSignal, onAnswer: () => void): Promise<void> {
    return withAdmin(kafka, async (admin) => {
      checkIdentity(identity, { clusterId: (await admin.describeCluster()).clusterId, topic });
      while (!signal.aborted) {
        const bounds = await readBounds(admin, topic);
        startOffsets(topic, { identity, positions }, bounds);
        partitions = [...bounds].map(([partition, { low, high }]) => {
          const nextOffset = positions.get(partition)?.nextOffset ?? low;
          return { partition, nextOffset, endOffset: high, passedOver: false };
        });
        stopped = `topic ${topic} is not read: ingest is halted`;
        onAnswer();
        await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
      }
    });
  }

  return {
    async *batches(signal) {
      const pauses = createPauses(RETRY_WATCHING, { signal });
      while (!signal.aborted) {
        try {
          await follow(signal, pauses.afterSuccess);
        } catch (error) {
          // Earlier answers may be of another topic.
          if (error instanceof FeedRefused) partitions = withoutEnds(positions);
          await pauses.afterFailure(error, () => {
            const before = stopped;
            stopped = `cannot read topic ${topic}: ${describeKafkaError(error, topic)}`;
            if (stopped !== before) logger.warn({ topic, err: error }, stopped);
          });
        }
      }
      yield* [];
    },
    progress: () => ({ read: 0, total: null }),
    telemetry: () => ({ ...NOTHING_READ, stopped, partitions }),
  };
}
