import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFileSource } from '../../src/feed/file/file-source.ts';
import { decodeVersion, encodeVersion } from '../../src/views/store/stored-rows.ts';
import type { Difference } from '../../src/views/verify/verify-context.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { openInlineFeed } from '../support/views/inline-feed.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { epochFacts } from '../support/views/views-dump.ts';

/** An owner got a coin in the interval: without any change a version only repeats the one before it. */
const CHANGED_TOTAL = 'EXISTS (SELECT 1 FROM holding c WHERE c.account = total.account AND c.created_seq = total.seq)';
/** Names in the tables below. */
const ROWS: Readonly<Record<string, string>> = {
  CHANGED: CHANGED_TOTAL,
  NOT_GONE: 'no NOT IN (SELECT no FROM gone)',
  LATER: 'update_no > (SELECT max(update_no) FROM snapshot WHERE seq = 1)',
  LEAST: 'min_created IN (SELECT created_at FROM held WHERE epoch = epoch.no)',
  MOST: 'max_created IN (SELECT created_at FROM held WHERE epoch = epoch.no)',
};

/** The table, what is done to one row, to which rows it may be done (nothing: to any). */
const CHANGES = `
setting      | period = period / 2
migration    | migration_id = migration_id + 7
migration    | open_seq = open_seq + 1
migration    | open_epoch = open_epoch - 1
migration    | coin = NULL
instrument   | id = id + 1000
instrument   | migration_id = migration_id + 7
account      | id = id + 1000
account      | instrument = instrument + 7
account      | owner = owner || '0'
epoch        | no = no + 1000
epoch        | first_no = first_no + 1               | first_no IN (SELECT no FROM held)
epoch        | held = held + 1
epoch        | gone = gone - 1
epoch        | min_created = min_created + 1         | LEAST
epoch        | max_created = max_created - 1         | MOST
epoch        | min_created = NULL, max_created = NULL | LEAST
account_epochs | bits = x''
account_epochs | bits = zeroblob(length(bits))
gone         | no = no + 100000
gone         | no = (SELECT min(no) FROM held WHERE no NOT IN (SELECT no FROM gone))
snapshot     | migration_id = migration_id + 7
snapshot     | record_time = record_time + 1         | forced = 0
snapshot     | record_time = record_time + 600000000 * 1000 | forced = 0
snapshot     | seq = seq + 1
snapshot     | forced = 0                            | forced = 1
snapshot     | forced = 1                            | forced = 0
snapshot     | epoch = epoch - 1
snapshot     | epoch = epoch + 1
supply       | contracts = contracts + 1
supply       | owners = owners + 1
supply       | unlocked = unlocked || '0'
supply       | locked = locked || '7'
supply       | seq = seq + 1                         | (instrument, seq + 1) NOT IN (SELECT instrument, seq FROM supply)
snapshot     | changes_digest = zeroblob(32)         | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 0
snapshot     | digest = zeroblob(32)                 | forced = 1
snapshot     | changes_digest = zeroblob(32)         | forced = 1
holding      | no = no + 100000
holding      | account = account + 1
holding      | created_seq = created_seq + 1
holding      | locked = 1 - locked
holding      | amount = amount + 1                   | typeof(amount) = 'integer'
holding      | amount = -amount                      | typeof(amount) = 'integer'
holding      | amount = CAST(amount AS TEXT)
holding      | amount = x'00000000000000000000000000000001'
holding      | rate = rate + 1                       | typeof(rate) = 'integer'
holding      | round = round + 1                     | rate > 0
holding      | round = round + 1                     | rate = 0 AND no IN (SELECT no FROM held)
holding      | created_at = created_at + 1
holding      | contract_id = 'abcd'                  | no IN (SELECT no FROM held)
holding      | contract_id = x'abcd'                 | no IN (SELECT no FROM spent WHERE archived_seq > created_seq + 2)
held         | epoch = epoch + 1
held         | account = account + 1 | NOT_GONE
held         | created_at = created_at + 1 | NOT_GONE
held         | no = no + 100000
held         | created_seq = created_seq + 1 | NOT_GONE
held         | expiry = expiry + 1 | expiry IS NOT NULL AND NOT_GONE
held         | expiry = NULL | expiry IS NOT NULL AND NOT_GONE
held         | id_hash = id_hash + 1 | NOT_GONE
spent        | epoch = epoch + 1
spent        | epoch = epoch - 1
spent        | account = account + 1
spent        | archived_seq = archived_seq + 1
spent        | created_at = created_at + 1
spent        | no = no + 100000
spent        | created_seq = created_seq - 1
spent        | expiry = expiry - 1                   | expiry IS NOT NULL
total        | epoch = epoch + 1
total        | epoch = epoch - 1
total        | seq = seq + 100000                    | CHANGED
total        | seq = -seq                            | CHANGED
total        | v = x''
total        | v = CAST(v || x'00' AS BLOB)
total        | v = CAST(x'80' || v AS BLOB)
movement     | epoch = epoch + 1
movement     | update_no = update_no + 1000
movement     | unlocked = unlocked + 1               | LATER
movement     | locked = locked - 1                   | LATER
ledger_update | accounts = x'00'                      | length(accounts) > 0
ledger_update | no = no + 1000                        | length(accounts) > 0
`;

/** The table, and what differs in a second row added to it. */
const DOUBLED = `
snapshot     | record_time = record_time + 1, forced = 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = record_time - 1, no = (SELECT max(no) + 1 FROM snapshot)
snapshot     | record_time = (SELECT max(record_time) + 600000000 FROM snapshot), seq = (SELECT max(seq) + 1 FROM snapshot), no = (SELECT max(no) + 1 FROM snapshot)
migration    | migration_id = migration_id + 9
holding      | no = no + 100000
held         | created_at = created_at + 1 | NOT_GONE
held         | account = account + 1 | NOT_GONE
held         | no = no + 100000
spent        | archived_seq = archived_seq + 1
spent        | archived_seq = archived_seq - 1
total        | account = account + 100000
total        | epoch = epoch - 1
supply       | seq = seq + 1, unlocked = '7'         | (instrument, seq + 1) NOT IN (SELECT instrument, seq FROM supply)
gone         | no = (SELECT max(no) FROM held)
movement     | update_no = update_no + 1             | (account, update_no + 1) NOT IN (SELECT account, update_no FROM movement)
movement     | account = account + 1                 | (account + 1, update_no) NOT IN (SELECT account, update_no FROM movement)
ledger_update | no = no + 1000                        | length(accounts) > 0
`;

/** Of a ledger whose migrations are no neighbours: a row of one is then none of the other. */
const SEED = 32;

let folder: TemporaryDirectory;
let copies = 0;

/** Lines beyond these are over-long. */
const LIMITS = { chunkBytes: 50_000, lineBytesMax: 100_000, overlongHeadBytes: 64 };

/** Two migrations, a snapshot by force, counterfeits, dead letters of several kinds: something in every table. */
beforeAll(async () => {
  folder = temporaryDirectory();
  const shares = { counterfeit: 0.2, repair: 0.5 };
  const items = [...randomLedger(oddLedger(SEED, { updates: 160, migrations: 2, shares }))];
  const migrationId = Math.max(...items.map((item) => item.migrationId));
  const lines = linesOf(items, 'scan');
  lines.splice(50, 0, '{"foo":1}');
  lines.splice(70, 0, 'x'.repeat(150_000));
  // The same time again, and another update: disorder.
  const at = lines.findLastIndex((line) => line.includes('"update_id":"'));
  lines.splice(at + 1, 0, lines[at]!.replace(/"update_id":"[^"]*"/, '"update_id":"1220cd"'));
  lines.splice(90, 0, '{"foo":2,"update_id":"1220ab\\ud800","record_time":"2025-02-12T00:00:00.5Z"}');
  const file = folder.writeLines('feed.ndjson', lines);
  const openFeed = (path: string, migrationId: number) => openInlineFeed(openFileSource(path, LIMITS), { migrationId });
  const options = { migrationId, onBadUpdate: 'quarantine', seal: true, openFeed } as const;
  await replayInto(folder.at('sound'), [file], { ...options, batchEventsMax: 5, epochEvents: 50 });
  await replayInto(folder.at('sound'), [folder.writeLines('broken.json', [`[${lines[at]!},{`])], { openFeed });
});
afterAll(() => folder[Symbol.dispose]());

function verify(dataDir: string): Difference[] {
  const found: Difference[] = [];
  const steps = verifyViews(dataDir, (difference) => found.push(difference));
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

/** The last follows from the others, as do the digests of snapshots: which of them was changed is not known. */
const OF_EACH_OTHER = ['holding', 'held', 'spent', 'total'];
/** What one of these says is missing or too much in another one. */
const NAMED_INSTEAD: Readonly<Record<string, readonly string[]>> = {
  ledger_update: ['movement'],
  setting: ['snapshot'],
  account: ['holding', 'total', 'snapshot'],
  instrument: ['snapshot'],
  supply: ['snapshot'],
  gone: ['epoch'],
  snapshot: ['migration', 'spent', 'total'],
  migration: ['snapshot'],
};

function expectNamed(table: string, found: readonly Difference[]): void {
  if (OF_EACH_OTHER.includes(table)) return expect(text(found)).toMatch(new RegExp(`${table}|changes_digest`));
  const may = [table, ...(NAMED_INSTEAD[table] ?? [])];
  expect(found.map((each) => each.table).filter((each) => may.includes(each))).not.toEqual([]);
}

const KEYS: Readonly<Record<string, string>> = {
  setting: 'lock',
  migration: 'migration_id',
  snapshot: 'migration_id, record_time',
  instrument: 'id',
  supply: 'instrument, seq',
  epoch: 'no',
  account_epochs: 'account',
  gone: 'no',
  held: 'epoch, account, created_at, no',
  spent: 'epoch, account, archived_seq, created_at, no',
  total: 'epoch, account, seq',
  account: 'id',
  holding: 'no',
  movement: 'epoch, account, update_no',
  ledger_update: 'no',
};

/** The key of a row `share` of the way through those that meet the condition. */
function rowAt(db: DatabaseFile.Database, table: string, condition: string, share: number): string {
  const key = KEYS[table]!;
  const rows = db.prepare<[], number>(`SELECT count(*) FROM ${table} WHERE ${condition}`).pluck().get()!;
  if (rows === 0) throw new Error(`no row of ${table} where ${condition}`);
  const offset = Math.floor(share * rows);
  return `(${key}) = (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${key} LIMIT 1 OFFSET ${offset})`;
}

/** All columns of a table, some with another value. */
function valuesWith(db: DatabaseFile.Database, table: string, changes: string): string {
  const changed = new Map(changes.split(', ').map((each) => each.split(' = ') as [string, string]));
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  return columns.map((name) => changed.get(name) ?? name).join(', ');
}

function cellsOf(lines: string): string[][] {
  return lines
    .trim()
    .split('\n')
    .map((line) =>
      line.split(' | ').map((cell) => cell.trim().replaceAll(/[A-Z_]{4,}/g, (name) => ROWS[name] ?? name)),
    );
}

describe('verify', () => {
  it('finds nothing in views that are sound, with epochs of which some are cleared', () => {
    const { closed, gone, cleared } = epochFacts(folder.at('sound'));
    expect(Math.min(closed, gone, cleared)).toBeGreaterThan(0);
    expect(verify(folder.at('sound'))).toEqual([]);
  });

  it.each(cellsOf(CHANGES))('finds a change of %s: %s', (table, change, condition = 'true') => {
    const dataDir = damaged((db) => {
      const row = rowAt(db, table!, condition, 0.5);
      const { changes } = db.prepare(`UPDATE ${table} SET ${change} WHERE ${row}`).run();
      expect(changes).toBe(1);
    });
    expectNamed(table!, verify(dataDir));
  });

  it.each([
    ['account', 'true'],
    ['instrument', 'true'],
    ['supply', 'true'],
    ['epoch', 'true'],
    ['account_epochs', 'true'],
    ['gone', 'true'],
    ['migration', 'true'],
    ['holding', 'true'],
    ['held', 'true'],
    ['spent', 'true'],
    ['total', CHANGED_TOTAL],
    ['snapshot', 'true'],
    ['snapshot', 'forced = 1'],
    ['snapshot', 'seq = (SELECT max(seq) FROM snapshot)'],
    ['movement', 'true'],
    ['ledger_update', 'length(accounts) > 0'],
  ])('finds a missing row of %s where %s', (table, condition) => {
    const dataDir = damaged((db) => {
      const { changes } = db.prepare(`DELETE FROM ${table} WHERE ${rowAt(db, table, condition, 0.5)}`).run();
      expect(changes).toBe(1);
    });
    expectNamed(table!, verify(dataDir));
  });

  it.each(cellsOf(DOUBLED))('finds a doubled row of %s: %s', (table, changes, condition = 'true') => {
    const dataDir = damaged((db) => {
      const row = rowAt(db, table!, condition, 0.5);
      const values = valuesWith(db, table!, changes!);
      const inserted = db.prepare(`INSERT INTO ${table} SELECT ${values} FROM ${table} WHERE ${row}`).run();
      expect(inserted.changes).toBe(1);
    });
    expectNamed(table!, verify(dataDir));
  });

  it('finds a contract both held and spent, and a contract that is there twice', () => {
    const both = damaged((db) => {
      db.exec(`INSERT INTO spent SELECT epoch, account, created_seq + 1, created_at, no, created_seq, expiry FROM held
               WHERE created_seq < 5 AND no NOT IN (SELECT no FROM gone) LIMIT 1`);
    });
    expect(text(verify(both))).toMatch(/^total .* contracts /m);
    const twice = damaged((db) => {
      const from = '(SELECT no FROM held WHERE no NOT IN (SELECT no FROM gone) LIMIT 1)';
      db.exec(`INSERT INTO holding SELECT 1000000, account, created_seq, locked, amount, rate, round, created_at, node, template,
          contract_id, update_id, args FROM holding WHERE no = ${from};
        INSERT INTO held SELECT epoch, account, created_at, 1000000, created_seq, expiry, id_hash FROM held WHERE no = ${from};`);
    });
    expect(text(verify(twice))).toMatch(/^total .* contracts /m);
  });

  it('names a contract that is neither held nor spent', () => {
    const dataDir = damaged((db) => {
      db.exec(`INSERT INTO holding SELECT 1000000, account, created_seq, locked, amount, rate, round, created_at, node, template,
        contract_id, update_id, args FROM holding LIMIT 1`);
    });
    expect(text(verify(dataDir))).toMatch(/^holding +contract 1000000: a row in held or spent none$/m);
  });

  it('finds every digit of a version changed, except for a bound that is lower than it need be', () => {
    const fields = ['count', 'amount', 'rate', 'rateRound', 'expiryBound'] as const;
    const cases = (['unlocked', 'locked'] as const).flatMap((side) =>
      fields.flatMap((field) => (field === 'expiryBound' ? [1] : [1, -1]).map((by) => ({ side, field, by }))),
    );
    for (const { side, field, by } of cases) {
      const dataDir = damaged((db) => {
        const rows = db.prepare<[], { account: number; seq: number; v: Buffer }>('SELECT * FROM total').all();
        const row = rows.find(({ v }) => {
          const { [side]: sums } = decodeVersion(v);
          return sums.count > 1 && sums.expiryBound !== Infinity;
        })!;
        const version = decodeVersion(row.v);
        if (field === 'count') version[side].count += by;
        else if (field === 'expiryBound') version[side].expiryBound = BigInt(version[side].expiryBound) + 1_000_000n;
        else version[side][field] += BigInt(by);
        const v = encodeVersion(version.unlocked, version.locked);
        db.prepare('UPDATE total SET v = ? WHERE account = ? AND seq = ?').run(v, row.account, row.seq);
      });
      expect(text(verify(dataDir)), `${side} ${field} ${by}`).toContain('total ');
    }
  });
});

it('verifies one moment, whatever a writer commits meanwhile', async () => {
  using folder = temporaryDirectory();
  const lines = linesOf(randomLedger(oddLedger(41, { updates: 300, migrations: 2 })), 'scan');
  await replayInto(folder.at('data'), [folder.writeLines('first.ndjson', lines.slice(0, 200))]);
  const found: unknown[] = [];
  const steps = verifyViews(folder.at('data'), (difference) => found.push(difference));
  for (let step = steps.next(); step.done !== true && step.value.phase !== 'sealed'; step = steps.next());
  await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', lines)]);
  while (steps.next().done !== true);
  expect(found).toEqual([]);
});

describe('holdfast verify', () => {
  async function replayed(folder: {
    at(name: string): string;
    writeLines(name: string, lines: string[]): string;
  }): Promise<string> {
    const feed = folder.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(42, { updates: 200 })), 'scan'));
    await replayInto(folder.at('data'), [feed], { chunkBytes: 50_000 });
    return folder.at('data');
  }

  it('says that the views are equal, or names what differs and ends with 5', async () => {
    using folder = temporaryDirectory();
    const dataDir = await replayed(folder);
    const sound = await holdfast('verify', '--data', dataDir);
    expect(sound).toMatchObject({ code: 0, stdout: expect.stringMatching(/^equal: \d+ snapshots, 12 owners\n$/) });
    const db = new DatabaseFile(join(dataDir, 'views.db'));
    db.exec(`UPDATE holding SET amount = 7 WHERE no = (SELECT min(no) FROM holding WHERE locked = 0)`);
    db.close();
    const { code, stdout } = await holdfast('verify', '--data', dataDir);
    expect(code).toBe(5);
    expect(stdout).toMatch(
      /^total; owner .+::.+; migration \d+, 2025-02-12T00:\d0:00Z: expected unlocked .*; found unlocked /m,
    );
    expect(stdout).toMatch(
      /^supply; migration \d+, 2025-02-12T00:\d0:00Z: expected instrument "Amulet" of .*: \d+ contracts/m,
    );
    expect(stdout).toMatch(/\n\d+ differences: \d+ snapshots, 12 owners\n$/);
  });

  it('does not take a file that is no database for views', async () => {
    using folder = temporaryDirectory();
    const dataDir = await replayed(folder);
    const file = join(dataDir, 'views.db');
    writeFileSync(file, Buffer.concat([Buffer.from('no database at all'), readFileSync(file).subarray(18)]));
    const { code, stderr } = await holdfast('verify', '--data', dataDir);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^holdfast: .*damaged.*file is not a database.*\n$/);
  });
});
