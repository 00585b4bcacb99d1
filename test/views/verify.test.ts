import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeVersion, encodeVersion } from '../../src/views/totals.ts';
import { verifyViews } from '../../src/views/verify.ts';
import type { Difference } from '../../src/views/verify-types.ts';
import { oddLedger } from '../support/ledger-options.ts';
import { randomLedger } from '../support/random-ledger.ts';
import { linesOf, replayInto } from '../support/replayed.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let folder: TemporaryDirectory;
let copies = 0;

/** Two migrations, a snapshot by force, counterfeits, dead letters: something in every table. */
beforeAll(async () => {
  folder = temporaryDirectory();
  const lines = linesOf(
    randomLedger(oddLedger(31, { updates: 160, migrations: 2, shares: { counterfeit: 0.2 } })),
    'scan',
  );
  lines.splice(50, 0, '{"foo":1}');
  lines.splice(90, 0, '{"foo":2,"update_id":"1220ab\\ud800","record_time":"2025-02-12T00:00:00.5Z"}');
  const file = folder.writeLines('feed.ndjson', lines);
  await replayInto(folder.at('sound'), [file], { onBadUpdate: 'quarantine', seal: true, chunkBytes: 50_000 });
});
afterAll(() => folder[Symbol.dispose]());

function verify(dataDir: string, rowsPerStep = 40): Difference[] {
  const found: Difference[] = [];
  const steps = verifyViews(dataDir, (difference) => found.push(difference), { rowsPerStep });
  while (steps.next().done !== true);
  return found;
}

/** A copy of the sound directory in which something was done to views.db. */
function damaged(body: (db: DatabaseFile.Database) => void): string {
  const dataDir = folder.at(`copy-${++copies}`);
  mkdirSync(dataDir);
  copyFileSync(join(folder.at('sound'), 'views.db'), join(dataDir, 'views.db'));
  const db = new DatabaseFile(join(dataDir, 'views.db'));
  try {
    body(db);
  } finally {
    db.close();
  }
  return dataDir;
}

function text(differences: readonly Difference[]): string {
  return differences.map((each) => Object.values(each).join(' ')).join('\n');
}

/** The table, what is done to one row of it, to which rows it may be done (nothing: to any). */
const CHANGES = `
setting      | period = period / 2
setting      | period = period - 1
setting      | dso = NULL
setting      | dso = 'nobody'
setting      | dso_pinned = 2
setting      | source_migration_id = 77
setting      | next_no = 5
setting      | next_owner = next_owner + 1
setting      | next_owner = next_owner - 1
position     | next_offset = -1
position     | checkpoints = '{'
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
synchronizer | record_time = record_time + 1
synchronizer | record_time = record_time - 1
synchronizer | synchronizer_id = synchronizer_id || 'a'
synchronizer | update_id = x'ab'
synchronizer | unseen = 1 - unseen
synchronizer | checksum = checksum + 1
synchronizer | migration_id = migration_id + 7
synchronizer | record_time = -record_time
synchronizer | update_id = 'abcd'
synchronizer | unseen = 2
owner        | id = id + 1000
owner        | migration_id = migration_id + 1
owner        | migration_id = migration_id - 1
owner        | party = 'nobody'
owner        | party = party || '0'
owner        | checksum = checksum + 1
snapshot     | migration_id = migration_id + 7
snapshot     | record_time = record_time + 1         | forced = 0
snapshot     | record_time = record_time + 600000000 * 1000
snapshot     | record_time = -record_time
snapshot     | record_time = 9000000000000000000
snapshot     | seq = seq + 1
snapshot     | seq = -1
snapshot     | forced = 2
snapshot     | forced = 0                            | forced = 1
snapshot     | contracts = contracts + 1
snapshot     | owners = owners + 1
snapshot     | unlocked = unlocked || '0'
snapshot     | unlocked = substr(unlocked, 2)
snapshot     | locked = locked || '7'
template     | id = id + 100
template     | template_id = 'x' || substr(template_id, instr(template_id, ':') + 1)
template     | template_id = template_id || 'x'
template     | package_name = 'splice-amulets'
template     | template_id = '0' || template_id
template     | checksum = checksum + 1
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
holding      | node = node + 1
holding      | round = round + 1                     | rate = 0
holding      | contract_id = x'abcd'                 | no NOT IN (SELECT no FROM active)
holding      | contract_id = CAST(contract_id AS TEXT) | typeof(contract_id) = 'blob' AND no NOT IN (SELECT no FROM active)
holding      | update_id = x'abcd'                   | update_id IS NOT NULL
holding      | update_id = NULL                      | update_id IS NOT NULL AND created_seq = 1
holding      | template = (SELECT id FROM template t WHERE t.template_id LIKE '%:Amulet' AND t.id <> holding.template) | locked = 0
holding      | args = replace(args, '"lock":["20', '"lock":["21') | args LIKE '%"lock":["20%'
holding      | args = replace(args, '"dso"', '"owner"') | args LIKE '%"lock":["%"dso"%'
holding      | checksum = checksum + 1
holding      | checksum = NULL
holding      | template = template + 100
holding      | template = NULL
holding      | template = (SELECT id FROM template WHERE template_id LIKE '%:LockedAmulet') | locked = 0
holding      | contract_id = CAST(contract_id || 'x' AS TEXT) | no IN (SELECT no FROM active)
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
active       | h = h + 1
active       | h = -1
active       | no = no + 1
held         | owner = owner + 1
held         | owner = owner + 100000
held         | created_at = created_at + 1
held         | no = no + 100000
held         | created_seq = created_seq + 1
held         | created_seq = NULL
held         | expiry = expiry + 1                   | expiry IS NOT NULL
held         | expiry = NULL                         | expiry IS NOT NULL
held         | expiry = 1                            | expiry IS NULL
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
round        | migration_id = migration_id + 7
round        | number = -1
round        | number = number + 1
round        | checksum = checksum + 1
round        | contract_id = x'ab'
round        | contract_id = 'abcd'
round        | content = 'x'
round        | content = replace(content, substr(content, 1, 1), '0') | substr(content, 1, 1) <> '0'
counterfeit  | h = h + 1
counterfeit  | migration_id = migration_id + 7
counterfeit  | contract_id = 'other'
counterfeit  | contract_id = 'abcd'
row_count    | count = count + 1
row_count    | name = name || 's'
dead_letter  | id = id + 5
dead_letter  | kind = 'else'
dead_letter  | decision = 'else'
dead_letter  | sha256 = x'00'
dead_letter  | field = NULL
dead_letter  | field = 'other'
dead_letter  | given = given || '1'
dead_letter  | expected = substr(expected, 2)
dead_letter  | reason = 'other'
dead_letter  | update_id = update_id || '1'          | update_id IS NOT NULL
dead_letter  | update_id = 'other'                   | update_id IS NULL
dead_letter  | record_time = record_time + 1         | record_time IS NOT NULL
dead_letter  | length = length + 1
dead_letter  | bytes = CAST('{"foo":3}' AS BLOB)
`;

const KEYS: Readonly<Record<string, string>> = {
  setting: 'lock',
  position: 'partition',
  migration: 'migration_id',
  synchronizer: 'migration_id, synchronizer_id',
  snapshot: 'migration_id, record_time',
  active: 'h, no',
  held: 'owner, created_at, no',
  spent: 'owner, archived_seq, created_at, no',
  owner_total: 'owner, seq',
  round: 'migration_id, contract_id',
  counterfeit: 'h, migration_id, contract_id',
  owner: 'id',
  template: 'id',
  holding: 'no',
  row_count: 'name',
  dead_letter: 'id',
};

/** The key of a row that lies `share` of the way through those that meet the condition. */
function rowAt(db: DatabaseFile.Database, table: string, condition: string, share: number): string {
  const key = KEYS[table]!;
  const rows = db.prepare<[], number>(`SELECT count(*) FROM ${table} WHERE ${condition}`).pluck().get()!;
  if (rows === 0) throw new Error(`no row of ${table} where ${condition}`);
  const offset = Math.floor(share * rows);
  return `(${key}) = (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${key} LIMIT 1 OFFSET ${offset})`;
}

describe('verify', () => {
  it('finds nothing in views that are sound, however short its steps are', () => {
    for (const rows of [1, 7, 100_000]) expect(verify(folder.at('sound'), rows)).toEqual([]);
  });

  it('has something to look at in every table', () => {
    const db = new DatabaseFile(join(folder.at('sound'), 'views.db'), { readonly: true });
    const empty = Object.keys(KEYS).filter((table) => db.prepare(`SELECT 1 FROM ${table}`).get() === undefined);
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
    db.close();
    expect(empty).toEqual([]);
    expect(tables.sort()).toEqual(Object.keys(KEYS).sort());
  });

  it.each(
    CHANGES.trim()
      .split('\n')
      .map((line) => line.split(' | ').map((cell) => cell.trim())),
  )('finds a change of %s: %s', (table, change, condition = 'true') => {
    for (const share of [0.2, 0.99]) {
      const dataDir = damaged((db) => {
        const row = rowAt(db, table!, condition, share);
        const { changes } = db.prepare(`UPDATE ${table} SET ${change} WHERE ${row}`).run();
        expect(changes).toBe(1);
      });
      const found = verify(dataDir);
      expect(found.length, `row at ${share}`).toBeGreaterThan(0);
      expect(text(found)).toContain(table);
    }
  });

  it.each([
    ['owner', 'true'],
    ['migration', 'true'],
    ['snapshot', 'true'],
    ['template', 'true'],
    ['holding', 'true'],
    ['active', 'true'],
    ['held', 'true'],
    ['spent', 'true'],
    ['setting', 'true'],
    [
      'owner_total',
      'EXISTS (SELECT 1 FROM held e WHERE e.owner = owner_total.owner AND e.created_seq = owner_total.seq)',
    ],
    [
      'owner_total',
      'EXISTS (SELECT 1 FROM spent e WHERE e.owner = owner_total.owner AND e.archived_seq = owner_total.seq)',
    ],
    ['synchronizer', 'true'],
    ['round', 'true'],
    ['counterfeit', 'true'],
    ['row_count', 'true'],
    ['dead_letter', 'id = 1'],
  ])('finds a missing row of %s where %s', (table, condition) => {
    for (const share of [0.1, 0.7]) {
      const dataDir = damaged((db) => {
        const { changes } = db.prepare(`DELETE FROM ${table} WHERE ${rowAt(db, table, condition, share)}`).run();
        expect(changes).toBe(1);
      });
      expect(text(verify(dataDir)), `row at ${share}`).toContain(table);
    }
  });

  it.each([
    ['owner', '(SELECT max(id) + 1 FROM owner), migration_id, party || 0, checksum'],
    ['owner', '(SELECT max(id) + 5 FROM owner), migration_id, party || 0, checksum'],
    ['snapshot', 'migration_id, record_time + 1, seq, 1, contracts, owners, unlocked, locked'],
    ['snapshot', 'migration_id, record_time - 1, seq, forced, contracts, owners, unlocked, locked'],
    [
      'migration',
      'migration_id + 9, open_seq, time_reached, update_time, next_grid, contracts, owners, unlocked, locked',
    ],
    ['template', 'id + 100, template_id, package_name || 0, checksum'],
    ['synchronizer', `migration_id, synchronizer_id || 'a', record_time, update_id, unseen, checksum`],
    ['round', `migration_id, x'ab', number, content, checksum`],
    [
      'holding',
      'no + 100000, owner, created_seq, locked, amount, rate, round, created_at, node, template, contract_id, update_id, args, checksum',
    ],
    ['active', 'h, no + 100000'],
    ['active', 'h + 1, no'],
    ['held', 'owner, created_at + 1, no, created_seq, expiry'],
    ['held', 'owner + 1, created_at, no, created_seq, expiry'],
    ['held', 'owner, created_at, no + 100000, created_seq, expiry'],
    ['spent', 'owner, archived_seq + 1, created_at, no, created_seq, expiry'],
    ['spent', 'owner, archived_seq - 1, created_at, no, created_seq, expiry'],
    ['owner_total', 'owner + 100000, seq, v'],
    ['counterfeit', 'h + 1, migration_id, contract_id'],
    [
      'dead_letter',
      `id + 7, kind, decision, source, partition, offset, migration_id, update_id, record_time, field, given, expected,
      reason, sha256, length, bytes, created_at`,
    ],
  ])('finds a doubled row of %s: %s', (table, columns) => {
    for (const share of [0.1, 0.8]) {
      const dataDir = damaged((db) => {
        const { changes } = db
          .prepare(
            `INSERT OR IGNORE INTO ${table} SELECT ${columns} FROM ${table} WHERE ${rowAt(db, table, 'true', share)}`,
          )
          .run();
        expect(changes).toBe(1);
      });
      expect(text(verify(dataDir)), `row at ${share}`).toContain(table);
    }
  });

  it('finds a contract both held and spent, and an id that is active twice', () => {
    const both = damaged((db) => {
      db.exec(`INSERT INTO spent SELECT owner, created_seq + 1, created_at, no, created_seq, expiry FROM held
               WHERE created_seq < 5 LIMIT 1`);
    });
    expect(text(verify(both))).toContain('one row in held and spent together');
    const twice = damaged((db) => {
      const no = 1_000_000;
      const from = '(SELECT no FROM active LIMIT 1)';
      db.exec(`UPDATE setting SET next_no = ${no + 1};
        INSERT INTO holding SELECT ${no}, owner, created_seq, locked, amount, rate, round, created_at, node, template, contract_id,
          update_id, args, checksum FROM holding WHERE no = ${from};
        INSERT INTO held SELECT owner, created_at, ${no}, created_seq, expiry FROM held WHERE no = ${from};
        INSERT INTO active SELECT h, ${no} FROM active WHERE no = ${from};`);
    });
    expect(text(verify(twice))).toMatch(/to be the only one with the id [0-9a-f]+/);
  });

  it('finds every digit of a version changed, but for a bound that is lower than it need be', () => {
    const fields = ['count', 'amount', 'rate', 'rateRound', 'expiryBound'] as const;
    const cases = (['unlocked', 'locked'] as const).flatMap((side) =>
      fields.flatMap((field) => (field === 'expiryBound' ? [1] : [1, -1]).map((by) => ({ side, field, by }))),
    );
    for (const { side, field, by } of cases) {
      const dataDir = damaged((db) => {
        const rows = db.prepare<[], { owner: number; seq: number; v: Buffer }>('SELECT * FROM owner_total').all();
        const row = rows.find(({ v }) => {
          const { [side]: sums } = decodeVersion(v);
          return sums.count > 1 && sums.expiryBound !== Infinity;
        })!;
        const version = decodeVersion(row.v);
        if (field === 'count') version[side].count += by;
        else if (field === 'expiryBound') version[side].expiryBound = BigInt(version[side].expiryBound) + 1_000_000n;
        else version[side][field] += BigInt(by);
        const v = encodeVersion(version.unlocked, version.locked);
        db.prepare('UPDATE owner_total SET v = ? WHERE owner = ? AND seq = ?').run(v, row.owner, row.seq);
      });
      expect(text(verify(dataDir)), `${side} ${field} ${by}`).toContain(`owner_total`);
    }
  });

  it('finds an index that does not say what its table does', () => {
    const dataDir = damaged((db) => {
      db.unsafeMode(true);
      db.pragma('writable_schema = ON');
      const sql = db.prepare<[], string>(`SELECT sql FROM sqlite_schema WHERE name = 'held_by_expiry'`).pluck().get();
      db.exec(
        `UPDATE sqlite_schema SET type = 'table', sql = 'CREATE TABLE held_by_expiry(a)' WHERE name = 'held_by_expiry'`,
      );
      db.pragma('schema_version = 1000');
      db.exec(`DELETE FROM held WHERE no IN (SELECT no FROM held LIMIT 1)`);
      db.prepare(`UPDATE sqlite_schema SET type = 'index', sql = ? WHERE name = 'held_by_expiry'`).run(sql);
      db.pragma('schema_version = 1001');
    });
    expect(text(verify(dataDir))).toMatch(
      /held +an intact table and indexes wrong # of entries in index held_by_expiry/,
    );
  });
});
