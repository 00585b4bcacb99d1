import { Client } from 'pg';
import { Refusal } from '../refusal.ts';
import { connectionOptions, describeServer, type PostgresSettings } from './postgres-connection.ts';
import { SEALING } from './seal-functions.ts';
import { TABLES, UPGRADE } from './store-tables.ts';

/** What the events of a store were decoded with. */
export interface StoreSettings {
  readonly periodUs: number;
  readonly dso: string;
}

/** The form of a store that this version reads. */
export const STORE_FORM = 5;
/** The only older form that is brought to this one. */
const FORM_BEFORE = 4;

export const NO_STORE = 'the database has no store yet: holdfast migrate makes it';

/** Why this version cannot use a store of a form, and what to do; null where it can. */
export function formProblem(version: number): string | null {
  if (version === STORE_FORM) return null;
  if (version === 0) return NO_STORE;
  return version > STORE_FORM
    ? `the store is of a newer Holdfast (form ${version}, and this one knows ${STORE_FORM}): upgrade this program`
    : `the store has form ${version}, and this version needs ${STORE_FORM}: holdfast migrate`;
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
GRANT SELECT ON setting, owner_total, snapshot_control, coin, spent, round_opened, round_archived, fault, late, sealed, snapshot,
  contradiction TO holdfast_reader;
REVOKE EXECUTE ON FUNCTION seal(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal(int) TO holdfast_reader;
`;

/** Waits for another process that does the same. */
const MIGRATION_LOCK = 4712;

/**
 * Makes the store, or brings it to the present form, in one transaction. Throws a Refusal for one that was made with other settings.
 * Functions and roles are always made as they are now.
 */
export async function migrateStore(
  postgres: PostgresSettings,
  { periodUs, dso }: StoreSettings,
): Promise<{ from: number; to: number }> {
  if (periodUs % 1_000_000 !== 0) throw new Refusal('--snapshot-period: expected whole seconds');
  const client = new Client(connectionOptions(postgres));
  try {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const stored = await storedSettings(client);
    const from = stored?.version ?? 0;
    if (from > STORE_FORM) throw new Refusal(formProblem(from)!);
    if (from > 0 && from < FORM_BEFORE)
      throw new Refusal(`the store has form ${from}, which this version cannot upgrade: fill a new database`);
    if (stored !== null && (stored.periodUs !== periodUs || stored.dso !== dso)) {
      throw new Refusal(
        `the store was made with --dso ${stored.dso} and a --snapshot-period of ${stored.periodUs} microseconds, ` +
          `not ${dso} and ${periodUs}: fill a new database instead`,
      );
    }
    // The functions keep it: one that runs as its owner must not look where others may put tables.
    await client.query("SELECT set_config('search_path', current_schema() || ', pg_temp', true)");
    if (from !== STORE_FORM) await client.query(from === 0 ? TABLES : UPGRADE);
    await client.query(SEALING);
    await client.query(ROLES);
    await client.query(stored === null ? INSERT_SETTING : UPDATE_SETTING, [STORE_FORM, periodUs, dso]);
    await client.query('COMMIT');
    return { from, to: STORE_FORM };
  } catch (error) {
    if (error instanceof Refusal || !(error instanceof Error)) throw error;
    throw new Error(`${describeServer(postgres)}: ${error.message}`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

const INSERT_SETTING = 'INSERT INTO setting (version, period_us, dso) VALUES ($1, $2, $3)';
const UPDATE_SETTING = 'UPDATE setting SET version = $1 WHERE period_us = $2 AND dso = $3';

/** Of a store of any form. */
export const SELECT_SETTING = 'SELECT *, period_us::float8 AS "periodUs" FROM setting';

/** Null where the database has no store. */
async function storedSettings(client: Client): Promise<(StoreSettings & { readonly version: number }) | null> {
  const { rows: exists } = await client.query<{ found: boolean }>("SELECT to_regclass('setting') IS NOT NULL AS found");
  if (!exists[0]!.found) return null;
  return (await client.query<StoreSettings & { version: number }>(SELECT_SETTING)).rows[0] ?? null;
}
