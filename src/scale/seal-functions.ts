import { FLAT_MIGRATION_MAX } from '../ledger/time.ts';

// Only rows of one interval are asked for, by their indexes: of tables that have just been filled the planner knows nothing. What it
// then takes for expensive it would also compile.
const BY_INDEX = 'SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off';

/**
 * The functions that seal. `seal(n)` seals up to n intervals, each the next of its migration's chain, once all its rows are there and
 * nothing is wrong before it: in one transaction, so that a reader sees an interval whole or not at all. Any process that reads may
 * call it, and one works at a time. An interval whose rows contradict each other stops its migration, and is in table contradiction.
 * Digests are those of docs/digest.md.
 */
export const SEALING = `
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
