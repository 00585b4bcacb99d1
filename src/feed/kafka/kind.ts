import type { SourceContext, SourceKind } from '../source.ts';
import type { TopicSettings } from './settings.ts';
import type { KafkaSourceOptions } from './source.ts';
import { followTopic, type TopicTelemetry } from './status.ts';

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
