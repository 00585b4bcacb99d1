import { SETTING_KEYS } from '../config/settings.ts';
import { type CliCommand, EXIT, SETTINGS_OF_EVERY_COMMAND } from './command.ts';

export const serveCommand: CliCommand = {
  usage: 'serve',
  summary: 'Serve the data directory over HTTP and ingest from the source, until SIGTERM or SIGINT',
  examples: [
    'holdfast serve --data ./data',
    'holdfast serve --data ./data --file feed.ndjson --port 8080',
    'holdfast serve --data ./data --kafka-brokers broker:9092 --kafka-topic updates --dso DSO::1220ab',
  ],
  settings: SETTING_KEYS.filter((key) => !SETTINGS_OF_EVERY_COMMAND.includes(key)),
  run: async ({ config, terminal, logger }) => {
    const stop = terminal.stopSignal();
    // Loaded only here: every other command would carry the servers along for nothing.
    const { startService } = await import('../service.ts');
    await using service = await startService(config, { logger });
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve());
    });
    await Promise.race([stopped, service.failed]);
    logger.info({ reason: stop.reason }, 'stopping');
    return EXIT.ok;
  },
};
