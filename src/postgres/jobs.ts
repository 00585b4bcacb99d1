import { Client, type ClientBase } from 'pg';
import { Refusal } from '../refusal.ts';
import { authorityOf } from './authority.ts';
import { connectionOptions, describeServer } from './connection.ts';
import { formProblem, type StoreSettings, storedSettings } from './migrate.ts';
import type { PostgresSettings } from './settings.ts';
import { STANDING, type StoreStanding } from './standing.ts';

/** A job that was started to fill the store. It is stored before it runs, so that no job that ran is unknown. */
export interface StartedJob {
  readonly jobId: string;
  readonly startedAt: Date;
  /** The address of its JobManager's REST API; null where it was not stored. */
  readonly cluster: string | null;
  /** Of the SQL: state of one does not fit another. */
  readonly sqlDigest: string;
  readonly topic: string;
  /** The savepoint or checkpoint it began with; null for the topic's beginning. */
  readonly restoredFrom: string | null;
  /** Where its state was left when it was stopped. */
  readonly savepoint: string | null;
}

/** How far the engine and `seal()` are. */
export interface StoreProgress extends StoreStanding {
  /** The end of the newest interval that the engine has closed, in microseconds; null for none. */
  readonly closedUs: number | null;
  readonly sealedUs: number | null;
  /** The migration of the newest snapshot. */
  readonly migrationId: number | null;
}

/** Two starts at a time would both find that no job runs. */
const START_LOCK = 4713;
const ENGINE_TABLES = [
  'owner_total',
  'snapshot_control',
  'coin',
  'spent',
  'round_opened',
  'round_archived',
  'fault',
  'late',
];
const INSUFFICIENT_PRIVILEGE = '42501';

const ANSWER_MS_MAX = 30_000;

/** Connects for as long as the body takes. Throws a Refusal where the store cannot be reached, or not be used. */
export async function withJobStore<Result>(
  postgres: PostgresSettings,
  body: (store: JobStore) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ ...connectionOptions(postgres), query_timeout: ANSWER_MS_MAX });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new Refusal(`${describeServer(postgres)}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return await body(new JobStore(client));
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Refusal(`${describeServer(postgres)}: ${message}: GRANT holdfast_writer TO it`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

/** One connection to a store, for who starts and looks after its job. */
export class JobStore {
  readonly #client: ClientBase;

  constructor(client: ClientBase) {
    this.#client = client;
  }

  async #ask<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, [...values])).rows;
  }

  async settings(): Promise<StoreSettings> {
    const stored = await storedSettings(this.#client);
    const problem = formProblem(stored?.version ?? 0);
    if (problem !== null) throw new Refusal(problem);
    return stored!;
  }

  /** From the newest to the oldest. */
  jobs(): Promise<readonly StartedJob[]> {
    return this.#ask(STARTED);
  }

  /** Whether an engine has written anything. */
  async hasRows(): Promise<boolean> {
    const any = ENGINE_TABLES.map((table) => `EXISTS (SELECT FROM ${table})`).join(' OR ');
    return (await this.#ask<{ found: boolean }>(`SELECT ${any} AS found`))[0]!.found;
  }

  /** Connections of that name to this database. */
  async connectionsOf(applicationName: string): Promise<number> {
    const sql = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1';
    return (await this.#ask(sql, [applicationName])).length;
  }

  /** Whether nobody else holds it; it is held until the connection ends. */
  async lock(): Promise<boolean> {
    return (await this.#ask<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [START_LOCK]))[0]!.held;
  }

  async add(job: Pick<StartedJob, 'jobId' | 'cluster' | 'sqlDigest' | 'topic' | 'restoredFrom'>): Promise<void> {
    const { jobId, cluster, sqlDigest, topic, restoredFrom } = job;
    const sql = 'INSERT INTO job (job_id, cluster, sql_digest, topic, restored_from) VALUES ($1, $2, $3, $4, $5)';
    await this.#ask(sql, [jobId, cluster, sqlDigest, topic, restoredFrom]);
  }

  /** One that did not come to run. */
  async remove(jobId: string): Promise<void> {
    await this.#ask('DELETE FROM job WHERE job_id = $1', [jobId]);
  }

  async leaveAt(jobId: string, savepoint: string): Promise<void> {
    await this.#ask('UPDATE job SET savepoint = $2 WHERE job_id = $1', [jobId, savepoint]);
  }

  async progress(): Promise<StoreProgress> {
    const [standing] = await this.#ask<StoreStanding>(STANDING);
    const [progress] = await this.#ask<Omit<StoreProgress, keyof StoreStanding>>(PROGRESS);
    return { ...standing!, ...progress! };
  }

  /** Of the certificates in `ca`, the one by which the server was verified. */
  authority(ca: string): string {
    return authorityOf(this.#client, ca);
  }
}

const STARTED = `SELECT job_id AS "jobId", started_at AS "startedAt", cluster, sql_digest AS "sqlDigest", topic,
    restored_from AS "restoredFrom", savepoint
  FROM job ORDER BY no DESC`;

const PROGRESS = `SELECT n.seq * period_us AS "sealedUs", n.migration_id AS "migrationId",
    (SELECT seq * period_us FROM snapshot_control ORDER BY migration_id DESC, seq DESC LIMIT 1) AS "closedUs"
  FROM setting LEFT JOIN (SELECT * FROM snapshot ORDER BY no DESC LIMIT 1) n ON true`;
