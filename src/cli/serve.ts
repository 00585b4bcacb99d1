import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SETTING_KEYS } from '../config/settings.ts';
import type { Service } from '../service.ts';
import { type CliCommand, EXIT, SETTINGS_OF_EVERY_COMMAND } from './command.ts';
import { isPassingFault } from './machine-fault.ts';

export const serveCommand: CliCommand = {
  usage: 'serve',
  summary: 'Serve the data directory over HTTP and ingest from the source, until SIGTERM or SIGINT',
  examples: [
    'holdfast serve --data ./data',
    'holdfast serve --data ./data --file feed.ndjson --port 8080',
    'holdfast serve --data ./data --kafka-brokers broker:9092 --kafka-topic updates --dso DSO::1220ab',
  ],
  dataDir: 'made',
  settings: SETTING_KEYS.filter((key) => !SETTINGS_OF_EVERY_COMMAND.includes(key)),
  run: async ({ config, terminal, logger }) => {
    const stop = terminal.stopSignal();
    // Loaded only here: every other command would carry the servers along for nothing.
    const [{ startService }, { createHeldUp }] = await Promise.all([
      import('../service.ts'),
      import('../http/server/unavailable.ts'),
    ]);
    await using heldUp = createHeldUp({ host: config.host, port: config.port, logger });
    const start = (): Promise<Service> => startService(config, { logger, beforeListening: heldUp.end });
    await using service = await startWhenPossible(start, { onFailure: heldUp.tell, stop, logger });
    if (service === null) return EXIT.ok;
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve());
    });
    await Promise.race([stopped, service.failed]);
    logger.info({ reason: stop.reason }, 'stopping');
    return EXIT.ok;
  },
};

const DELAY_MS_MIN = 1_000;
const DELAY_MS_MAX = 5_000;

/** A disk that is full or a database that is locked when the service starts is waited for, as it is later; null once asked to stop. */
async function startWhenPossible(
  start: () => Promise<Service>,
  { onFailure, stop, logger }: { onFailure: (reason: string) => Promise<void>; stop: AbortSignal; logger: Logger },
): Promise<Service | null> {
  for (let retryInMs = DELAY_MS_MIN; !stop.aborted; retryInMs = Math.min(retryInMs * 2, DELAY_MS_MAX)) {
    try {
      return await start();
    } catch (error) {
      if (!isPassingFault(error)) throw error;
      logger.error({ err: error, retryInMs }, 'the data directory cannot be opened; trying again');
      await onFailure(error.message);
      await sleep(retryInMs, undefined, { signal: stop }).catch(() => {});
    }
  }
  return null;
}
