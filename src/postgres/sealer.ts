import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { openPool, type StatementPool } from './pool.ts';
import type { PostgresSettings } from './settings.ts';

/** Seals what the engine has written, as every process that reads does: one works at a time. */
export interface Sealer extends AsyncDisposable {
  /** Why nothing was sealed at the last try; null where that went well. */
  failure(): string | null;
}

const PAUSE_MS = 1_000;
/** In one transaction, for which the engine waits. */
const INTERVALS = 20;
/**
 * How long a transaction may take at first. A first interval has all the imports of a migration, of any number: one that takes longer
 * is tried by itself and for twice as long, so that each comes to its end, and a server that stands still is noticed.
 */
const SEAL_MS = 120_000;
/** How much longer than twice that its answer may take to come, before the server is taken for one that stands still. */
const ANSWER_MS_MAX = 10_000;
/** Six days. Timers know no more than four times as much. */
const SEAL_MS_MAX = 2 ** 29;

/** A replica that follows another server seals nothing. */
const SEAL = 'SELECT seal($1) AS sealed WHERE NOT pg_is_in_recovery()';

export function startSealer(
  settings: PostgresSettings,
  logger: Logger,
  { sealMs = SEAL_MS }: { readonly sealMs?: number } = {},
): Sealer {
  const open = (): StatementPool =>
    openPool(settings, { places: 1, isReadOnly: false, statementMsMax, ownMsMax: 2 * statementMsMax + ANSWER_MS_MAX });
  const stop = new AbortController();
  let statementMsMax = sealMs;
  let intervals = INTERVALS;
  let pool = open();
  let failure: string | null = null;

  async function seal(): Promise<number> {
    try {
      const [row] = await pool.own(stop.signal)<{ sealed: number }>(SEAL, [intervals]);
      const sealed = row?.sealed ?? 0;
      // Where another process is at work nothing is known of the interval that took too long.
      if (sealed > 0) intervals = INTERVALS;
      if (failure !== null) logger.info('snapshots can be sealed again');
      failure = null;
      return sealed;
    } catch (error) {
      if (stop.signal.aborted) return 0;
      if (error instanceof HoldingsFault && error.code === 'read_too_long') {
        await allowMore();
        return seal();
      }
      if (failure === null) logger.error({ err: error }, 'no snapshot can be sealed; trying again');
      failure = (error as Error).message;
      return 0;
    }
  }

  async function allowMore(): Promise<void> {
    const before = statementMsMax;
    await pool[Symbol.asyncDispose]();
    intervals = 1;
    statementMsMax = Math.min(2 * before, SEAL_MS_MAX);
    pool = open();
    failure = `sealing took longer than ${before / 1000} s, and is tried for ${statementMsMax / 1000} s`;
    logger.warn({ beforeMs: before, nextMs: statementMsMax }, failure);
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
