import type { Client, ClientBase } from 'pg';
import { Refusal } from '../refusal.ts';
import { SEALING } from './seal.ts';
import { CLUSTERS, JOBS, SEEDS, TABLES } from './tables.ts';

/** What the events of a store were decoded with. */
export interface StoreSettings {
  readonly periodUs: number;
  readonly dso: string;
}

/**
 * The steps of the tables from an empty database to the present form, which is numbered by how many there are. One that was released
 * stays. Functions and roles are always made as they are now.
 */
const STEPS: readonly string[] = [TABLES, SEEDS, JOBS, CLUSTERS];

/** The form of a store that this version reads. */
export const STORE_FORM = STEPS.length;

export const NO_STORE = 'the database has no store yet: holdfast flink migrate makes it';

/** Why this version cannot use a store of a form, and what to do; null where it can. */
export function formProblem(version: number): string | null {
  if (version === STORE_FORM) return null;
  if (version === 0) return NO_STORE;
  return version > STORE_FORM
    ? `the store is of a newer Holdfast (form ${version}, and this one knows ${STORE_FORM}): upgrade this program`
    : `the store has form ${version}, and this version needs ${STORE_FORM}: holdfast flink migrate`;
}

/**
 * Two roles, to be granted to those who log in: the writer's is for the stream engine, the reader's for any number of processes that
 * answer. A reader only reads, and may seal, which writes nothing but what the rows say.
 */
const ROLES = `
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_writer') THEN CREATE ROLE holdfast_writer NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_reader') THEN CREATE ROLE holdfast_reader NOLOGIN; END IF;
END $$;
GRANT SELECT, INSERT, UPDATE ON owner_total, snapshot_control, coin, spent, round_opened, round_archived, fault, late TO holdfast_writer;
GRANT SELECT ON setting, sealed, snapshot, contradiction TO holdfast_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON job TO holdfast_writer;
GRANT SELECT ON setting, owner_total, snapshot_control, coin, spent, round_opened, round_archived, fault, late, sealed, snapshot,
  contradiction TO holdfast_reader;
REVOKE EXECUTE ON FUNCTION seal(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal(int) TO holdfast_reader;
`;

/** Waits for another process that does the same. */
const MIGRATION_LOCK = 4712;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** Brings the store to the present form, in one transaction. Throws a Refusal for one that was made with other settings. */
export async function migrateStore(client: Client, { periodUs, dso }: StoreSettings): Promise<Migrated> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const stored = await storedSettings(client);
    const from = stored?.version ?? 0;
    if (from > STORE_FORM) throw new Refusal(formProblem(from)!);
    if (stored !== null && (stored.periodUs !== periodUs || stored.dso !== dso)) {
      throw new Refusal(
        `the store was made with --dso ${stored.dso} and a --snapshot-period of ${stored.periodUs} microseconds, ` +
          `not ${dso} and ${periodUs}: fill a new database instead`,
      );
    }
    // The functions keep it: one that runs as its owner must not look where others may put tables.
    await client.query("SELECT set_config('search_path', current_schema() || ', pg_temp', true)");
    for (const step of [...STEPS.slice(from), SEALING, ROLES]) await client.query(step);
    const write = stored === null ? INSERT_SETTING : UPDATE_SETTING;
    await client.query(write, [STEPS.length, periodUs, dso]);
    await client.query('COMMIT');
    return { from, to: STEPS.length };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

const INSERT_SETTING = 'INSERT INTO setting (version, period_us, dso) VALUES ($1, $2, $3)';
const UPDATE_SETTING = 'UPDATE setting SET version = $1 WHERE period_us = $2 AND dso = $3';

/** Of a store of any form. */
export const SELECT_SETTING = 'SELECT *, period_us::float8 AS "periodUs" FROM setting';

/** Null where the database has no store. */
export async function storedSettings(
  client: ClientBase,
): Promise<(StoreSettings & { readonly version: number }) | null> {
  const { rows: exists } = await client.query<{ found: boolean }>("SELECT to_regclass('setting') IS NOT NULL AS found");
  if (!exists[0]!.found) return null;
  return (await client.query<StoreSettings & { version: number }>(SELECT_SETTING)).rows[0] ?? null;
}
