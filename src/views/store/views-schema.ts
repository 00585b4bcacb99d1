import type { Database } from 'better-sqlite3';

/** The version of views.db's tables, its user_version: an older file is migrated (migrations.ts), a newer one refused. */
export const SCHEMA_VERSION = 14;
/** The oldest version that there is a migration from. */
export const OLDEST_MIGRATED = 12;
/** While a migration is under way, user_version is that of before times this, plus the percentage done: every program refuses it. */
export const UNDER_WAY = 1_000;

/**
 * The tables of views.db. Times are microseconds since 1970, amounts and rates 1e-10 units: an INTEGER where it fits 64 bits,
 * else a big-endian BLOB of 16 bytes. Ids are a BLOB where they are lower-case hex of even length, else TEXT.
 */
const DDL = `
-- What the directory was made for; one row.
CREATE TABLE setting(
  lock INTEGER PRIMARY KEY CHECK (lock = 1),
  directory_id TEXT NOT NULL,           -- created with the directory, unique
  period INTEGER NOT NULL,              -- snapshot grid
  source_migration_id INTEGER,          -- of a source that names none (the Ledger API form), once one was read
  dso TEXT,                             -- the DSO whose coins count, once known
  dso_pinned INTEGER NOT NULL,          -- whether an operator or the source's network named it
  next_no INTEGER NOT NULL,             -- next number of a coin contract
  next_account INTEGER NOT NULL,
  tokens INTEGER,                       -- since 14: whether tokens count, 0 or 1; null until the first update is applied
  unreadable INTEGER NOT NULL,          -- since 14: how many rows that table has
  next_update_no INTEGER NOT NULL,      -- of ledger_update
  feed TEXT,                            -- what the resume tokens of the source that resumes belong to, in its own form
  followed TEXT                         -- the owners whose coins and tokens count, as a JSON list in order; null: all
) STRICT;

-- Where the feed was read to, per lane of its source; written in every transaction. Those of a source that resumes exist
-- from the transaction that stores setting.feed. Resume tokens are texts that only their source reads.
CREATE TABLE position(
  lane TEXT PRIMARY KEY NOT NULL,       -- the source's name for it
  source TEXT NOT NULL,                 -- its name
  start TEXT,                           -- the lane's resume token when it was first seen; null where the source does not resume
  cursor TEXT NOT NULL,                 -- where reading continues
  sha256 BLOB,                          -- of the last message before the resume token; kept where the source resumes
  checkpoints TEXT NOT NULL,            -- newest checkpoint time per migration and synchronizer read there, as JSON
  furthest_migration INTEGER,           -- the furthest place read there: see views/write/positions.ts
  furthest_time INTEGER                 -- -1 for imports
) STRICT;

-- Migrations are independent: each has its own open interval, clock and supply.
CREATE TABLE migration(
  migration_id INTEGER PRIMARY KEY,
  open_seq INTEGER NOT NULL,            -- the interval that is open
  open_epoch INTEGER NOT NULL,          -- its epoch: the newest one when it opened
  coin INTEGER,                         -- the instrument that is the coin; null before the first
  time_reached INTEGER,                 -- null until an import marker, or an update that is no import
  update_time INTEGER,                  -- the largest record time of an update
  next_grid INTEGER,                    -- the next grid time to seal
  seeded_at INTEGER,                    -- of the snapshot import that it began with; -1 while its marker has not come; null: none
  seed_times TEXT NOT NULL,             -- the time of each synchronizer that its marker named, as JSON
  seed_offset INTEGER,                  -- the offset of its participant; null where its source has none
  movements_since INTEGER               -- the counted time from which movements are kept; null: from the beginning
) STRICT;

-- The first and the last time applied per synchronizer: updates between are redeliveries, earlier ones disorder.
CREATE TABLE synchronizer(
  migration_id INTEGER, synchronizer_id TEXT,
  no INTEGER NOT NULL UNIQUE,           -- its number in ledger_update
  first_time INTEGER NOT NULL, record_time INTEGER NOT NULL,
  updates INTEGER NOT NULL,             -- how many were applied at the last time: rows of last_update
  repairs INTEGER NOT NULL,             -- how many were ever applied at the time of the one before them
  unseen INTEGER NOT NULL,              -- 1: known from files, not yet seen in the source that continues after them
  PRIMARY KEY(migration_id, synchronizer_id)
) STRICT, WITHOUT ROWID;

-- The updates applied at a synchronizer's last time: a second one of each is a redelivery; see views/write/state.ts.
CREATE TABLE last_update(
  migration_id INTEGER, synchronizer_id TEXT, update_id ANY,
  PRIMARY KEY(migration_id, synchronizer_id, update_id)
) STRICT, WITHOUT ROWID;

-- The coin of a migration, and its tokens: an instrument is one of an admin. From its first create that counts; never removed.
CREATE TABLE instrument(
  id INTEGER PRIMARY KEY, migration_id INTEGER NOT NULL, admin TEXT NOT NULL, name TEXT NOT NULL,
  UNIQUE(migration_id, admin, name)
) STRICT;

-- Whose coins or tokens are added up. Empty where there is none: provider and account_id always for the coin, owner for tokens only.
CREATE TABLE account(
  id INTEGER PRIMARY KEY, instrument INTEGER NOT NULL, owner TEXT NOT NULL, provider TEXT NOT NULL, account_id TEXT NOT NULL,
  UNIQUE(instrument, owner, provider, account_id)
) STRICT;

-- How many accounts of a party have tokens of an instrument: an owner has at least one. No row for none, and for the coin.
CREATE TABLE open_accounts(
  instrument INTEGER, owner TEXT, accounts INTEGER NOT NULL, PRIMARY KEY(instrument, owner)
) STRICT, WITHOUT ROWID;

-- A version for each interval that changed the supply of an instrument, the open one included.
CREATE TABLE supply(
  instrument INTEGER, seq INTEGER,
  contracts INTEGER NOT NULL, owners INTEGER NOT NULL,
  unlocked TEXT NOT NULL, locked TEXT NOT NULL,  -- decimal digits: a supply does not fit 64 bits
  PRIMARY KEY(instrument, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot(
  migration_id INTEGER, record_time INTEGER, seq INTEGER NOT NULL,
  no INTEGER NOT NULL UNIQUE,           -- its place in the order in which those of all migrations were sealed
  epoch INTEGER NOT NULL,               -- the newest one when it was sealed
  update_no INTEGER NOT NULL,           -- the last number of ledger_update when it was sealed
  forced INTEGER NOT NULL,
  changes_digest BLOB, digest BLOB,     -- of 32 bytes; null where forced; see ledger/digest.ts
  tokens_changes_digest BLOB, tokens_digest BLOB,  -- since 14: of the chain of tokens; null where forced, and before its first line
  PRIMARY KEY(migration_id, record_time)
) STRICT, WITHOUT ROWID;

-- Items of what changed since a migration's newest snapshot on the grid, 32 bytes each: a row for each commit, until the next
-- one is sealed; see views/write/open-items.ts.
CREATE TABLE open_items(no INTEGER PRIMARY KEY, migration_id INTEGER NOT NULL, items BLOB NOT NULL) STRICT;
CREATE INDEX open_items_by_migration ON open_items(migration_id);
-- The same of tokens.
CREATE TABLE open_token_items(no INTEGER PRIMARY KEY, migration_id INTEGER NOT NULL, items BLOB NOT NULL) STRICT;
CREATE INDEX open_token_items_by_migration ON open_token_items(migration_id);

CREATE TABLE template(
  id INTEGER PRIMARY KEY, template_id TEXT NOT NULL, package_name TEXT NOT NULL,
  UNIQUE(template_id, package_name)
) STRICT;

-- Tables that grow with history and are read by account have an epoch before it in their keys, so that new rows lie together
-- and a commit writes few pages (docs/store.md). An epoch is closed at the end of the transaction that fills it.
CREATE TABLE epoch(
  no INTEGER PRIMARY KEY,               -- from 1
  first_no INTEGER NOT NULL,            -- of its coins
  events INTEGER NOT NULL,
  min_created INTEGER, max_created INTEGER,  -- bounds of created_at of its coins, the archived ones included; null where it has had none
  held INTEGER NOT NULL, gone INTEGER NOT NULL  -- how many rows of each
) STRICT;

-- Which epochs an account has rows in: bit n of the bytes, the lowest first, is epoch n.
CREATE TABLE account_epochs(account INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;

-- Facts of one contract of a coin or token, numbered in feed order. Of a token rate and round are 0, and args has the microseconds
-- since 1970 at which its lock ends, or null. Appended; deleted only when archived in the interval of its creation.
CREATE TABLE holding(
  no INTEGER PRIMARY KEY, account INTEGER, created_seq INTEGER, locked INTEGER, amount ANY, rate ANY, round INTEGER,
  created_at INTEGER, node INTEGER, template INTEGER, contract_id ANY,
  update_id ANY,                        -- an INTEGER: a number of ledger_update; else the id itself, of an import; null where that is not known
  args TEXT                             -- null for the canonical Amulet; see ledger/coin.ts
) STRICT;

-- Active now, by account and creation, in the epoch of the coin's number; without those of gone. expiry: null for never. id_hash: the
-- low 32 bits, signed, of the hash of migration and contract id (ledger/ledger-ids.ts); the writer finds contracts by it, in memory
-- (views/write/contracts.ts).
CREATE TABLE held(
  epoch INTEGER, account INTEGER, created_at INTEGER, no INTEGER, created_seq INTEGER, expiry INTEGER, id_hash INTEGER NOT NULL,
  PRIMARY KEY(epoch, account, created_at, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_by_expiry ON held(epoch, account, expiry);

-- The numbers of coins of closed epochs that were archived, while their rows of held are still there.
CREATE TABLE gone(no INTEGER PRIMARY KEY) STRICT;

-- Archived, by account and the interval of the archive, in the epoch of that interval.
CREATE TABLE spent(
  epoch INTEGER, account INTEGER, archived_seq INTEGER, created_at INTEGER, no INTEGER, created_seq INTEGER, expiry INTEGER,
  PRIMARY KEY(epoch, account, archived_seq, created_at, no)
) STRICT, WITHOUT ROWID;

-- A version for each account changed in interval seq, in the epoch of the interval; v: see views/store/stored-rows.ts.
CREATE TABLE total(
  epoch INTEGER, account INTEGER, seq INTEGER, v BLOB NOT NULL, PRIMARY KEY(epoch, account, seq)
) STRICT, WITHOUT ROWID;

-- The updates that changed a coin or showed a holding of tokens, without imports, numbered in feed order. counted_at: null where it is the record time. effects:
-- by which a redelivery is known, and accounts: whose movements it made; see views/write/ledger-updates.ts.
CREATE TABLE ledger_update(
  no INTEGER PRIMARY KEY, synchronizer INTEGER NOT NULL, record_time INTEGER NOT NULL, counted_at INTEGER,
  update_id ANY NOT NULL, effects BLOB NOT NULL, accounts BLOB NOT NULL
) STRICT;
CREATE INDEX ledger_update_by_time ON ledger_update(synchronizer, record_time);

-- What an update changed in an account's sums, in the epoch of its interval: 1e-10 units, an INTEGER where they fit 64 bits, else
-- decimal digits.
CREATE TABLE movement(
  epoch INTEGER, account INTEGER, update_no INTEGER, unlocked ANY NOT NULL, locked ANY NOT NULL,
  PRIMARY KEY(epoch, account, update_no)
) STRICT, WITHOUT ROWID;

-- What the feed says of a movement: JSON of an array of legs (decode/event-log.ts). A row only where it has an event for it.
CREATE TABLE movement_legs(
  update_no INTEGER, account INTEGER, legs TEXT NOT NULL, PRIMARY KEY(update_no, account)
) STRICT, WITHOUT ROWID;

-- Hashes of migration and id of coins created and archived before their migration's first snapshot, which leave no other row.
CREATE TABLE import_spent(h INTEGER PRIMARY KEY) STRICT;

-- Open mining rounds active now. content: SHA-256 of the create's content.
CREATE TABLE round(
  migration_id INTEGER, contract_id ANY, number INTEGER NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY(migration_id, contract_id)
) STRICT, WITHOUT ROWID;

-- Ids active now of coins, rounds and holdings of tokens that do not count; h: the hash of migration and id, 53 bits (ledger/ledger-ids.ts).
CREATE TABLE counterfeit(h INTEGER, migration_id INTEGER, contract_id ANY, PRIMARY KEY(h, migration_id, contract_id)) STRICT, WITHOUT ROWID;

-- Holdings active now whose views cannot be read; stakeholders: signatories and observers in order, with | between.
CREATE TABLE unreadable(
  h INTEGER, migration_id INTEGER, contract_id ANY, template_id TEXT NOT NULL, reason TEXT NOT NULL, stakeholders TEXT NOT NULL,
  PRIMARY KEY(h, migration_id, contract_id)
) STRICT, WITHOUT ROWID;

-- Archives of other templates that named nothing active, until no create of the id can come from another lane any more.
CREATE TABLE early_archive(
  h INTEGER, migration_id INTEGER, contract_id ANY, record_time INTEGER NOT NULL, PRIMARY KEY(h, migration_id, contract_id)
) STRICT, WITHOUT ROWID;

-- Messages that could not be applied, and the decisions.
CREATE TABLE dead_letter(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                   -- update | overlong | container | ahead | gap | overtaken
  code TEXT NOT NULL,                   -- what is wrong; the kind follows from it (views/store/dead-letter-store.ts)
  decision TEXT NOT NULL,               -- halted | dropped | quarantined | applied | resolved
  source TEXT NOT NULL, source_kind TEXT NOT NULL,
  lane TEXT NOT NULL, offset INTEGER NOT NULL,
  cursor TEXT,                          -- the lane's resume token after the message; null for a container
  place TEXT NOT NULL,                  -- its place under its source's names: JSON
  migration_id INTEGER, update_id TEXT, record_time INTEGER,
  field TEXT, given TEXT, expected TEXT, reason TEXT NOT NULL,
  sha256 BLOB NOT NULL, length INTEGER NOT NULL, bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL           -- our clock, microseconds
) STRICT;
CREATE INDEX dead_letter_by_sha256 ON dead_letter(sha256);
`;

export const TABLES_IF_MISSING = DDL.replaceAll(/^CREATE (TABLE|INDEX) /gm, 'CREATE $1 IF NOT EXISTS ');

/** As they were in version 13, besides tables that are new since. */
export const TABLES_13_IF_MISSING = TABLES_IF_MISSING.replaceAll(/^.*-- since 14: .*\n/gm, '');

export function createTables(db: Database): void {
  db.exec(DDL);
  db.pragma(`user_version = ${SCHEMA_VERSION}`);
}
