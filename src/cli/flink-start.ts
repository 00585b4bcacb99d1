import { KAFKA_KEYS } from '../config/kafka.ts';
import { optionName } from '../config/settings.ts';
import { DECODE_GROUP_DEFAULT } from '../decoder/decoder.ts';
import { awaitRunning } from '../flink/await-running.ts';
import { createJobManager } from '../flink/job-manager.ts';
import { secretsOf } from '../flink/parameters.ts';
import { startJob } from '../flink/start.ts';
import { Refusal } from '../refusal.ts';
import { type CliCommand, EXIT } from './command.ts';
import { FLINK_KEYS, requirePostgres, requireRest } from './flink-settings.ts';
import { createProgress } from './progress.ts';

export const flinkStartCommand: CliCommand = {
  usage: 'flink start',
  summary: 'Start the job that fills the store from the topic of flat events',
  examples: [
    'holdfast flink start --flink-gateway http://gateway:8083 --flink-rest http://jobmanager:8081 --kafka-brokers broker:9092 \\\n' +
      '      --kafka-topic coins --postgres postgres://engine@db:5432/holdfast --flink-parallelism 2',
    'holdfast flink start --config holdfast.json --savepoint file:/savepoints/savepoint-18944f-2c2f6a6d1a5b',
  ],
  dataDir: 'unused',
  settings: [
    'flinkGateway',
    ...FLINK_KEYS,
    ...KAFKA_KEYS.filter((key) => key !== 'kafkaPartitionIdle'),
    'flinkParallelism',
    'flinkCheckpointInterval',
  ],
  addOptions: (command) =>
    command
      .option('--savepoint <PATH>', 'go on from a savepoint, or from a checkpoint that Flink kept')
      .option(
        '--replace-job <ID>',
        'in place of a job that nobody stopped and this cluster does not know: it must not come back',
      ),
  run: async ({ options, config, terminal, logger }) => {
    const { flinkGateway: gateway, kafka } = config;
    if (gateway === null) throw new Refusal(`${optionName('flinkGateway')} says which SQL gateway`);
    const rest = requireRest(config);
    if (kafka === null) throw new Refusal('--kafka-brokers and --kafka-topic say which flat events to read');
    const postgres = requirePostgres(config, terminal.env);
    const jobId = await startJob({
      gateway,
      rest,
      kafka,
      group: kafka.group ?? DECODE_GROUP_DEFAULT,
      postgres,
      parallelism: config.flinkParallelism,
      checkpointIntervalMs: config.flinkCheckpointIntervalMs,
      savepoint: (options.savepoint as string | undefined) ?? null,
      replacedJob: (options.replaceJob as string | undefined) ?? null,
      logger,
    });
    terminal.stdout.write(`${jobId}\n`);
    using progress = createProgress({
      doing: 'waiting until all tasks of the job run',
      format: '{bar} {value} of {total} tasks run',
      clears: true,
      stderr: terminal.stderr,
      logger,
    });
    await awaitRunning(createJobManager(rest, secretsOf(kafka, postgres)), jobId, ({ running, total, state }) => {
      progress.update({ bar: jobId, done: running, total, shown: {}, logged: { jobId, state, running, total } });
    });
    logger.info({ jobId }, 'the job runs; holdfast flink status shows it');
    return EXIT.ok;
  },
};
