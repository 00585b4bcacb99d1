import { TABLES_IF_MISSING } from './views-schema.ts';

/** From schema 13: columns and tables of tokens. A directory with any update has none of them for ever. */
export const MIGRATION_13 = {
  begin: `
    ALTER TABLE setting RENAME TO old_setting;
    ALTER TABLE snapshot RENAME TO old_snapshot;
    ${TABLES_IF_MISSING}
    INSERT INTO setting SELECT lock, directory_id, period, source_migration_id, dso, dso_pinned, next_no, next_account,
        iif(EXISTS (SELECT 1 FROM migration), 0, NULL), 0, next_update_no, feed, followed FROM old_setting;
    DROP TABLE old_setting`,
  moved: [
    {
      table: 'old_snapshot',
      key: ['migration_id', 'record_time'],
      into: [
        `INSERT INTO snapshot SELECT migration_id, record_time, seq, no, epoch, update_no, forced, changes_digest, digest, NULL, NULL
         FROM slice`,
      ],
    },
  ],
  unordered: [],
};
