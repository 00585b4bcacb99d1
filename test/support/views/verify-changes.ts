/** The table, what is done to one row, to which rows it may be done (nothing: to any). */
export const CHANGES = `
setting      | period = period / 2
setting      | period = period - 1
setting      | dso = NULL
setting      | dso = 'nobody'
setting      | dso_pinned = 2
setting      | next_no = 5
setting      | next_owner = next_owner + 1
setting      | next_owner = next_owner - 1
setting      | dso = dso || '0'
setting      | followed = '{'
setting      | followed = '{}'
setting      | followed = '[]'
setting      | followed = '["nobody"]'
setting      | followed = '["a::b","a::b"]'
setting      | feed = '{"clusterId":"c","topic":"t"}' | feed IS NULL
setting      | feed = ''                             | feed IS NULL
position     | start = '0'
position     | cursor = ''
position     | checkpoints = '{'
position     | checkpoints = '7'
position     | sha256 = x'00'
position     | furthest_migration = NULL
position     | furthest_time = NULL
position     | furthest_time = -2
migration    | migration_id = migration_id + 7
migration    | open_seq = open_seq + 1
migration    | open_seq = open_seq - 1
migration    | time_reached = time_reached + 600000000
migration    | time_reached = time_reached - 600000000
migration    | time_reached = NULL
migration    | update_time = update_time + 1
migration    | update_time = update_time - 1
migration    | update_time = NULL
migration    | next_grid = next_grid + 600000000
migration    | next_grid = next_grid - 600000000
migration    | next_grid = next_grid + 1
migration    | next_grid = NULL
migration    | contracts = contracts + 1
migration    | owners = owners - 1
migration    | unlocked = unlocked || '0'
migration    | unlocked = '0' || unlocked
migration    | locked = locked || '1'
migration    | unlocked = 'x'
migration    | seed_times = '{'
migration    | seed_times = '[]'
migration    | seed_times = '{"s":1}'
migration    | seed_times = '{"s":"1"}'
migration    | seed_offset = 3
migration    | seeded_at = -1
migration    | seeded_at = -2
synchronizer | first_time = record_time + 1
synchronizer | first_time = -first_time
synchronizer | record_time = record_time + 1
synchronizer | record_time = record_time - 1
synchronizer | synchronizer_id = synchronizer_id || 'a'
synchronizer | updates = updates + 1
synchronizer | updates = updates - 1
synchronizer | repairs = -1
synchronizer | migration_id = migration_id + 7
synchronizer | record_time = -record_time
synchronizer | updates = 0
synchronizer | unseen = 2
last_update  | migration_id = migration_id + 7
last_update  | synchronizer_id = synchronizer_id || 'a'
last_update  | update_id = 'abcd'
last_update  | update_id = 7
owner        | id = id + 1000
owner        | migration_id = migration_id + 1
owner        | migration_id = migration_id - 1
owner        | party = 'nobody'
owner        | party = party || '0'
snapshot     | migration_id = migration_id + 7
snapshot     | record_time = record_time + 1         | forced = 0
snapshot     | record_time = record_time + 600000000 * 1000
snapshot     | record_time = -record_time
snapshot     | record_time = 9000000000000000000
snapshot     | seq = seq + 1
snapshot     | seq = -1
snapshot     | no = no + 1000
snapshot     | no = -no
snapshot     | forced = 2
snapshot     | forced = 0                            | forced = 1
snapshot     | contracts = contracts + 1
snapshot     | owners = owners + 1
snapshot     | unlocked = unlocked || '0'
snapshot     | unlocked = substr(unlocked, 2)
snapshot     | locked = locked || '7'
snapshot     | record_time = record_time + 1         | forced = 1
snapshot     | forced = 1                            | forced = 0
template     | id = id + 100
template     | template_id = 'x' || substr(template_id, instr(template_id, ':') + 1)
template     | template_id = template_id || 'x'
template     | package_name = 'splice-amulets'
holding      | no = no + 100000
holding      | owner = owner + 1
holding      | owner = owner + 100000
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
holding      | round = -1
holding      | created_at = created_at + 1
holding      | created_at = NULL
holding      | node = -1
holding      | round = round + 1                     | rate = 0
holding      | contract_id = x'abcd'                 | no NOT IN (SELECT no FROM held)
holding      | contract_id = CAST(contract_id AS TEXT) | typeof(contract_id) = 'blob' AND no NOT IN (SELECT no FROM held)
holding      | template = template + 100
holding      | template = NULL
holding      | template = (SELECT id FROM template WHERE template_id LIKE '%:LockedAmulet') | locked = 0
holding      | contract_id = CAST(contract_id || 'x' AS TEXT) | no IN (SELECT no FROM held)
holding      | contract_id = 'abcd'
holding      | contract_id = ''
holding      | contract_id = 7
holding      | update_id = 7
holding      | update_id = NULL                      | created_seq > 1
holding      | args = NULL                           | locked = 1
holding      | args = substr(args, 2)                | args IS NOT NULL
holding      | args = args || ' '                    | args IS NOT NULL
holding      | args = '{}'                           | args IS NULL
holding      | args = '{"signatories":["dso","owner"]}' | args IS NULL
holding      | args = replace(args, '"initialAmount":"', '"initialAmount":"1') | args LIKE '%"initialAmount":"%'
holding      | args = replace(args, '"rate":"', '"rate":"1') | args LIKE '%"rate":"%'
holding      | args = replace(args, '"number":"', '"number":"1') | args LIKE '%"number":"%'
holding      | args = replace(args, '"owner":"', '"owner":"x') | args LIKE '%"owner":"%'
holding      | args = replace(args, '"dso":"', '"dso":"x') | args LIKE '%"dso":"%'
holding      | round = round + 1                     | args LIKE '%"number":"%'
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
held         | id_hash = -1 - id_hash
held         | id_hash = 0
held         | id_hash = id_hash + 4294967296
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
owner_total  | seq = seq + 100000
owner_total  | seq = -seq
owner_total  | v = x''
owner_total  | v = x'00'                             | length(v) > 1
owner_total  | v = CAST(v || x'00' AS BLOB)
owner_total  | v = CAST(x'80' || v AS BLOB)
snapshot     | changes_digest = zeroblob(32)         | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 0
snapshot     | digest = NULL                         | forced = 0
snapshot     | changes_digest = NULL                 | forced = 0
snapshot     | changes_digest = digest               | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 1
snapshot     | changes_digest = zeroblob(32)         | forced = 1
open_items   | items = CAST(x'00' || substr(items, 2) AS BLOB)
open_items   | items = substr(items, 1, length(items) - 1)
open_items   | items = substr(items, 33)
open_items   | migration_id = migration_id + 7
round        | migration_id = migration_id + 7
round        | number = -1
round        | contract_id = 'abcd'
round        | content = 'x'
counterfeit  | h = h + 1
counterfeit  | migration_id = migration_id + 7
counterfeit  | contract_id = 'other'
counterfeit  | contract_id = 'abcd'
dead_letter  | id = id + 5
dead_letter  | kind = 'else'
dead_letter  | decision = 'else'
dead_letter  | offset = -1
dead_letter  | cursor = NULL                         | kind <> 'container'
dead_letter  | cursor = '7'                          | kind = 'container'
dead_letter  | place = 'x'
dead_letter  | place = '7'
dead_letter  | place = '{"message":{}}'
dead_letter  | sha256 = x'00'
dead_letter  | field = NULL                          | kind <> 'container'
dead_letter  | field = 'other'
dead_letter  | given = given || '1'                  | kind <> 'container'
dead_letter  | expected = substr(expected, 2)        | kind <> 'container'
dead_letter  | reason = 'other'                      | kind <> 'container'
dead_letter  | update_id = update_id || '1'          | update_id IS NOT NULL
dead_letter  | update_id = 'other'                   | update_id IS NULL AND kind = 'update'
dead_letter  | record_time = record_time + 1         | record_time IS NOT NULL
dead_letter  | length = length + 1                   | kind = 'update'
dead_letter  | bytes = CAST('{"foo":3}' AS BLOB)     | kind = 'update'
dead_letter  | code = 'else'
dead_letter  | code = 'not_json'                     | code <> 'not_json'
dead_letter  | kind = 'ahead'                        | kind = 'update'
dead_letter  | kind = 'gap'                          | kind = 'update'
dead_letter  | kind = 'overtaken'                    | kind = 'update'
dead_letter  | reason = reason || '; dead letter 1, which was left out, names this contract' | kind <> 'container'
dead_letter  | reason = reason || 'x'                | kind <> 'container'
dead_letter  | update_id = ''                        | update_id IS NULL AND kind = 'update'
`;

/** The table, and what differs in a second row added to it. */
export const DOUBLED = `
owner        | id = (SELECT max(id) + 1 FROM owner), party = party || 0
owner        | id = (SELECT max(id) + 5 FROM owner), party = party || 0
snapshot     | record_time = record_time + 1, forced = 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = record_time - 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = (SELECT max(record_time) + 600000000 FROM snapshot), seq = (SELECT max(seq) + 1 FROM snapshot), no = (SELECT max(no) + 1 FROM snapshot)
migration    | migration_id = migration_id + 9
template     | id = id + 100, package_name = package_name || 0
synchronizer | synchronizer_id = synchronizer_id || 'a'
last_update  | synchronizer_id = synchronizer_id || 'a'
last_update  | update_id = x'ab'
holding      | no = no + 100000
held         | created_at = created_at + 1
held         | owner = owner + 1
held         | no = no + 100000
spent        | archived_seq = archived_seq + 1
spent        | archived_seq = archived_seq - 1
owner_total  | owner = owner + 100000
counterfeit  | h = h + 1
open_items   | no = no + 7
dead_letter  | id = id + 7
`;
