import { setTimeout as sleep } from 'node:timers/promises';
import { KAFKA_KEYS } from '../config/kafka.ts';
import { findingsOf } from '../flink/advice.ts';
import { type JobStatus, readStatus } from '../flink/status.ts';
import { Refusal } from '../refusal.ts';
import { type CliCommand, EXIT } from './command.ts';
import { FLINK_KEYS, requirePostgres, requireRest } from './flink-settings.ts';
import { jobStatusJson, jobStatusText } from './flink-status-text.ts';
import { CLEAR_SCREEN, WATCH_MS } from './status.ts';
import { safeJson } from './terminal-text.ts';

export const flinkStatusCommand: CliCommand = {
  usage: 'flink status',
  summary: 'What the job is doing, how far it is, and what to do next',
  examples: [
    'holdfast flink status --flink-rest http://jobmanager:8081 --postgres postgres://engine@db:5432/holdfast',
    'holdfast flink status --config holdfast.json --watch',
  ],
  dataDir: 'unused',
  settings: [...FLINK_KEYS, ...KAFKA_KEYS.filter((key) => key !== 'kafkaPartitionIdle' && key !== 'kafkaGroup')],
  addOptions: (command) =>
    command.option('--watch', 'again every 2 s, until it is stopped').option('--json', 'print JSON for programs'),
  run: async ({ options, config, terminal, logger }) => {
    if (options.json === true && options.watch === true)
      throw new Refusal('--json: given with --watch, expected one of them');
    const { kafka } = config;
    const asked = { rest: requireRest(config), postgres: requirePostgres(config, terminal.env), kafka, logger };
    const signal = terminal.stopSignal();
    for (;;) {
      const status = await readStatus(asked);
      const findings = findingsOf(status);
      if (options.json === true) {
        terminal.stdout.write(safeJson(jobStatusJson(status, findings)));
        return exitCodeOf(status);
      }
      const isRedrawn = options.watch === true && 'isTTY' in terminal.stdout && terminal.stdout.isTTY === true;
      terminal.stdout.write(`${isRedrawn ? CLEAR_SCREEN : ''}${jobStatusText(status, findings)}`);
      if (options.watch !== true) return exitCodeOf(status);
      await sleep(WATCH_MS, null, { signal }).catch(() => {});
      if (signal.aborted) return EXIT.ok;
    }
  },
};

/** As of a service that gives no answer. */
function exitCodeOf({ cluster, store }: JobStatus): typeof EXIT.ok | typeof EXIT.failed {
  return typeof cluster === 'string' || typeof store === 'string' ? EXIT.failed : EXIT.ok;
}
