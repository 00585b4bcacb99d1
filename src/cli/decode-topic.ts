import { Option } from 'commander';
import type { Registry } from 'prom-client';
import { KAFKA_SETTINGS, keysOf, SETTINGS } from '../config/setting-list.ts';
import { startMetricsServer } from '../http/metrics-server.ts';
import { counters, createMetrics, gauges } from '../http/prometheus.ts';
import { Refusal } from '../refusal.ts';
import { createFigures, DECODE_GROUP_DEFAULT, type DecoderFigures, runDecoder } from '../scale/decoder.ts';
import { durationMs, optionName, parseAs } from '../setting-kinds.ts';
import { showGiven } from '../show-given.ts';
import { PERIOD_DEFAULT_US } from '../views/store/database.ts';
import type { CliCommand } from './command.ts';

const MARK_INTERVAL = durationMs('100ms', '1m')('how often a partition says how far time has come', { default: '5s' });

export const decodeCommand: CliCommand = {
  usage: 'decode',
  summary: 'Decode a topic of updates into flat coin events, without tokens, as a member of a group, until SIGTERM',
  examples: [
    'holdfast decode --kafka-brokers broker:9092 --kafka-topic updates --flat-topic coins --create --dso DSO::1220ab',
    'holdfast decode --kafka-brokers broker:9092 --kafka-topic updates --flat-topic coins --dso DSO::1220ab --drop 3:1841',
  ],
  dataDir: 'unused',
  settings: [
    ...keysOf(KAFKA_SETTINGS).filter((key) => key !== 'kafkaPartitionIdle'),
    'dso',
    'migrationId',
    'snapshotPeriod',
    'onBadUpdate',
    'recordTimeAheadMax',
    'metricsAddress',
  ],
  helps: {
    kafkaGroup: `Kafka consumer group (default: ${DECODE_GROUP_DEFAULT})`,
    dso: 'the DSO whose coins count; required',
    metricsAddress: 'serve /metrics and /livez at this address; port 0 is a free one',
    snapshotPeriod: 'time between snapshots, that of the store (default: 10m)',
  },
  addOptions: (command) =>
    command
      .requiredOption(
        '--flat-topic <TOPIC>',
        'topic of the flat events, with as many partitions as that of the updates',
      )
      .option(
        '--dead-letter-topic <TOPIC>',
        'topic of what cannot be decoded (default: the flat topic and "-dead-letters")',
      )
      .option('--create', 'create the topics to write to where they are missing')
      .option('--drop <PARTITION:OFFSET...>', 'go on without these messages, at which their partitions have stopped')
      .addOption(
        new Option('--mark-interval <D>', MARK_INTERVAL.help).default(MARK_INTERVAL.default, MARK_INTERVAL.default),
      ),
  run: async ({ options, config, terminal, logger }) => {
    const { kafka, dso, migrationId, snapshotPeriodUs, onBadUpdate, recordTimeAheadMaxUs, metricsAddress } = config;
    if (kafka === null) throw new Refusal('--kafka-brokers and --kafka-topic say which updates to decode');
    if (dso === null)
      throw new Refusal(`${optionName('dso')} is required: members of a group cannot agree on the first one seen`);
    const flat = parseAs('--flat-topic', SETTINGS.kafkaTopic, options.flatTopic);
    const deadLetterTopic = options.deadLetterTopic ?? `${flat}-dead-letters`;
    const deadLetters = parseAs('--dead-letter-topic', SETTINGS.kafkaTopic, deadLetterTopic);
    const names = [kafka.topic, flat, deadLetters];
    if (new Set(names).size < names.length)
      throw new Refusal(`given ${names.join(', ')}, expected three different topics`);
    const figures = createFigures();
    const decoder = {
      connection: kafka,
      figures,
      group: kafka.group ?? DECODE_GROUP_DEFAULT,
      topics: { input: kafka.topic, flat, deadLetters },
      create: options.create === true,
      rules: {
        dso,
        migrationId: migrationId ?? 0,
        periodUs: snapshotPeriodUs ?? PERIOD_DEFAULT_US,
        onBadUpdate,
        recordTimeAheadMaxUs,
      },
      dropped: droppedOffsets((options.drop ?? []) as readonly string[]),
      markIntervalMs: parseAs('--mark-interval', MARK_INTERVAL, options.markInterval),
      logger,
    };
    logger.info('only coins are decoded: tokens are left out');
    await using _ =
      metricsAddress && (await startMetricsServer(decoderMetrics(figures), { ...metricsAddress, logger }));
    await runDecoder(decoder, terminal.stopSignal());
  },
};

function droppedOffsets(given: readonly string[]): ReadonlyMap<number, ReadonlySet<number>> {
  const dropped = new Map<number, Set<number>>();
  for (const text of given) {
    const [, partition, offset] = /^(\d{1,9}):(\d{1,15})$/.exec(text) ?? [];
    if (partition === undefined || offset === undefined)
      throw new Refusal(`--drop: given ${showGiven(text)}, expected a partition and an offset, such as 3:1841`);
    dropped.set(Number(partition), (dropped.get(Number(partition)) ?? new Set<number>()).add(Number(offset)));
  }
  return dropped;
}

/** The registry of a process that decodes. */
export function decoderMetrics(figures: DecoderFigures): Registry {
  const { registry } = createMetrics();
  gauges(registry, {
    holdfast_decoder_partitions: { help: 'Partitions that this process decodes.', read: () => figures.partitions.size },
    holdfast_decoder_topic_partitions: {
      help: 'Partitions of the topic of updates: somebody must decode each.',
      read: () => figures.topicPartitions,
    },
    holdfast_decoder_stopped_partitions: {
      help: 'Partitions of this process that stopped at a message, by why.',
      label: 'cause',
      read: () => {
        const stopped = (cause: string): number =>
          [...figures.partitions.values()].filter((each) => each.stopped === cause).length;
        return { halted: stopped('halted'), ahead_of_clock: stopped('ahead_of_clock') };
      },
    },
    holdfast_decoder_reached_timestamp_seconds: {
      help: 'Record time reached in the partition of this process that is furthest behind.',
      read: () => {
        const reached = [...figures.partitions.values()].flatMap(({ position }) => position.last?.t ?? []);
        return reached.length === 0 ? null : Math.min(...reached) / 1_000_000;
      },
    },
  });
  counters(registry, {
    holdfast_decoder_messages_total: { help: 'Messages decoded.', read: () => figures.messages },
    holdfast_decoder_events_total: { help: 'Flat events written.', read: () => figures.events },
    holdfast_decoder_dead_letters_total: {
      help: 'Messages that could not be decoded, by what was decided.',
      label: 'decision',
      read: () => figures.deadLetters,
    },
  });
  return registry;
}
