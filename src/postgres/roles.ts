/**
 * Two roles, to be granted to those who log in: the writer's is for the stream engine, the reader's for any number of processes that
 * answer. A reader only reads, and may seal, which writes nothing but what the rows say.
 */
export const ROLES = `
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
