import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { openPool } from './pool.ts';
import type { PostgresSettings } from './settings.ts';

/** Seals what the engine has written, as every process that reads does: one works at a time. */
export interface Sealer extends AsyncDisposable {
  /** Why nothing was sealed at the last try; null where that went well. */
  failure(): string | null;
}

const PAUSE_MS = 1_000;
/** In one transaction, for which the engine waits. */
const INTERVALS = 20;
/** A first interval has all the imports of a migration. */
const SEAL_MS_MAX = 120_000;

/** A replica that follows another server seals nothing. */
const SEAL = `SELECT seal(${INTERVALS}) AS sealed WHERE NOT pg_is_in_recovery()`;

export function startSealer(settings: PostgresSettings, logger: Logger): Sealer {
  const pool = openPool(settings, {
    places: 1,
    isReadOnly: false,
    statementMsMax: SEAL_MS_MAX,
    ownMsMax: 2 * SEAL_MS_MAX,
  });
  const stop = new AbortController();
  const ask = pool.own(stop.signal);
  let failure: string | null = null;

  async function seal(): Promise<number> {
    try {
      const [row] = await ask<{ sealed: number }>(SEAL);
      if (failure !== null) logger.info('snapshots can be sealed again');
      failure = null;
      return row?.sealed ?? 0;
    } catch (error) {
      if (stop.signal.aborted) return 0;
      if (failure === null) logger.error({ err: error }, 'no snapshot can be sealed; trying again');
      failure = (error as Error).message;
      return 0;
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const sealed = await seal();
      if (sealed > 0) logger.info({ intervals: sealed }, 'sealed');
      else await sleep(PAUSE_MS, null, { signal: stop.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await pool[Symbol.asyncDispose]();
    },
  };
}
