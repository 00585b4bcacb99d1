import { Client } from 'pg';
import { FLAT_MIGRATION_MAX } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { describeServer, type PostgresSettings } from './postgres-settings.ts';
import { connectionOptions, NO_STORE } from './statement-pool.ts';

/** What the events of a store were decoded with. */
export interface StoreSettings {
  readonly periodUs: number;
  readonly dso: string;
}

/** The form of a store that this version reads. */
export const STORE_FORM = 5;
/** The only older form that is brought to this one. */
const FORM_BEFORE = 4;

/** Why this version cannot use a store of a form, and what to do; null where it can. */
export function formProblem(version: number): string | null {
  if (version === STORE_FORM) return null;
  if (version === 0) return NO_STORE;
  return version > STORE_FORM
    ? `the store is of a newer Holdfast (form ${version}, and this one knows ${STORE_FORM}): upgrade this program`
    : `the store has form ${version}, and this version needs ${STORE_FORM}: holdfast migrate`;
}

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

/**
 * The store in PostgreSQL. A stream engine writes the first tables: only rows that are pure functions of the feed, so that writing
 * them again after a recovery changes nothing, and for that without dead rows. One job writes to each of them: two that upsert the
 * same rows in different orders would deadlock. `seal()` writes the others, from which readers know what is there.
 */
const TABLES = `
-- One row. What the events were decoded with, and an id by which a reader notices that the database was made again.
CREATE TABLE setting (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version int NOT NULL,
  period_us bigint NOT NULL,
  dso text NOT NULL,
  store uuid NOT NULL DEFAULT gen_random_uuid()
);

-- An owner's totals at the end of each interval (seq) in which they changed. expires: a lower bound of the coins' expiry rounds. no: how
-- the rows of a ranking are found again.
CREATE TABLE owner_total (
  migration_id int, owner text COLLATE "C", seq bigint,
  u_coins bigint NOT NULL, u_amount numeric NOT NULL, u_rate numeric NOT NULL, u_rate_round numeric NOT NULL,
  l_coins bigint NOT NULL, l_amount numeric NOT NULL, l_rate numeric NOT NULL, l_rate_round numeric NOT NULL,
  expires bigint,
  no bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  PRIMARY KEY (migration_id, owner, seq)
);
CREATE INDEX owner_total_seq ON owner_total (migration_id, seq);

-- How many rows an interval has, which shows when all of them are there. link: its number among the intervals with events.
-- coins: active at its end. first_t: the record time of its first update that is no import, in microseconds. seeded_at: 0 where it has
-- imports of a snapshot import (docs/rules.md, rule 13), with the import marker the record time of that.
CREATE TABLE snapshot_control (
  migration_id int, seq bigint,
  link bigint NOT NULL, owner_rows bigint NOT NULL, created bigint NOT NULL, archived bigint NOT NULL,
  faults bigint NOT NULL, coins bigint NOT NULL, first_t bigint, seeded_at bigint,
  PRIMARY KEY (migration_id, seq)
);
CREATE UNIQUE INDEX snapshot_control_link ON snapshot_control (migration_id, link);

-- archived_seq belongs to seal(), which takes it from spent in the order of the intervals. no: the page token.
CREATE TABLE coin (
  migration_id int, contract_id text COLLATE "C",
  created_seq bigint NOT NULL, archived_seq bigint,
  owner text COLLATE "C" NOT NULL, locked int NOT NULL, amount numeric NOT NULL, rate numeric NOT NULL,
  round bigint NOT NULL, expires bigint, created_at bigint NOT NULL,
  created_in text, node int NOT NULL, template_id text NOT NULL, extra text,
  no bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  PRIMARY KEY (migration_id, contract_id)
) WITH (fillfactor = 90);
CREATE INDEX coin_active ON coin (migration_id, owner, created_at, contract_id) WHERE archived_seq IS NULL;
CREATE INDEX coin_spent ON coin (migration_id, owner, archived_seq) WHERE archived_seq IS NOT NULL;
CREATE INDEX coin_created_seq ON coin (migration_id, created_seq);

CREATE TABLE spent (
  migration_id int, contract_id text COLLATE "C", archived_seq bigint NOT NULL,
  PRIMARY KEY (migration_id, contract_id)
);
CREATE INDEX spent_seq ON spent (migration_id, archived_seq);

CREATE TABLE round_opened (migration_id int, contract_id text, round bigint NOT NULL, PRIMARY KEY (migration_id, contract_id));
CREATE TABLE round_archived (migration_id int, contract_id text, PRIMARY KEY (migration_id, contract_id));

-- Events that are no ledger's, and those behind an interval that was closed: nothing is sealed past either.
CREATE TABLE fault (migration_id int, contract_id text, seq bigint, k text, PRIMARY KEY (migration_id, contract_id, seq, k));
CREATE TABLE late (migration_id int, clk bigint, contract_id text, k text, PRIMARY KEY (migration_id, clk, contract_id, k));

CREATE TRIGGER same BEFORE UPDATE ON owner_total FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER same BEFORE UPDATE ON coin FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER same BEFORE UPDATE ON spent FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();

-- How far a migration is sealed, and what is active there. first_seq: its first snapshot; null before its first update.
CREATE TABLE sealed (
  migration_id int PRIMARY KEY,
  first_seq bigint, last_seq bigint NOT NULL, last_link bigint NOT NULL,
  coins bigint NOT NULL, owners bigint NOT NULL, unlocked numeric NOT NULL, locked numeric NOT NULL, seeded_at bigint
);

-- Every snapshot, those of quiet intervals too. no: the order in which they were sealed.
CREATE TABLE snapshot (
  migration_id int, seq bigint,
  no bigint NOT NULL UNIQUE,
  coins bigint NOT NULL, owners bigint NOT NULL, unlocked numeric NOT NULL, locked numeric NOT NULL,
  changes_digest bytea NOT NULL, digest bytea NOT NULL,
  PRIMARY KEY (migration_id, seq)
);

-- Contradictions of the rows, by seal(): nothing more of their migration is sealed until somebody has looked and deleted the row.
CREATE TABLE contradiction (migration_id int PRIMARY KEY, seq bigint NOT NULL, reason text NOT NULL);
`;

/** From the form before: the list of started jobs goes, and owners' rows have a number. */
const UPGRADE = `
DROP TABLE job;
ALTER TABLE owner_total ADD COLUMN no bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
`;

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

// Only rows of one interval are asked for, by their indexes: of tables that have just been filled the planner knows nothing. What it
// then takes for expensive it would also compile.
const BY_INDEX = 'SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off';

/**
 * The functions that seal. `seal(n)` seals up to n intervals, each the next of its migration's chain, once all its rows are there and
 * nothing is wrong before it: in one transaction, so that a reader sees an interval whole or not at all. Any process that reads may
 * call it, and one works at a time. An interval whose rows contradict each other stops its migration, and is in table contradiction.
 * Digests are those of docs/digest.md.
 */
const SEALING = `
-- The SHA-256 of an interval's changes: the items are the SHA-256 of a line for each coin created or archived since the snapshot
-- before it, in the order of their bytes. A coin created since then and gone again leaves none.
CREATE OR REPLACE FUNCTION changes_digest(m int, before bigint, at bigint) RETURNS bytea LANGUAGE sql STABLE SET search_path FROM CURRENT SET jit = off AS $$
  SELECT sha256(
    convert_to(m || ' ' || to_char(to_timestamp(at * (SELECT period_us FROM setting) / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || E'\\n', 'UTF8')
    || COALESCE((SELECT string_agg(item, ''::bytea ORDER BY item) FROM (
      SELECT sha256(convert_to('+ ' || CASE locked WHEN 1 THEN 'l' ELSE 'u' END || ' ' || trunc(amount * 10000000000) || ' '
        || trunc(rate * 10000000000) || ' ' || round || ' ' || created_at || ' ' || octet_length(owner) || ' ' || owner || ' ' || contract_id || E'\\n', 'UTF8')) AS item
      FROM coin WHERE migration_id = m AND created_seq > before AND created_seq <= at AND (archived_seq IS NULL OR archived_seq > at)
      UNION ALL
      SELECT sha256(convert_to('- ' || s.contract_id || E'\\n', 'UTF8'))
      FROM spent s JOIN coin c USING (migration_id, contract_id)
      WHERE s.migration_id = m AND s.archived_seq > before AND s.archived_seq <= at AND c.created_seq <= before
    ) items), ''::bytea))
$$;

CREATE OR REPLACE FUNCTION add_snapshot(s sealed, before bigint, at bigint) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT SET jit = off AS $$
DECLARE
  changes bytea := changes_digest(s.migration_id, before, at);
  earlier bytea := (SELECT digest FROM snapshot WHERE migration_id = s.migration_id AND seq = at - 1);
BEGIN
  IF earlier IS NULL THEN
    earlier := sha256(convert_to(s.migration_id || ' ' || (SELECT period_us FROM setting) || E'\\n', 'UTF8'));
  END IF;
  INSERT INTO snapshot VALUES (s.migration_id, at, (SELECT COALESCE(max(no), 0) + 1 FROM snapshot),
    s.coins, s.owners, s.unlocked, s.locked, changes, sha256(earlier || changes));
END $$;

-- The next interval that can be sealed, of the oldest such migration. Of every number that a migration may have, two rows are looked at.
CREATE OR REPLACE FUNCTION next_interval() RETURNS SETOF snapshot_control LANGUAGE sql STABLE SET search_path FROM CURRENT
  ${BY_INDEX} AS $$
  SELECT k.* FROM generate_series(0, ${FLAT_MIGRATION_MAX}) m LEFT JOIN sealed l ON l.migration_id = m
  JOIN snapshot_control k ON k.migration_id = m AND k.link = COALESCE(l.last_link, 0) + 1
  WHERE k.faults = 0 AND NOT EXISTS (SELECT FROM late WHERE late.migration_id = m)
    AND NOT EXISTS (SELECT FROM contradiction n WHERE n.migration_id = m)
    AND (SELECT count(*) FROM owner_total r WHERE r.migration_id = m AND r.seq = k.seq) = k.owner_rows
    AND (SELECT count(*) FROM coin r WHERE r.migration_id = m AND r.created_seq = k.seq) = k.created
    AND (SELECT count(*) FROM spent r WHERE r.migration_id = m AND r.archived_seq = k.seq) = k.archived
  ORDER BY m LIMIT 1
$$;

CREATE OR REPLACE FUNCTION seal_interval(c snapshot_control) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT
  ${BY_INDEX} AS $$
DECLARE
  s sealed; d record; at bigint; moved bigint;
BEGIN
  UPDATE coin SET archived_seq = z.archived_seq FROM spent z
  WHERE z.migration_id = c.migration_id AND z.archived_seq = c.seq
    AND coin.migration_id = z.migration_id AND coin.contract_id = z.contract_id;
  GET DIAGNOSTICS moved = ROW_COUNT;
  IF moved <> c.archived THEN RAISE '% archives meet % coins', c.archived, moved; END IF;

  SELECT * INTO s FROM sealed WHERE migration_id = c.migration_id;
  IF NOT FOUND THEN s := ROW(c.migration_id, NULL, 0, 0, 0, 0, 0, 0, NULL); END IF;
  IF (c.first_t - 1) / (SELECT period_us FROM setting) + 1 <> c.seq THEN
    RAISE 'its events were decoded with another snapshot period than the % microseconds of the store', (SELECT period_us FROM setting);
  END IF;
  IF s.seeded_at = 0 AND c.first_t IS NOT NULL AND c.seeded_at IS NULL THEN
    RAISE 'updates come after an incomplete snapshot import, whose marker is missing';
  END IF;
  IF c.seeded_at > 0 AND (s.first_seq IS NOT NULL OR c.first_t < c.seeded_at) THEN
    RAISE 'the marker of a snapshot import comes after updates';
  END IF;

  -- The snapshots of the quiet intervals before it; the first may be one of an interval that began on the grid.
  IF s.first_seq IS NOT NULL THEN
    FOR at IN SELECT generate_series(GREATEST(s.last_seq + 1, s.first_seq), c.seq - 1) LOOP
      PERFORM add_snapshot(s, CASE at WHEN s.first_seq THEN -1 ELSE at - 1 END, at);
    END LOOP;
  END IF;

  SELECT COALESCE(sum(u_coins + l_coins - was_coins), 0) AS coins,
    COALESCE(sum((u_coins + l_coins > 0)::int - (was_coins > 0)::int), 0) AS owners,
    COALESCE(sum(u_amount - was_unlocked), 0) AS unlocked, COALESCE(sum(l_amount - was_locked), 0) AS locked INTO d
  FROM owner_total o, LATERAL (
    SELECT COALESCE(max(p.u_coins + p.l_coins), 0) AS was_coins, COALESCE(max(p.u_amount), 0) AS was_unlocked,
      COALESCE(max(p.l_amount), 0) AS was_locked
    FROM (SELECT * FROM owner_total p WHERE p.migration_id = o.migration_id AND p.owner = o.owner AND p.seq < o.seq
      ORDER BY p.seq DESC LIMIT 1) p) was
  WHERE o.migration_id = c.migration_id AND o.seq = c.seq;
  s.coins := s.coins + d.coins;
  s.owners := s.owners + d.owners;
  s.unlocked := s.unlocked + d.unlocked;
  s.locked := s.locked + d.locked;
  IF s.coins <> c.coins THEN RAISE 'owners have % coins, and % are active', s.coins, c.coins; END IF;

  -- The first snapshot is strictly after the first update, but may be at an import marker.
  s.first_seq := COALESCE(s.first_seq, (c.first_t - (c.seeded_at IS NOT NULL)::int) / (SELECT period_us FROM setting) + 1);
  s.last_seq := c.seq;
  s.last_link := c.link;
  s.seeded_at := GREATEST(s.seeded_at, c.seeded_at);
  IF c.seq >= s.first_seq THEN
    PERFORM add_snapshot(s, CASE c.seq WHEN s.first_seq THEN -1 ELSE c.seq - 1 END, c.seq);
  END IF;
  INSERT INTO sealed SELECT s.* ON CONFLICT (migration_id) DO UPDATE SET first_seq = EXCLUDED.first_seq,
    last_seq = EXCLUDED.last_seq, last_link = EXCLUDED.last_link, coins = EXCLUDED.coins, owners = EXCLUDED.owners,
    unlocked = EXCLUDED.unlocked, locked = EXCLUDED.locked, seeded_at = EXCLUDED.seeded_at;
END $$;

CREATE OR REPLACE FUNCTION seal(n int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
  ${BY_INDEX} AS $$
DECLARE
  c snapshot_control; done int := 0;
BEGIN
  IF NOT pg_try_advisory_xact_lock(4711) OR NOT EXISTS (SELECT FROM next_interval()) THEN RETURN 0; END IF;
  -- Who writes coins waits: row by row against upserts in another order this would deadlock.
  LOCK TABLE coin IN SHARE ROW EXCLUSIVE MODE;
  WHILE done < n LOOP
    SELECT * INTO c FROM next_interval();
    EXIT WHEN NOT FOUND;
    BEGIN
      PERFORM seal_interval(c);
      done := done + 1;
    EXCEPTION WHEN raise_exception THEN
      INSERT INTO contradiction VALUES (c.migration_id, c.seq, SQLERRM);
    END;
  END LOOP;
  RETURN done;
END $$;
`;
