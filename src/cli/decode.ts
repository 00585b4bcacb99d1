import { durationMs, optionName, parseAs } from '../config/setting-kinds.ts';
import { KAFKA_SETTINGS, keysOf, SETTINGS } from '../config/setting-list.ts';
import { DECODE_GROUP_DEFAULT, runDecoder } from '../flat-decoder/decoder.ts';
import { createFigures, createLagReader } from '../flat-decoder/figures.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { PERIOD_DEFAULT_US } from '../views/store/database.ts';
import type { CliCommand } from './command.ts';
import { serveDecoderMetrics } from './decode-metrics.ts';

const MARK_INTERVAL = durationMs('100ms', '1m')('how often a partition says how far time has come', { default: '5s' });

export const decodeCommand: CliCommand = {
  usage: 'decode',
  summary:
    'Decode a topic of updates into a topic of flat coin events, as one of many members of a group, until SIGTERM',
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
    'host',
  ],
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
      .option('--mark-interval <D>', MARK_INTERVAL.help, MARK_INTERVAL.default)
      .option('--metrics-port <PORT>', 'serve /metrics and /livez at this port of --host; 0 picks a free one'),
  run: async ({ options, config, terminal, logger }) => {
    const { kafka, dso, migrationId, snapshotPeriodUs, onBadUpdate, recordTimeAheadMaxUs } = config;
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
    const port =
      options.metricsPort === undefined ? null : parseAs('--metrics-port', SETTINGS.port, options.metricsPort);
    const lag = createLagReader(figures, { connection: kafka, topic: kafka.topic, logger });
    await using _ = port === null ? null : await serveDecoderMetrics({ figures, lag, host: config.host, port, logger });
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
