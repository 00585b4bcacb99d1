import type { SourceContext, SourceKind } from '../source.ts';
import type { KafkaConnection } from './client.ts';
import type { KafkaSourceOptions } from './source.ts';
import { followTopic, type TopicTelemetry } from './status.ts';

/** Which topic to read and how to reach it. */
export interface TopicSettings extends KafkaConnection {
  readonly topic: string;
  /** Null: one made with the data directory. */
  readonly group: string | null;
  /** Null: an idle partition makes the others wait forever. */
  readonly partitionIdleMs: number | null;
  readonly sessionTimeoutMs?: number;
}

/** A lane is a partition, by its number in digits; its cursor is the next offset, in digits too. */
export const TOPIC_KIND: SourceKind<TopicSettings, TopicTelemetry> = {
  kind: 'topic',
  resumes: true,
  placeOf: ({ lane, offset }) => ({ partition: Number(lane), offset }),
  // Loaded only in the thread that reads: kafkajs is large, and the writer's thread does not need it.
  async open(settings, context) {
    return (await import('./source.ts')).openKafkaSource(optionsOf(settings, context));
  },
  async watch(settings, context) {
    return (await import('./watch.ts')).openKafkaWatch(optionsOf(settings, context));
  },
  follow: followTopic,
};

function optionsOf(settings: TopicSettings, { directoryId, ...context }: SourceContext): KafkaSourceOptions {
  const { brokers, ssl, sasl, group, ...rest } = settings;
  return { ...rest, ...context, connection: { brokers, ssl, sasl }, group: group ?? `holdfast-${directoryId}` };
}
