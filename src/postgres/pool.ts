import { DatabaseError, Pool } from 'pg';
import type { Logger } from 'pino';
import type { Asker } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { requestCancel } from './cancel.ts';
import { connectionOptions, describeServer } from './connection.ts';
import { NO_STORE } from './migrate.ts';
import type { PostgresSettings } from './settings.ts';
import { createTurns, type PoolLoad } from './turns.ts';

/** Runs one statement and gives its rows. */
export type Ask = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface StatementPool extends AsyncDisposable {
  /** Statements for a client, who may go: what runs then is cancelled. Rejects with a HoldingsFault. */
  asker(asker: Asker): Ask;
  /** The same for this process itself, which waits for no client. */
  readonly own: (signal?: AbortSignal) => Ask;
  load(): PoolLoad;
}

export interface PoolOptions {
  /** Statements of clients that may run at a time. */
  readonly places: number;
  readonly isReadOnly: boolean;
  readonly statementMsMax: number;
  /** How long to wait for the answer to what this process asks for itself. */
  readonly ownMsMax: number;
  /** For why the store is not available to clients, who are not told. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** How long a server may take to end what it was asked to cancel. */
const CANCEL_MS_MAX = 5_000;
/** Connections for what this process asks for itself: its health, streams and metrics. */
const OWN_PLACES = 2;
const QUERY_CANCELED = '57014';
/**
 * Of the classes of codes: connections, roles and databases, what a server runs out of, servers that stop or recover; and a
 * privilege that is missing.
 */
const UNAVAILABLE = /^(08|28|3D|40|53|57|42501)/;
/** The server ends the connection, or itself. */
const CONNECTION_ENDS = /^57P/;
const UNDEFINED_TABLE = '42P01';
/** Faults of this program: an answer that it cannot read, or a value that it cannot send. */
const OURS = [RangeError, SyntaxError, TypeError];
/** While the store is away every statement fails. */
const WARN_AGAIN_MS = 60_000;

export function openPool(
  settings: PostgresSettings,
  { places, isReadOnly, statementMsMax, ownMsMax, logger }: PoolOptions,
): StatementPool {
  const pool = new Pool({
    ...connectionOptions(settings),
    max: places + OWN_PLACES,
    statement_timeout: statementMsMax,
    // To compile a statement takes longer than any of these runs.
    options: `-c default_transaction_read_only=${isReadOnly ? 'on' : 'off'} -c jit=off`,
  });
  // A connection that breaks while nobody uses it is replaced by the next use; one that breaks in use rejects its statement too.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const turns = createTurns({ places });
  const warn = logger && createWarning(logger);

  async function ask<Row>(
    sql: string,
    values: readonly unknown[],
    { signal, answerMsMax }: { readonly signal: AbortSignal | undefined; readonly answerMsMax: number },
  ): Promise<readonly Row[]> {
    const isGone = (): boolean => signal?.aborted === true;
    const client = await pool.connect();
    if (isGone()) {
      client.release();
      throw gone();
    }
    // The request may come after the statement has ended, and would end the next one on that connection.
    let isSpoilt = false;
    let deadline: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      isSpoilt = true;
      requestCancel(settings, client);
      deadline = setTimeout(() => void client.end(), CANCEL_MS_MAX);
    };
    signal?.addEventListener('abort', cancel);
    try {
      const statement = { text: sql, values: [...values], query_timeout: answerMsMax };
      return (await client.query(statement)).rows as Row[];
    } catch (error) {
      const code = codeOf(error);
      // After an error that the server reports the connection is good, unless it ends; after anything else it may still be at work.
      if (code === null && !isSpoilt) cancel();
      isSpoilt ||= code !== null && CONNECTION_ENDS.test(code);
      throw isGone() ? gone() : error;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', cancel);
      client.release(isSpoilt);
    }
  }

  /** Why the store is unavailable concerns its operators; `unavailable` gives the text for whoever asked. */
  function faultOf(error: unknown, unavailable: (error: Error) => string): unknown {
    if (error instanceof HoldingsFault || !(error instanceof Error)) return error;
    if (OURS.some((each) => error instanceof each)) return error;
    const code = codeOf(error);
    if (code === QUERY_CANCELED) {
      const limit = `${statementMsMax / 1000} s`;
      return new HoldingsFault('read_too_long', `the read took longer than ${limit}; ask for less`);
    }
    if (code === UNDEFINED_TABLE) return new HoldingsFault('store_unavailable', NO_STORE);
    if (code !== null && !UNAVAILABLE.test(code)) return error;
    return new HoldingsFault('store_unavailable', unavailable(error));
  }

  const inDetail = ({ message }: Error): string => `${describeServer(settings)} is not available: ${message}`;

  return {
    asker:
      (asker) =>
      async (sql, values = []) => {
        const end = await turns.take(asker);
        try {
          // Where a server does not answer at all, it ends nothing at the time limit either.
          return await ask(sql, values, { signal: asker.signal, answerMsMax: 2 * statementMsMax });
        } catch (error) {
          throw faultOf(error, (cause) => {
            warn?.(cause);
            return 'the store is not available for now; /readyz or the log says why';
          });
        } finally {
          end();
        }
      },
    own:
      (signal) =>
      async (sql, values = []) => {
        try {
          return await ask(sql, values, { signal, answerMsMax: ownMsMax });
        } catch (error) {
          throw faultOf(error, inDetail);
        }
      },
    load: () => turns.load(),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** The first failure is logged, and while there are more, one of them a minute. */
function createWarning(logger: Pick<Logger, 'warn'>): (error: Error) => void {
  let warnedMs = Number.NEGATIVE_INFINITY;
  let statements = 0;
  return (error) => {
    statements += 1;
    const nowMs = performance.now();
    if (nowMs - warnedMs < WARN_AGAIN_MS) return;
    logger.warn({ err: error, statements }, 'the store was not available for a client');
    [warnedMs, statements] = [nowMs, 0];
  };
}

function gone(): HoldingsFault {
  return new HoldingsFault('not_begun', 'the client has gone');
}

/** The server's code for what it refused; null for a failure of the connection. */
function codeOf(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}
