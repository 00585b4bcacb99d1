import { stopJob } from '../flink/stop.ts';
import { Refusal } from '../refusal.ts';
import { shellWord } from '../shell-word.ts';
import { type CliCommand, EXIT } from './command.ts';
import { FLINK_KEYS, requirePostgres, requireRest } from './flink-settings.ts';
import { createProgress } from './progress.ts';

export const flinkStopCommand: CliCommand = {
  usage: 'flink stop',
  summary: 'Stop the job with a savepoint, from which a later start goes on',
  examples: [
    'holdfast flink stop --flink-rest http://jobmanager:8081 --postgres postgres://engine@db:5432/holdfast',
    'holdfast flink stop --config holdfast.json --savepoint-folder s3://backups/savepoints',
  ],
  dataDir: 'unused',
  settings: FLINK_KEYS,
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
      return EXIT.ok;
    }
    terminal.stdout.write(`${path}\n`);
    logger.info({ jobId }, `stopped; holdfast flink start --savepoint ${shellWord(path)} goes on`);
    return EXIT.ok;
  },
};
