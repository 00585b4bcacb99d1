import { Client, type ClientBase } from 'pg';
import { Refusal } from '../refusal.ts';
import { authorityOf } from './authority.ts';
import { connectionOptions, describeServer } from './connection.ts';
import { formProblem, type StoreSettings, storedSettings } from './migrate.ts';
import { microsOf } from './numbers.ts';
import type { PostgresSettings } from './settings.ts';
import { STANDING, type StandingRow, type StoreStanding, standingOf } from './standing.ts';

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

/** One connection to a store, for who starts and looks after its job. */
export interface JobStore {
  settings(): Promise<StoreSettings>;
  /** From the newest to the oldest. */
  jobs(): Promise<readonly StartedJob[]>;
  /** Whether an engine has written anything. */
  hasRows(): Promise<boolean>;
  /** Connections of that name to this database. */
  connectionsOf(applicationName: string): Promise<number>;
  /** Whether nobody else holds it; it is held until the connection ends. */
  lock(): Promise<boolean>;
  add(job: Pick<StartedJob, 'jobId' | 'cluster' | 'sqlDigest' | 'topic' | 'restoredFrom'>): Promise<void>;
  /** One that did not come to run. */
  remove(jobId: string): Promise<void>;
  leaveAt(jobId: string, savepoint: string): Promise<void>;
  progress(): Promise<StoreProgress>;
  /** Of the certificates in `ca`, the one by which the server was verified. */
  authority(ca: string): string;
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
    return await body(jobStoreOf(client));
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Refusal(`${describeServer(postgres)}: ${message}: GRANT holdfast_writer TO it`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

const ANSWER_MS_MAX = 30_000;

function jobStoreOf(client: ClientBase): JobStore {
  return {
    async settings() {
      const stored = await storedSettings(client);
      const { version, ...settings } = stored ?? { version: 0, periodUs: 0, dso: '' };
      const problem = formProblem(version);
      if (problem !== null) throw new Refusal(problem);
      return settings;
    },
    async jobs() {
      return (await client.query<StartedJob>(STARTED)).rows;
    },
    async hasRows() {
      const any = ENGINE_TABLES.map((table) => `EXISTS (SELECT FROM ${table})`).join(' OR ');
      return (await client.query<{ found: boolean }>(`SELECT ${any} AS found`)).rows[0]!.found;
    },
    async connectionsOf(applicationName) {
      const { rows } = await client.query<{ count: string }>(
        'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
        [applicationName],
      );
      return Number(rows[0]!.count);
    },
    async lock() {
      const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [START_LOCK]);
      return rows[0]!.held;
    },
    async add({ jobId, cluster, sqlDigest, topic, restoredFrom }) {
      await client.query(
        'INSERT INTO job (job_id, cluster, sql_digest, topic, restored_from) VALUES ($1, $2, $3, $4, $5)',
        [jobId, cluster, sqlDigest, topic, restoredFrom],
      );
    },
    async remove(jobId) {
      await client.query('DELETE FROM job WHERE job_id = $1', [jobId]);
    },
    async leaveAt(jobId, savepoint) {
      await client.query('UPDATE job SET savepoint = $2 WHERE job_id = $1', [jobId, savepoint]);
    },
    async progress() {
      const { rows: standing } = await client.query<StandingRow>(STANDING);
      const { rows } = await client.query<ProgressRow>(PROGRESS);
      const { closed_us, sealed_us, migration_id } = rows[0]!;
      return {
        ...standingOf(standing[0]!),
        closedUs: microsOf(closed_us),
        sealedUs: microsOf(sealed_us),
        migrationId: migration_id,
      };
    },
    authority: (ca) => authorityOf(client, ca),
  };
}

const STARTED = `SELECT job_id AS "jobId", started_at AS "startedAt", cluster, sql_digest AS "sqlDigest", topic,
    restored_from AS "restoredFrom", savepoint
  FROM job ORDER BY no DESC`;

interface ProgressRow {
  readonly closed_us: string | null;
  readonly sealed_us: string | null;
  readonly migration_id: number | null;
}

const PROGRESS = `SELECT n.seq * period_us AS sealed_us, n.migration_id,
    (SELECT seq * period_us FROM snapshot_control ORDER BY migration_id DESC, seq DESC LIMIT 1) AS closed_us
  FROM setting LEFT JOIN (SELECT * FROM snapshot ORDER BY no DESC LIMIT 1) n ON true`;
