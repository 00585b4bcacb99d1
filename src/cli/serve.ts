import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { SETTING_KEYS } from '../config/setting-list.ts';
import { explained } from '../machine-errors.ts';
import { Refusal } from '../refusal.ts';
import { type Pause, RETRY_START, retry } from '../retry.ts';
import type { Service } from '../service/start-service.ts';
import { optionName } from '../setting-kinds.ts';
import { type CliCommand, hasTextLog, type Invocation, SETTINGS_OF_EVERY_COMMAND } from './command.ts';
import { migrateOlderViews } from './migrate-views.ts';
import { type Fact, formatFacts } from './terminal.ts';

export const SERVE_KEYS = SETTING_KEYS.filter((key) => !SETTINGS_OF_EVERY_COMMAND.includes(key));

export const serveCommand: CliCommand = {
  usage: 'serve',
  summary: 'Serve a data directory over HTTP and read its source, until SIGTERM or SIGINT',
  examples: [
    'holdfast serve --data ./data',
    'holdfast serve --data ./data --file feed.ndjson --port 8080',
    'holdfast serve --data ./data --kafka-brokers broker:9092 --kafka-topic updates --dso DSO::1220ab',
    'holdfast serve --data ./data --read-only --reuse-port --port 8081',
    'holdfast serve --postgres postgres://reader@db:5432/holdfast --postgres-password-file /run/secrets/db',
  ],
  dataDir: 'made',
  settings: SERVE_KEYS,
  run: async (invocation) => {
    const { config, terminal, logger } = invocation;
    const { host, port, reusePort } = config;
    const [first] = config.writerSettings;
    const reading = config.postgres !== null ? 'postgres' : config.readOnly ? 'readOnly' : null;
    if (reading !== null && first !== undefined) {
      const option = optionName(reading);
      throw new Refusal(`${first} cannot be given with ${option}, which only reads what another process writes`);
    }
    const stop = terminal.stopSignal();
    // Loaded only here: no other command needs the servers.
    const [{ startService }, { createUnavailableServer }] = await Promise.all([
      import('../service/start-service.ts'),
      import('../http/http-server.ts'),
    ]);
    await using unavailable = createUnavailableServer({ host, port, reusePort, logger });
    const start = async (): Promise<Service> => {
      if (reading === null) await migrateOlderViews(invocation, { stop: () => stop, tellClients: unavailable.tell });
      return await startService(config, { logger, beforeListening: unavailable.end });
    };
    await using service = await startWhenPossible(start, { tellClients: unavailable.tell, stop, logger });
    if (service === null) return;
    await introduce(service, invocation);
    await Promise.race([stop.aborted || once(stop, 'abort'), service.failed]);
    logger.info({ reason: stop.reason }, 'stopping');
  },
};

const NO_SOURCE = 'none: stored data only; give one with --scan, --ledger-api, --kafka-brokers or --file';

/** On a terminal, where it is and what it does; in a log, only that nothing is read. */
async function introduce({ url, dso }: Service, { config, terminal, logger }: Invocation): Promise<void> {
  const { dataDir, files, scan, ledgerApi, kafka, postgres, readOnly, dashboard } = config;
  const followed = [
    scan?.urls.join(', '),
    ledgerApi?.url,
    kafka && `topic ${kafka.topic} at ${kafka.brokers.join(', ')}`,
  ];
  const sources = [...files, ...followed].filter((each) => typeof each === 'string');
  const isReader = readOnly || postgres !== null;
  const source = isReader ? 'another process' : sources.length === 0 ? NO_SOURCE : sources.join(', ');
  if (!hasTextLog(config.logFormat, terminal)) {
    if (source === NO_SOURCE) logger.info(`no source: ${NO_SOURCE.replace('none: ', '')}`);
    return;
  }
  const facts: readonly Fact[] = [
    ['Dashboard', dashboard === 'on' ? `${url}/` : 'off'],
    ['API', `${url}/docs`],
    ['Data', postgres === null ? resolve(dataDir) : 'PostgreSQL'],
    ['Source', source],
    ['DSO', (await dso()) ?? 'not known yet: the first one seen counts; pin yours with --dso'],
  ];
  terminal.stderr.write(`\n${formatFacts(facts)}\n`);
}

/** At the start too, waits for a disk that is full or a database that is locked; null once stopped. */
async function startWhenPossible(
  start: () => Promise<Service>,
  { tellClients, stop, logger }: { tellClients: (reason: string) => Promise<void>; stop: AbortSignal; logger: Logger },
): Promise<Service | null> {
  const onFailure = async ({ error, retryInMs }: Pause): Promise<void> => {
    logger.error({ err: error, retryInMs }, 'the data directory cannot be opened; trying again');
    await tellClients(explained(error));
  };
  try {
    return await retry(RETRY_START, start, { signal: stop, onFailure });
  } catch (error) {
    if (stop.aborted && RETRY_START.passes(error)) return null;
    throw error;
  }
}
