/**
 * The store in PostgreSQL. A stream engine writes the first tables: only rows that are pure functions of the feed, so that writing
 * them again after a recovery changes nothing, and for that without dead rows. One job writes to each of them: two that upsert the
 * same rows in different orders would deadlock. `seal()` writes the others, from which readers know what is there.
 */
export const TABLES = `
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
export const UPGRADE = `
DROP TABLE job;
ALTER TABLE owner_total ADD COLUMN no bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
`;
