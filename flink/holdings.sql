-- The job: flat coin events (schemas/flat-event.json) become the rows of the store (docs/scale-out.md). Each row follows from the
-- feed and nothing else, so that writing it again after a recovery changes nothing. deploy/scale/start-job.sh fills in ${NAME}:
-- JOB_NAME, PARALLELISM (at most as many as the topic has partitions), CHECKPOINT_INTERVAL ('30 s'), PERIOD_SECONDS (the decoders'
-- --snapshot-period); KAFKA_BROKERS, KAFKA_TOPIC (of flat events), KAFKA_OPTIONS (options of the connector, as SQL: at least
-- 'properties.security.protocol' = 'PLAINTEXT'); STORE_URL (jdbc:postgresql://...), STORE_USER, STORE_PASSWORD.

SET 'pipeline.name' = '${JOB_NAME}';
SET 'parallelism.default' = '${PARALLELISM}';
SET 'execution.runtime-mode' = 'streaming';
SET 'execution.checkpointing.interval' = '${CHECKPOINT_INTERVAL}';
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';
SET 'execution.checkpointing.externalized-checkpoint-retention' = 'RETAIN_ON_CANCELLATION';
SET 'table.local-time-zone' = 'UTC';
SET 'pipeline.object-reuse' = 'true';
-- Otherwise the contracts are kept twice, because their rows and their totals need different columns.
SET 'table.optimizer.reuse-optimize-block-with-digest-enabled' = 'true';
-- A partition that is silent must hold the others back: what it says later would be late.
SET 'table.exec.source.idle-timeout' = '0 ms';
SET 'table.exec.state.ttl' = '0 ms';

-- One watermark an interval: with one an event, handling them would be a third of the work. So the rows of an interval come at its
-- end, and an event is late where its interval is closed. The decoder has checked everything: amt < 1e18, rate < 1e9, round < 1e10,
-- so that sums of fewer than 1e9 coins fit 38 digits.
CREATE TEMPORARY TABLE flat (
  k STRING, m INT, t BIGINT, clk BIGINT, seq BIGINT, cid STRING, owner STRING, locked INT, amt DECIMAL(28, 10), rate DECIMAL(19, 10),
  round BIGINT, rr DECIMAL(29, 10), expires BIGINT, fp BIGINT, `at` BIGINT, upd STRING, node INT, tpl STRING, extra STRING,
  seeded BIGINT,
  rt AS TO_TIMESTAMP_LTZ(clk, 3),
  WATERMARK FOR rt AS TO_TIMESTAMP_LTZ(clk - clk % (${PERIOD_SECONDS} * 1000) - 1, 3)
) WITH (
  'connector' = 'kafka',
  'topic' = '${KAFKA_TOPIC}',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  ${KAFKA_OPTIONS},
  'properties.isolation.level' = 'read_committed',
  -- Where events are gone that it has not read, the job fails: with any other mode Flink would go on at the first one that is there.
  -- The decoders commit offset 0 for this group when they make a partition's first event, and nothing moves it.
  'properties.group.id' = 'holdfast-flink',
  'properties.commit.offsets.on.checkpoint' = 'false',
  'scan.startup.mode' = 'group-offsets',
  'properties.auto.offset.reset' = 'none',
  'scan.watermark.emit.strategy' = 'on-event',
  'format' = 'json', 'json.ignore-parse-errors' = 'false'
);

CREATE TEMPORARY VIEW timed AS SELECT * FROM flat WHERE CURRENT_WATERMARK(rt) IS NULL OR rt > CURRENT_WATERMARK(rt);

-- The join of archives with creates: what is known of a contract up to each of its events. creates, archives: how many there were.
-- made: what was created, a coin as its `locked`, a round 2, a counterfeit 3. A good contract has one content, so the maximum of a
-- column is its value.
CREATE TEMPORARY VIEW known AS
SELECT m, seq, rt, t, k, cid, round, expires, `at`, upd, node, tpl, extra, seeded,
  CASE k WHEN 'X' THEN 2 ELSE locked END AS named,
  SUM(CASE WHEN k IN ('C', 'G', 'O') THEN 1 ELSE 0 END) OVER w AS creates,
  SUM(CASE WHEN k IN ('C', 'G', 'O') THEN 0 ELSE 1 END) OVER w AS archives,
  MIN(CASE WHEN k IN ('C', 'G', 'O') THEN COALESCE(t, 0) END) OVER w AS first_create,
  MIN(CASE WHEN k IN ('C', 'G', 'O') THEN CAST(NULL AS BIGINT) ELSE t END) OVER w AS first_archive,
  MAX(CASE k WHEN 'C' THEN locked WHEN 'O' THEN 2 WHEN 'G' THEN 3 END) OVER w AS made,
  MIN(fp) OVER w AS least_fp, MAX(fp) OVER w AS greatest_fp,
  MAX(owner) OVER w AS owner, MAX(amt) OVER w AS amt, MAX(rate) OVER w AS rate, MAX(rr) OVER w AS rr
FROM timed WHERE k NOT IN ('M', 'T')
WINDOW w AS (PARTITION BY m, cid ORDER BY rt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- d: 1 for the first create of a coin, -1 for its first archive, 0 for what counts nowhere, NULL for a fault: two contents of an id;
-- an archive of what is unknown or of another template; a create after an archive, or a second archive, unless the time shows that
-- it is an update that came again; an interval that is not of this period. A purge (P) of what is not active is nothing.
CREATE TEMPORARY VIEW judged AS
SELECT *, CASE
  WHEN seq <> COALESCE((t - 1) / (${PERIOD_SECONDS} * CAST(1000000 AS BIGINT)) + 1, 0) THEN CAST(NULL AS INT)
  WHEN least_fp <> greatest_fp THEN CAST(NULL AS INT)
  WHEN k IN ('A', 'X') AND (creates = 0 OR t <> first_archive OR made <> 3 AND made <> named) THEN CAST(NULL AS INT)
  WHEN k IN ('C', 'G', 'O') AND archives > 0 AND (creates = 1 OR COALESCE(t, 0) <> first_create) THEN CAST(NULL AS INT)
  WHEN made IS NULL OR made > 1 THEN 0
  WHEN k = 'C' AND creates = 1 THEN 1
  WHEN k IN ('A', 'P') AND archives = 1 THEN -1
  ELSE 0 END AS d
FROM known;

-- Owner '' stands for what has none: it makes an interval without a coin have its control row. A time alone (T) is no update.
CREATE TEMPORARY VIEW delta AS
SELECT m, seq, rt, t, COALESCE(owner, '') AS owner, made, amt, rate, rr, expires, d, seeded FROM judged
UNION ALL
SELECT m, seq, rt, CASE k WHEN 'M' THEN t END, '', CAST(NULL AS INT), CAST(NULL AS DECIMAL(28, 10)), CAST(NULL AS DECIMAL(19, 10)),
  CAST(NULL AS DECIMAL(29, 10)), CAST(NULL AS BIGINT), 0, seeded
FROM timed WHERE k IN ('M', 'T');

CREATE TEMPORARY VIEW interval_total AS
SELECT m, seq, owner, window_time AS wt,
  SUM(CASE made WHEN 0 THEN COALESCE(d, 0) ELSE 0 END) AS u_coins, SUM(CASE made WHEN 1 THEN COALESCE(d, 0) ELSE 0 END) AS l_coins,
  SUM(CASE WHEN made = 0 AND d = 1 THEN amt WHEN made = 0 AND d = -1 THEN -amt ELSE 0 END) AS u_amt,
  SUM(CASE WHEN made = 0 AND d = 1 THEN rate WHEN made = 0 AND d = -1 THEN -rate ELSE 0 END) AS u_rate,
  SUM(CASE WHEN made = 0 AND d = 1 THEN rr WHEN made = 0 AND d = -1 THEN -rr ELSE 0 END) AS u_rr,
  SUM(CASE WHEN made = 1 AND d = 1 THEN amt WHEN made = 1 AND d = -1 THEN -amt ELSE 0 END) AS l_amt,
  SUM(CASE WHEN made = 1 AND d = 1 THEN rate WHEN made = 1 AND d = -1 THEN -rate ELSE 0 END) AS l_rate,
  SUM(CASE WHEN made = 1 AND d = 1 THEN rr WHEN made = 1 AND d = -1 THEN -rr ELSE 0 END) AS l_rr,
  MIN(CASE d WHEN 1 THEN expires END) AS expires, MIN(t) AS first_t, MAX(seeded) AS seeded_at,
  SUM(CASE d WHEN 1 THEN 1 ELSE 0 END) AS created, SUM(CASE d WHEN -1 THEN 1 ELSE 0 END) AS archived,
  SUM(CASE WHEN d IS NULL THEN 1 ELSE 0 END) AS faults
FROM TABLE(TUMBLE(TABLE delta, DESCRIPTOR(rt), INTERVAL '${PERIOD_SECONDS}' SECOND(5)))
GROUP BY m, seq, owner, window_start, window_end, window_time;

-- One sink for each table: two that upsert the same rows in different orders deadlock.
CREATE TEMPORARY TABLE owner_total (
  migration_id INT, owner STRING, seq BIGINT,
  u_coins BIGINT, u_amount DECIMAL(38, 10), u_rate DECIMAL(38, 10), u_rate_round DECIMAL(38, 10),
  l_coins BIGINT, l_amount DECIMAL(38, 10), l_rate DECIMAL(38, 10), l_rate_round DECIMAL(38, 10),
  expires BIGINT, PRIMARY KEY (migration_id, owner, seq) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'owner_total', 'sink.buffer-flush.max-rows' = '5000', 'sink.buffer-flush.interval' = '1 s'
);

CREATE TEMPORARY TABLE snapshot_control (
  migration_id INT, seq BIGINT, link BIGINT, owner_rows BIGINT, created BIGINT, archived BIGINT, faults BIGINT, coins BIGINT,
  first_t BIGINT, seeded_at BIGINT, PRIMARY KEY (migration_id, seq) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'snapshot_control', 'sink.buffer-flush.max-rows' = '5000', 'sink.buffer-flush.interval' = '1 s'
);

CREATE TEMPORARY TABLE coin (
  migration_id INT, contract_id STRING, created_seq BIGINT, owner STRING, locked INT, amount DECIMAL(28, 10), rate DECIMAL(19, 10),
  round BIGINT, expires BIGINT, created_at BIGINT, created_in STRING, node INT, template_id STRING, extra STRING,
  PRIMARY KEY (migration_id, contract_id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'coin', 'sink.buffer-flush.max-rows' = '5000', 'sink.buffer-flush.interval' = '1 s'
);

CREATE TEMPORARY TABLE spent (
  migration_id INT, contract_id STRING, archived_seq BIGINT, PRIMARY KEY (migration_id, contract_id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'spent', 'sink.buffer-flush.max-rows' = '5000', 'sink.buffer-flush.interval' = '1 s'
);

CREATE TEMPORARY TABLE round_opened (
  migration_id INT, contract_id STRING, round BIGINT, PRIMARY KEY (migration_id, contract_id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'round_opened'
);

CREATE TEMPORARY TABLE round_archived (
  migration_id INT, contract_id STRING, PRIMARY KEY (migration_id, contract_id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'round_archived'
);

CREATE TEMPORARY TABLE fault (
  migration_id INT, contract_id STRING, seq BIGINT, k STRING, PRIMARY KEY (migration_id, contract_id, seq, k) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'fault'
);

CREATE TEMPORARY TABLE late (
  migration_id INT, clk BIGINT, contract_id STRING, k STRING, PRIMARY KEY (migration_id, clk, contract_id, k) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = '${STORE_URL}', 'username' = '${STORE_USER}', 'password' = '${STORE_PASSWORD}',
  'table-name' = 'late'
);

EXECUTE STATEMENT SET BEGIN
INSERT INTO owner_total
SELECT m, owner, seq, SUM(u_coins) OVER w, SUM(u_amt) OVER w, SUM(u_rate) OVER w, SUM(u_rr) OVER w,
  SUM(l_coins) OVER w, SUM(l_amt) OVER w, SUM(l_rate) OVER w, SUM(l_rr) OVER w, MIN(expires) OVER w
FROM interval_total WHERE owner <> ''
WINDOW w AS (PARTITION BY m, owner ORDER BY wt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

INSERT INTO snapshot_control
SELECT m, seq, COUNT(*) OVER w, owner_rows, created, archived, faults, SUM(coins) OVER w, first_t, seeded_at FROM (
  SELECT m, seq, window_time AS wt, SUM(CASE owner WHEN '' THEN 0 ELSE 1 END) AS owner_rows, SUM(created) AS created,
    SUM(archived) AS archived, SUM(faults) AS faults, SUM(u_coins + l_coins) AS coins, MIN(first_t) AS first_t,
    MAX(seeded_at) AS seeded_at
  FROM TABLE(TUMBLE(TABLE interval_total, DESCRIPTOR(wt), INTERVAL '${PERIOD_SECONDS}' SECOND(5)))
  GROUP BY m, seq, window_start, window_end, window_time
) WINDOW w AS (PARTITION BY m ORDER BY wt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

INSERT INTO coin
SELECT m, cid, seq, owner, made, amt, rate, round, expires, `at`, upd, node, tpl, extra FROM judged WHERE d = 1;
INSERT INTO spent SELECT m, cid, seq FROM judged WHERE d = -1;
-- Rounds count at once, and not only when their interval is closed. What is no round is archived there without harm.
INSERT INTO round_opened SELECT m, cid, round FROM flat WHERE k = 'O';
INSERT INTO round_archived SELECT m, cid FROM flat WHERE k IN ('X', 'P');
INSERT INTO fault SELECT m, cid, seq, k FROM judged WHERE d IS NULL;
INSERT INTO late SELECT m, clk, COALESCE(cid, ''), k FROM flat WHERE rt <= CURRENT_WATERMARK(rt) AND k NOT IN ('M', 'T');
END;
