import { type ClientConfig, DatabaseError, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import type { PostgresSettings } from './postgres-settings.ts';

export const NO_STORE = 'the database has no store yet: holdfast migrate makes it';

/** How long a server may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 5_000;

/** A bigint is a number where that is exact, else a BigInt; a numeric is read in whole units, as a BigInt. */
const EXACT = new TypeOverrides();
EXACT.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
});
EXACT.setTypeParser(types.builtins.NUMERIC, BigInt);

export function connectionOptions({ password, ssl, ...where }: PostgresSettings): ClientConfig {
  return {
    ...where,
    ...(password === null ? {} : { password }),
    ssl: ssl === null ? false : { rejectUnauthorized: true, ...(ssl.ca === null ? {} : { ca: ssl.ca }) },
    types: EXACT,
    application_name: 'holdfast',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A connection that a firewall has dropped, or whose server has gone, is noticed within minutes.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** Runs one statement and gives its rows. */
export type Ask = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** More would reach their time limit before they begin. */
const WAITING_MAX = 256;
const QUERY_CANCELED = '57014';
/** Of the classes of codes: connections, roles and databases, what a server runs out of, servers that stop or recover; and a privilege that is missing. */
const UNAVAILABLE = /^(08|28|3D|40|53|57|42501)/;
const UNDEFINED_TABLE = '42P01';
/** Faults of this program: an answer that it cannot read, or a value that it cannot send. */
const OURS = [RangeError, SyntaxError, TypeError];

export type StatementPool = ReturnType<typeof openPool>;

/** Connections that only read. `waitMsMax`: how long a statement may wait for one; `unavailable`: what is said of a server that is not there. */
export function openPool(
  settings: PostgresSettings,
  {
    connections,
    statementMsMax,
    waitMsMax,
    unavailable,
  }: { connections: number; statementMsMax: number; waitMsMax: number; unavailable: (error: Error) => string },
) {
  const pool = new Pool({
    ...connectionOptions(settings),
    max: connections,
    connectionTimeoutMillis: waitMsMax,
    statement_timeout: statementMsMax,
    // A server that does not answer at all ends nothing at that time either.
    query_timeout: 2 * statementMsMax,
    // To compile a statement takes longer than any of these runs.
    options: '-c default_transaction_read_only=on -c jit=off',
  });
  // A connection that breaks while nobody uses it is replaced by the next use; one that breaks in use rejects its statement too.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  let busy = 0;

  async function connect(): Promise<PoolClient> {
    if (pool.waitingCount >= WAITING_MAX)
      throw new HoldingsFault('not_begun', 'too many reads are waiting; try again later');
    try {
      return await pool.connect();
    } catch (error) {
      if (busy < connections) throw faultOf(error);
      throw new HoldingsFault('not_begun', 'other reads took too long for this one to begin; try again later');
    }
  }

  /** The server's reasons are for its operators. */
  function faultOf(error: unknown): unknown {
    if (!(error instanceof Error) || OURS.some((each) => error instanceof each)) return error;
    const code = error instanceof DatabaseError ? (error.code ?? null) : null;
    if (code === QUERY_CANCELED)
      return new HoldingsFault('read_too_long', `the read took longer than ${statementMsMax / 1000} s`);
    if (code === UNDEFINED_TABLE) return new HoldingsFault('store_unavailable', NO_STORE);
    if (code !== null && !UNAVAILABLE.test(code)) return error;
    return new HoldingsFault('store_unavailable', unavailable(error));
  }

  return {
    /** Rejects with a HoldingsFault. The signal says that nobody waits for it any more; a statement that runs is not cancelled. */
    asker:
      (signal?: AbortSignal): Ask =>
      async <Row>(sql: string, values: readonly unknown[] = []) => {
        const client = await connect();
        if (signal?.aborted === true) {
          client.release();
          throw new HoldingsFault('not_begun', 'the client has gone');
        }
        let isSpoilt = true;
        busy += 1;
        try {
          const { rows } = await client.query(sql, [...values]);
          isSpoilt = false;
          return rows as Row[];
        } catch (error) {
          throw faultOf(error);
        } finally {
          busy -= 1;
          client.release(isSpoilt);
        }
      },
    /** Statements that run, and those that wait for a connection. */
    load: () => ({ busy, waiting: pool.waitingCount }),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
