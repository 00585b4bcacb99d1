import { startService } from '../service.ts';
import { type CliCommand, EXIT } from './command.ts';

export const serveCommand: CliCommand = {
  usage: 'serve',
  summary: 'Serve a data directory over HTTP and ingest from the configured source, until SIGTERM or SIGINT',
  examples: ['holdfast serve --data ./data --file history.ndjson', 'holdfast serve --data ./data --port 0'],
  settings: [
    'host',
    'port',
    'file',
    'migrationId',
    'snapshotPeriod',
    'dso',
    'emptyOwners',
    'onBadUpdate',
    'forceSnapshots',
    'ownersMax',
    'bodyBytesMax',
    'recordTimeAheadMax',
    'recordTimeGapMax',
    'readyLagMax',
    'corsOrigins',
    'trustedProxies',
    'participantId',
  ],
  run: async ({ config, terminal, logger }) => {
    const signal = terminal.stopSignal();
    await using service = await startService(config, { logger });
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([stopped, service.failed]);
    logger.info('stopping');
    return EXIT.ok;
  },
};
