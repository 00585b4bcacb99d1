import type { Logger } from 'pino';
import type { Config } from '../config/load-config.ts';
import { createReadOnlyHealth } from '../health.ts';
import { openStoredStatus } from '../views/read/stored-status.ts';
import type { Role } from './role.ts';
import { readOnlyStreamStatus } from './stream-status.ts';
import { openViews } from './views.ts';

/** It reads what another process writes, at some cost each time. */
export const READ_ONLY_LOOK_MS = 1_000;

/** Throws a Refusal where there are no views yet; nothing is created. */
export function openReading(config: Config, { version, logger }: { version: string; logger: Logger }): Role {
  using starting = new DisposableStack();
  const standing = starting.use(openStoredStatus(config.dataDir));
  const holdings = openViews(config, logger);
  const opened = starting.move();
  const health = createReadOnlyHealth(version, holdings.store, standing.read);
  return {
    holdings,
    health,
    streamStatus: async () => readOnlyStreamStatus(standing.read(), await health.ready()),
    streamLookMs: READ_ONLY_LOOK_MS,
    ingestStatus: null,
    force: null,
    users: null,
    failed: standing.replaced,
    async [Symbol.asyncDispose]() {
      await holdings[Symbol.asyncDispose]();
      opened.dispose();
    },
  };
}
