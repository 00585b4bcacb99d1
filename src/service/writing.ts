import type { Logger } from 'pino';
import type { Config } from '../config/load-config.ts';
import type { SourceSpec } from '../feed/source.ts';
import { createHealth } from '../health.ts';
import { lookBeforeMaking } from '../ingest/file-order.ts';
import { dsoWarning, type IngestStatus } from '../ingest/ingest-status.ts';
import { startIngest } from '../ingest/writer-thread.ts';
import { openUsers } from '../users/open-users.ts';
import { commandOn, deadLetterJson, type PrintCommand } from '../views/dead-letter-advice.ts';
import { makeDataDirectory } from '../views/store/database.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import type { Role } from './role.ts';
import { streamStatus } from './stream-status.ts';
import { openViews } from './views.ts';

/** Takes the directory's lock, starts the ingest and opens the users. Throws a Refusal for what the caller can fix. */
export async function startWriting(
  config: Config,
  { logger, sources, version }: { logger: Logger; sources: readonly SourceSpec[]; version: string },
): Promise<Role> {
  await using starting = new AsyncDisposableStack();
  const { dataDir, participantId } = config;
  await lookBeforeMaking(dataDir, config.files, { ...config, signal: new AbortController().signal });
  makeDataDirectory(dataDir);
  starting.use(lockForWriting(dataDir));
  const print = commandOn(dataDir);
  const onStatus = (now: IngestStatus, before: IngestStatus | null): void => logTurn(logger, print, { now, before });
  const ingest = starting.use(await startIngest({ ...config, sources }, onStatus, logger));
  const holdings = starting.use(openViews(config, logger));
  const users = starting.use(openUsers({ dataDir, config: config.users, participantId, logger }));
  let failure: Error | null = null;
  const failed = ingest.ended.then(
    () => new Promise<never>(() => {}),
    (error: Error) => {
      failure = error;
      throw error;
    },
  );
  failed.catch(() => {});
  const parts = starting.move();
  const { readyLagMaxMs } = config;
  const ofIngest = { status: () => ingest.status, failure: () => failure, readyLagMaxMs };
  const health = createHealth(version, holdings.store, ofIngest);
  return {
    holdings,
    health,
    streamStatus: async () => streamStatus(ingest.status, await health.ready(), readyLagMaxMs),
    streamLookMs: 250,
    ingestStatus: () => ingest.status,
    force: config.forceSnapshots ? (options) => ingest.force(options) : null,
    users,
    failed,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Says in the log what an operator should know of a change, once. */
function logTurn(
  logger: Logger,
  print: PrintCommand,
  { now, before }: { now: IngestStatus; before: IngestStatus | null },
): void {
  const warning = before === null || before.dso.party === null ? dsoWarning(now.dso) : null;
  if (warning !== null) logger.warn({ dso: now.dso.party }, warning);
  const { quarantined } = now;
  if (quarantined !== null && quarantined.id !== before?.quarantined?.id)
    logger.warn(
      { ...deadLetterJson(quarantined, print), ...now.deadLetters },
      'updates are quarantined; this is the newest',
    );
  if (now.phase === (before?.phase ?? 'starting')) return;
  const about = { phase: now.phase, source: now.source?.name, updates: now.counts.updates };
  if (now.halted !== null && now.phase !== 'stopped')
    logger.error({ ...about, ...deadLetterJson(now.halted, print) }, 'ingest is halted');
  else if (now.phase === 'refused') logger.error(about, `the feed is refused: ${now.lastError?.message}`);
  else if (now.phase === 'retrying')
    logger.error({ ...about, ...now.lastError }, 'the views cannot be written; trying again');
  else logger.info(about, 'ingest');
}
