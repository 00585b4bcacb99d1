/** An owner got a coin in the interval: without any change a version only repeats the one before it. */
export const CHANGED_TOTAL =
  'EXISTS (SELECT 1 FROM holding c WHERE c.owner = owner_total.owner AND c.created_seq = owner_total.seq)';

/** The table, what is done to one row, to which rows it may be done (nothing: to any). */
export const CHANGES = `
setting      | period = period / 2
migration    | migration_id = migration_id + 7
migration    | open_seq = open_seq + 1
migration    | open_seq = open_seq - 1
owner        | id = id + 1000
owner        | migration_id = migration_id + 1
owner        | migration_id = migration_id - 1
owner        | party = party || '0'
snapshot     | migration_id = migration_id + 7
snapshot     | record_time = record_time + 1         | forced = 0
snapshot     | record_time = record_time + 600000000 * 1000 | forced = 0
snapshot     | record_time = -record_time
snapshot     | record_time = 9000000000000000000
snapshot     | seq = seq + 1
snapshot     | seq = -1
snapshot     | forced = 0                            | forced = 1
snapshot     | forced = 1                            | forced = 0
snapshot     | contracts = contracts + 1
snapshot     | owners = owners + 1
snapshot     | unlocked = unlocked || '0'
snapshot     | unlocked = substr(unlocked, 2)
snapshot     | locked = locked || '7'
snapshot     | changes_digest = zeroblob(32)         | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 0
snapshot     | digest = NULL                         | forced = 0
snapshot     | changes_digest = NULL                 | forced = 0
snapshot     | changes_digest = digest               | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 1
snapshot     | changes_digest = zeroblob(32)         | forced = 1
holding      | no = no + 100000
holding      | owner = owner + 1
holding      | owner = NULL
holding      | created_seq = created_seq + 1
holding      | created_seq = created_seq - 1
holding      | created_seq = NULL
holding      | locked = 1 - locked
holding      | locked = 2
holding      | amount = amount + 1                   | typeof(amount) = 'integer'
holding      | amount = amount * 10                  | typeof(amount) = 'integer' AND amount < 1000000000000000
holding      | amount = -amount                      | typeof(amount) = 'integer'
holding      | amount = 0
holding      | amount = CAST(amount AS TEXT)
holding      | amount = x'00000000000000000000000000000001'
holding      | rate = rate + 1                       | typeof(rate) = 'integer'
holding      | rate = -1
holding      | rate = NULL
holding      | round = round + 1                     | rate > 0
holding      | round = round + 1                     | rate = 0 AND no IN (SELECT no FROM held)
holding      | round = -1
holding      | created_at = created_at + 1
holding      | created_at = NULL
holding      | contract_id = 'abcd'                  | no IN (SELECT no FROM held)
holding      | contract_id = x'abcd'                 | no IN (SELECT no FROM spent WHERE archived_seq > created_seq + 2)
holding      | contract_id = ''                      | no IN (SELECT no FROM held)
holding      | contract_id = 7
held         | owner = owner + 1
held         | owner = owner + 100000
held         | created_at = created_at + 1
held         | no = no + 100000
held         | created_seq = created_seq + 1
held         | created_seq = NULL
held         | expiry = expiry + 1                   | expiry IS NOT NULL
held         | expiry = NULL                         | expiry IS NOT NULL
held         | expiry = 1                            | expiry IS NULL
held         | id_hash = id_hash + 1
spent        | owner = owner + 1
spent        | owner = -1
spent        | archived_seq = archived_seq + 1
spent        | archived_seq = archived_seq - 1
spent        | archived_seq = 1000000
spent        | created_at = created_at + 1
spent        | no = no + 100000
spent        | created_seq = created_seq - 1
spent        | expiry = expiry - 1                   | expiry IS NOT NULL
owner_total  | owner = owner + 100000
owner_total  | seq = seq + 100000                    | CHANGED
owner_total  | seq = -seq                            | CHANGED
owner_total  | v = x''
owner_total  | v = x'00'                             | length(v) > 1
owner_total  | v = CAST(v || x'00' AS BLOB)
owner_total  | v = CAST(x'80' || v AS BLOB)
`.replaceAll('CHANGED', CHANGED_TOTAL);

/** The table, and what differs in a second row added to it. */
export const DOUBLED = `
snapshot     | record_time = record_time + 1, forced = 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = record_time - 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = (SELECT max(record_time) + 600000000 FROM snapshot), seq = (SELECT max(seq) + 1 FROM snapshot), no = (SELECT max(no) + 1 FROM snapshot)
migration    | migration_id = migration_id + 9
holding      | no = no + 100000
held         | created_at = created_at + 1
held         | owner = owner + 1
held         | no = no + 100000
spent        | archived_seq = archived_seq + 1
spent        | archived_seq = archived_seq - 1
owner_total  | owner = owner + 100000
`;
