import { Pool } from 'pg';
import { HoldingsFault } from '../holdings/fault.ts';
import { connectionOptions, describeServer } from './connection.ts';
import type { PostgresSettings } from './settings.ts';

/** Runs one statement and gives its rows. */
export type Ask = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface ReadPool extends AsyncDisposable {
  /** Statements for somebody who may lose interest: what runs then is cancelled. Rejects with a HoldingsFault. */
  asker(signal?: AbortSignal): Ask;
}

/** A server takes about a hundred connections in all, for any number of processes. */
const CONNECTIONS_MAX = 10;
/** As long as a reader thread of a data directory may read. */
const STATEMENT_TIMEOUT_MS = 10_000;
const QUERY_CANCELED = '57014';

export function openPool(settings: PostgresSettings): ReadPool {
  const pool = new Pool({
    ...connectionOptions(settings),
    max: CONNECTIONS_MAX,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // Where a server does not answer at all, nothing is cancelled there.
    query_timeout: 2 * STATEMENT_TIMEOUT_MS,
    // To compile a statement takes longer than any of these runs.
    options: '-c default_transaction_read_only=on -c jit=off',
  });
  // A connection that breaks while nobody uses it is replaced by the next use.
  pool.on('error', () => {});

  async function ask<Row>(
    signal: AbortSignal | undefined,
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    if (signal?.aborted === true) throw new HoldingsFault('not_begun', 'the client has gone');
    const client = await pool.connect();
    const { processID } = client as unknown as { readonly processID: number };
    const cancel = (): void => void pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => {});
    signal?.addEventListener('abort', cancel);
    let failure: Error | undefined;
    try {
      return (await client.query(sql, [...values])).rows as Row[];
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      signal?.removeEventListener('abort', cancel);
      // After an answer of the server the connection is good; after anything else its state is unknown.
      client.release(failure !== undefined && codeOf(failure) === null ? failure : undefined);
    }
  }

  return {
    asker:
      (signal) =>
      async (sql, values = []) => {
        try {
          return await ask(signal, sql, values);
        } catch (error) {
          throw faultOf(error, settings);
        }
      },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** The server's code for what it refused; null for a failure of the connection. */
function codeOf(error: unknown): string | null {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : null;
}

function faultOf(error: unknown, settings: PostgresSettings): unknown {
  if (error instanceof HoldingsFault || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === QUERY_CANCELED)
    return new HoldingsFault(
      'read_too_long',
      `the read took longer than ${STATEMENT_TIMEOUT_MS / 1000} s; ask for less`,
    );
  // Of the classes of codes, 08 is about connections, 53 about what a server runs out of, 57 about one that stops.
  if (code !== null && !/^(08|53|57|28|3D)/.test(code)) return error;
  return new HoldingsFault('store_unavailable', `${describeServer(settings)} is not available: ${error.message}`);
}
