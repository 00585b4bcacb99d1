/**
 * The store in PostgreSQL. A stream engine writes the first tables: only rows that are pure functions of the feed, so that writing
 * them again after a recovery changes nothing, and for that without dead rows. One job writes to each of them: two that upsert the
 * same rows in different orders would deadlock. `seal()` writes the others, from which readers know what is there.
 */
export const TABLES = `
-- One row. What the events were decoded with.
CREATE TABLE setting (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version int NOT NULL,
  period_us bigint NOT NULL,
  dso text NOT NULL
);

-- An owner's totals at the end of each interval (seq) in which they changed. expires: a lower bound of the coins' expiry rounds.
CREATE TABLE owner_total (
  migration_id int, owner text COLLATE "C", seq bigint,
  u_coins bigint NOT NULL, u_amount numeric NOT NULL, u_rate numeric NOT NULL, u_rate_round numeric NOT NULL,
  l_coins bigint NOT NULL, l_amount numeric NOT NULL, l_rate numeric NOT NULL, l_rate_round numeric NOT NULL,
  expires bigint,
  PRIMARY KEY (migration_id, owner, seq)
);
CREATE INDEX owner_total_seq ON owner_total (migration_id, seq);

-- How many rows an interval has, which shows when all of them are there. link: its number among the intervals with events.
-- coins: active at its end. first_t: the record time of its first update that is no import, in microseconds.
CREATE TABLE snapshot_control (
  migration_id int, seq bigint,
  link bigint NOT NULL, owner_rows bigint NOT NULL, created bigint NOT NULL, archived bigint NOT NULL,
  faults bigint NOT NULL, coins bigint NOT NULL, first_t bigint,
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
  coins bigint NOT NULL, owners bigint NOT NULL, unlocked numeric NOT NULL, locked numeric NOT NULL
);

-- Every snapshot, those of quiet intervals too. no: the order in which they were sealed.
CREATE TABLE snapshot (
  migration_id int, seq bigint,
  no bigint NOT NULL UNIQUE,
  coins bigint NOT NULL, owners bigint NOT NULL, unlocked numeric NOT NULL, locked numeric NOT NULL,
  changes_digest bytea NOT NULL, digest bytea NOT NULL,
  PRIMARY KEY (migration_id, seq)
);
`;

/**
 * Seeds (docs/rules.md, rule 13): of an interval with imports of one 0, with its mark the record time; the same of what is sealed.
 * By its id a reader sees that there is another store where one was.
 * Contradictions of the rows, by seal(): nothing more of their migration is sealed until somebody has looked and deleted the row.
 */
export const SEEDS = `
ALTER TABLE snapshot_control ADD COLUMN seeded_at bigint;
ALTER TABLE sealed ADD COLUMN seeded_at bigint;
ALTER TABLE setting ADD COLUMN store uuid NOT NULL DEFAULT gen_random_uuid();
CREATE TABLE contradiction (migration_id int PRIMARY KEY, seq bigint NOT NULL, reason text NOT NULL);
`;

/**
 * The jobs that were started to fill the store, from the first to the last (no): each by the SHA-256 of its SQL, what it began with
 * (null: the topic's first event), and where its state was left.
 */
export const JOBS = `
CREATE TABLE job (
  job_id text PRIMARY KEY,
  no bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  started_at timestamptz NOT NULL DEFAULT now(),
  sql_digest text NOT NULL, topic text NOT NULL, restored_from text, savepoint text
);
`;

/** Where each was started: the address of its JobManager's REST API. Null of one that was started before this was stored. */
export const CLUSTERS = `
ALTER TABLE job ADD COLUMN cluster text;
`;
