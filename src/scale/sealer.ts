import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { describeServer, type PostgresSettings } from './postgres-settings.ts';
import { connectionOptions } from './statement-pool.ts';

const PAUSE_MS = 1_000;
/** In one transaction, for which the engine waits: of a first interval with millions of imports it takes minutes. */
const INTERVALS = 20;

/** A replica that follows another server seals nothing. */
const SEAL = 'SELECT seal($1) AS sealed WHERE NOT pg_is_in_recovery()';

/** Seals what the engine has written, as every process that reads does: one works at a time. */
export function startSealer(settings: PostgresSettings, logger: Logger) {
  const stop = new AbortController();
  let client: Client | null = null;
  let failure: string | null = null;

  async function connected(): Promise<Client> {
    if (client !== null) return client;
    const opened = new Client({ ...connectionOptions(settings), options: '-c jit=off' });
    // A connection that breaks fails its next statement too.
    opened.on('error', () => {});
    await opened.connect();
    client = opened;
    stop.signal.throwIfAborted();
    return opened;
  }

  /** A statement that runs ends for us with its connection. */
  async function disconnect(): Promise<void> {
    const left = client;
    client = null;
    await left?.end().catch(() => {});
  }

  async function seal(): Promise<number> {
    try {
      const { rows } = await (await connected()).query<{ sealed: number }>(SEAL, [INTERVALS]);
      if (failure !== null) logger.info('snapshots can be sealed again');
      failure = null;
      return rows[0]?.sealed ?? 0;
    } catch (error) {
      await disconnect();
      if (stop.signal.aborted) return 0;
      if (failure === null) logger.error({ err: error }, 'no snapshot can be sealed; trying again');
      failure = `${describeServer(settings)}: ${(error as Error).message}`;
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
    /** Why nothing was sealed at the last try; null where that went well. */
    failure: () => failure,
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await disconnect();
      await running;
      await disconnect();
    },
  };
}
