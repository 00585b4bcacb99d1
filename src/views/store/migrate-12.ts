import { TABLES_13_IF_MISSING } from './views-schema.ts';

/** What a supply is compared by. */
const SUPPLY = `contracts || ' ' || owners || ' ' || unlocked || ' ' || locked`;
const NO_SUPPLY = `'0 0 0 0'`;

/** Bit 1 of account_epochs. */
const IN_EPOCH_1 = `INSERT OR IGNORE INTO account_epochs SELECT DISTINCT owner, x'02' FROM slice`;

const BOUNDS_OF_EPOCH_1 = `UPDATE epoch SET
    min_created = min(coalesce(min_created, first), first), max_created = max(coalesce(max_created, last), last)
  FROM (SELECT min(created_at) AS first, max(created_at) AS last FROM slice) WHERE no = 1`;

/**
 * From schema 12: owners become accounts of the coin, supplies get versions, and all rows lie in epoch 1. That is closed, so new rows
 * go into epoch 2; the open intervals go on in it. Of the updates before, no row of ledger_update and no movement can be made: a
 * migration's movements begin after its time, and after its newest snapshot. `holding` keeps the ids of its updates.
 */
export const MIGRATION_12 = {
  begin: `
    DROP INDEX held_by_expiry;
    ${['setting', 'migration', 'synchronizer', 'snapshot', 'owner', 'held', 'spent', 'owner_total']
      .map((table) => `ALTER TABLE ${table} RENAME TO old_${table};`)
      .join('\n')}
    ALTER TABLE holding RENAME COLUMN owner TO account;
    ${TABLES_13_IF_MISSING}
    INSERT INTO setting SELECT lock, directory_id, period, source_migration_id, dso, dso_pinned, next_no, next_owner, 1, feed, followed
      FROM old_setting;
    INSERT INTO instrument SELECT row_number() OVER (ORDER BY min(id)), migration_id, dso, 'Amulet'
      FROM old_owner, old_setting GROUP BY migration_id;
    INSERT INTO migration SELECT migration_id, open_seq, 1, instrument.id, time_reached, update_time, next_grid, seeded_at, seed_times,
        seed_offset, max(time_reached, coalesce((SELECT max(record_time) FROM old_snapshot s WHERE s.migration_id = m.migration_id), 0)) + 1
      FROM old_migration m LEFT JOIN instrument USING (migration_id);
    INSERT INTO supply SELECT coin, m.open_seq, contracts, owners, unlocked, locked
      FROM old_migration m JOIN migration USING (migration_id)
      WHERE coin IS NOT NULL AND ${SUPPLY} IS NOT coalesce(
        (SELECT ${SUPPLY} FROM old_snapshot s WHERE s.migration_id = m.migration_id ORDER BY record_time DESC LIMIT 1), ${NO_SUPPLY});
    INSERT INTO synchronizer SELECT migration_id, synchronizer_id, row_number() OVER (ORDER BY migration_id, synchronizer_id), first_time,
        record_time, updates, repairs, unseen
      FROM old_synchronizer;
    -- Each coin has a number, and is archived where it is not held.
    INSERT INTO epoch SELECT 1, 1, 2 * (next_no - 1), NULL, NULL, 0, 0 FROM setting WHERE next_no > 1
      UNION ALL SELECT 2, next_no, 0, NULL, NULL, 0, 0 FROM setting WHERE next_no > 1;
    DROP TABLE old_setting; DROP TABLE old_migration; DROP TABLE old_synchronizer`,
  moved: [
    {
      table: 'old_snapshot',
      key: ['migration_id', 'record_time'],
      into: [
        'INSERT INTO snapshot SELECT migration_id, record_time, seq, no, 1, 0, forced, changes_digest, digest FROM slice',
        // A version where the supply is not that of the snapshot before, which may be of the slice before.
        `INSERT INTO supply SELECT coin, seq, contracts, owners, unlocked, locked
         FROM (SELECT *, lag(${SUPPLY}) OVER (PARTITION BY migration_id ORDER BY record_time) AS before FROM slice) s
         JOIN migration USING (migration_id)
         WHERE coin IS NOT NULL AND ${SUPPLY} IS NOT coalesce(before,
           (SELECT ${SUPPLY} FROM supply WHERE instrument = coin AND seq < s.seq ORDER BY seq DESC LIMIT 1), ${NO_SUPPLY})`,
      ],
    },
    {
      table: 'old_owner',
      key: ['id'],
      into: [
        `INSERT INTO account SELECT id, (SELECT i.id FROM instrument i WHERE i.migration_id = slice.migration_id), party, '', '' FROM slice`,
      ],
    },
    {
      table: 'old_held',
      key: ['owner', 'created_at', 'no'],
      into: [
        'INSERT INTO held SELECT 1, owner, created_at, no, created_seq, expiry, id_hash FROM slice',
        IN_EPOCH_1,
        BOUNDS_OF_EPOCH_1,
        'UPDATE epoch SET held = held + rows, events = events - rows FROM (SELECT count(*) AS rows FROM slice) WHERE no = 1',
      ],
    },
    {
      table: 'old_spent',
      key: ['owner', 'archived_seq', 'created_at', 'no'],
      into: [
        'INSERT INTO spent SELECT 1, owner, archived_seq, created_at, no, created_seq, expiry FROM slice',
        IN_EPOCH_1,
        BOUNDS_OF_EPOCH_1,
      ],
    },
    {
      table: 'old_owner_total',
      key: ['owner', 'seq'],
      into: ['INSERT INTO total SELECT 1, owner, seq, v FROM slice', IN_EPOCH_1],
    },
  ],
  unordered: ['owner', 'sqlite_autoindex_owner_1'],
};
