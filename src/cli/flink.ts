import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Config } from '../config/load-config.ts';
import { optionName } from '../config/setting-kinds.ts';
import { KAFKA_SETTINGS, keysOf, POSTGRES_SETTINGS } from '../config/setting-list.ts';
import { DECODE_GROUP_DEFAULT } from '../flat-decoder/decoder.ts';
import { findingsOf } from '../flink/advice.ts';
import { awaitRunning } from '../flink/await-running.ts';
import { createJobManager } from '../flink/job-manager.ts';
import { secretsOf } from '../flink/parameters.ts';
import { startJob } from '../flink/start.ts';
import { readStatus } from '../flink/status.ts';
import { stopJob } from '../flink/stop.ts';
import { connectionOptions, describeServer } from '../postgres/connection.ts';
import { migrateStore } from '../postgres/migrate.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { Refusal } from '../refusal.ts';
import { shellWord } from '../shell-word.ts';
import { PERIOD_DEFAULT_US } from '../views/store/database.ts';
import { type CliCommand, type CommandGroup, EXIT } from './command.ts';
import { jobStatusJson, jobStatusText } from './flink-status-text.ts';
import { createProgress } from './progress.ts';
import { CLEAR_SCREEN, WATCH_MS } from './status.ts';
import { safeJson } from './terminal.ts';

/** The settings of every command about the job. */
const JOB_KEYS = ['flinkRest', ...keysOf(POSTGRES_SETTINGS)] as const;

const migrate: CliCommand = {
  usage: 'migrate',
  summary: 'Make the store in PostgreSQL, or bring it to the form of this version',
  examples: ['holdfast flink migrate --postgres postgres://owner@db:5432/holdfast --dso DSO::1220ab'],
  dataDir: 'unused',
  settings: [...keysOf(POSTGRES_SETTINGS), 'dso', 'snapshotPeriod'],
  run: async ({ config, terminal }) => {
    const { postgres, dso, snapshotPeriodUs } = config;
    if (postgres === null) throw new Refusal(`${optionName('postgres')} says which database`);
    if (dso === null) throw new Refusal(`${optionName('dso')} is required: it is that of the decoders`);
    const periodUs = snapshotPeriodUs ?? PERIOD_DEFAULT_US;
    if (periodUs % 1_000_000 !== 0) throw new Refusal(`${optionName('snapshotPeriod')}: expected whole seconds`);
    const client = new Client(connectionOptions(postgres));
    try {
      await client.connect();
      const { from, to } = await migrateStore(client, { periodUs, dso });
      const did = from === to ? `has form ${to} already` : `was brought from form ${from} to ${to}`;
      terminal.stdout.write(`the store in database ${postgres.database} ${did}\n`);
    } catch (error) {
      if (error instanceof Refusal || !(error instanceof Error)) throw error;
      throw new Error(`${describeServer(postgres)}: ${error.message}`, { cause: error });
    } finally {
      await client.end().catch(() => {});
    }
  },
};

const start: CliCommand = {
  usage: 'start',
  summary: 'Start the job that fills the store from the topic of flat events',
  examples: [
    'holdfast flink start --flink-gateway http://gateway:8083 --flink-rest http://jobmanager:8081 --kafka-brokers broker:9092 \\\n' +
      '      --kafka-topic coins --postgres postgres://engine@db:5432/holdfast --flink-parallelism 2',
    'holdfast flink start --config holdfast.json --savepoint file:/savepoints/savepoint-18944f-2c2f6a6d1a5b',
  ],
  dataDir: 'unused',
  settings: [
    'flinkGateway',
    ...JOB_KEYS,
    ...keysOf(KAFKA_SETTINGS).filter((key) => key !== 'kafkaPartitionIdle'),
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
  },
};

const status: CliCommand = {
  usage: 'status',
  summary: 'What the job is doing, how far it is, and what to do next',
  examples: [
    'holdfast flink status --flink-rest http://jobmanager:8081 --postgres postgres://engine@db:5432/holdfast',
    'holdfast flink status --config holdfast.json --watch',
  ],
  dataDir: 'unused',
  settings: [
    ...JOB_KEYS,
    ...keysOf(KAFKA_SETTINGS).filter((key) => key !== 'kafkaPartitionIdle' && key !== 'kafkaGroup'),
  ],
  addOptions: (command) =>
    command.option('--watch', 'again every 2 s, until it is stopped').option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal, logger }) => {
    if (options.json === true && options.watch === true)
      throw new Refusal('--json: given with --watch, expected one of them');
    const { kafka } = config;
    const asked = { rest: requireRest(config), postgres: requirePostgres(config, terminal.env), kafka, logger };
    const signal = terminal.stopSignal();
    for (;;) {
      const found = await readStatus(asked);
      const findings = findingsOf(found);
      const isRedrawn = options.watch === true && terminal.stdout.isTTY === true;
      const text = options.json === true ? safeJson(jobStatusJson(found, findings)) : jobStatusText(found, findings);
      terminal.stdout.write(`${isRedrawn ? CLEAR_SCREEN : ''}${text}`);
      const isAnswered = typeof found.cluster !== 'string' && typeof found.store !== 'string';
      if (options.watch !== true) return isAnswered ? EXIT.ok : EXIT.failed;
      await sleep(WATCH_MS, null, { signal }).catch(() => {});
      if (signal.aborted) return EXIT.ok;
    }
  },
};

const stop: CliCommand = {
  usage: 'stop',
  summary: 'Stop the job with a savepoint, from which a later start goes on',
  examples: [
    'holdfast flink stop --flink-rest http://jobmanager:8081 --postgres postgres://engine@db:5432/holdfast',
    'holdfast flink stop --config holdfast.json --savepoint-folder s3://backups/savepoints',
  ],
  dataDir: 'unused',
  settings: JOB_KEYS,
  addOptions: (command) =>
    command
      .option('--savepoint-folder <PATH>', 'where to put the savepoint, in place of the folder of the cluster')
      .option('--without-savepoint', 'end a job that cannot make one; a start then goes on from its last checkpoint'),
  run: async ({ options, config, terminal, logger }) => {
    const { savepointFolder = null } = options as { readonly savepointFolder?: string };
    const withoutSavepoint = options.withoutSavepoint === true;
    if (withoutSavepoint && savepointFolder !== null)
      throw new Refusal('--savepoint-folder cannot be given with --without-savepoint');
    using progress = createProgress({
      doing: 'waiting for the savepoint',
      format: '{bar} {value} of {total} tasks have given their state',
      clears: true,
      stderr: terminal.stderr,
      logger,
    });
    const { jobId, path } = await stopJob({
      rest: requireRest(config),
      postgres: requirePostgres(config, terminal.env),
      savepointFolder,
      withoutSavepoint,
      onProgress: (done, total) =>
        progress.update({ bar: 'savepoint', done, total, shown: {}, logged: { tasks: done, of: total } }),
    });
    if (path === null) {
      logger.warn({ jobId }, 'ended before its first checkpoint: replay into a new database');
      return;
    }
    terminal.stdout.write(`${path}\n`);
    logger.info({ jobId }, `stopped; holdfast flink start --savepoint ${shellWord(path)} goes on`);
  },
};

export const flinkCommands: CommandGroup = {
  usage: 'flink',
  summary: 'Make the store in PostgreSQL; start, watch and stop the job that fills it',
  examples: [
    'holdfast flink migrate --postgres postgres://owner@db:5432/holdfast --dso DSO::1220ab',
    'holdfast flink status --config holdfast.json',
  ],
  commands: [migrate, start, status, stop],
};

function requireRest({ flinkRest }: Config): string {
  if (flinkRest === null) throw new Refusal(`${optionName('flinkRest')} says which JobManager`);
  return flinkRest;
}

/** `env`: for PGPASSWORD, which the job cannot read itself. */
function requirePostgres({ postgres }: Config, env: NodeJS.ProcessEnv): PostgresSettings {
  if (postgres === null) throw new Refusal(`${optionName('postgres')} says which store`);
  return { ...postgres, password: postgres.password ?? env.PGPASSWORD ?? null };
}
