import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { Logger } from 'pino';
import { connectionOptions, describeServer, type PostgresSettings } from './postgres-connection.ts';

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
const QUERY_CANCELED = '57014';

/** A replica that follows another server seals nothing. */
const SEAL = 'SELECT seal($1) AS sealed WHERE NOT pg_is_in_recovery()';

export function startSealer(
  settings: PostgresSettings,
  logger: Logger,
  { sealMs = SEAL_MS }: { readonly sealMs?: number } = {},
): Sealer {
  const stop = new AbortController();
  let statementMs = sealMs;
  let intervals = INTERVALS;
  let client: Client | null = null;
  let failure: string | null = null;

  async function connected(): Promise<Client> {
    if (client !== null) return client;
    client = new Client({
      ...connectionOptions(settings),
      statement_timeout: statementMs,
      query_timeout: 2 * statementMs + ANSWER_MS_MAX,
      options: '-c jit=off',
    });
    // A connection that breaks fails its next statement too.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** Ends a statement that runs by ending its connection. */
  async function disconnect(): Promise<void> {
    const left = client;
    client = null;
    await left?.end().catch(() => {});
  }

  async function seal(): Promise<number> {
    try {
      const { rows } = await (await connected()).query<{ sealed: number }>(SEAL, [intervals]);
      const sealed = rows[0]?.sealed ?? 0;
      // Where another process is at work nothing is known of the interval that took too long.
      if (sealed > 0) intervals = INTERVALS;
      if (failure !== null) logger.info('snapshots can be sealed again');
      failure = null;
      return sealed;
    } catch (error) {
      await disconnect();
      if (stop.signal.aborted) return 0;
      if (error instanceof DatabaseError && error.code === QUERY_CANCELED) {
        allowMore();
        return seal();
      }
      if (failure === null) logger.error({ err: error }, 'no snapshot can be sealed; trying again');
      failure = `${describeServer(settings)}: ${(error as Error).message}`;
      return 0;
    }
  }

  function allowMore(): void {
    const before = statementMs;
    intervals = 1;
    statementMs = Math.min(2 * before, SEAL_MS_MAX);
    failure = `sealing took longer than ${before / 1000} s, and is tried for ${statementMs / 1000} s`;
    logger.warn({ beforeMs: before, nextMs: statementMs }, failure);
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
      await disconnect();
      await running;
      await disconnect();
    },
  };
}
