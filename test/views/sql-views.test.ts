import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { comparable, exportedAnswers } from '../support/http/exported-answers.ts';
import { openHoldings } from '../support/http/holdings-service.ts';
import { allRows, type Row } from '../support/http/table-pages.ts';
import { importsOfOne } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import type { Format } from '../support/views/replayed.ts';
import { replayWithForced } from '../support/views/table-views.ts';

const V1 = '/holdfast/v1';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

/** The rows of a query by another SQLite, that of Python, beside whatever has the database open; all values as texts. */
function rowsOf(data: string, sql: string): Record<string, string>[] {
  const script = `import json, sqlite3, sys
db = sqlite3.connect('file:' + sys.argv[1] + '/views.db?mode=ro', uri=True)
db.row_factory = sqlite3.Row
text = lambda value: '' if value is None else str(value)
print(json.dumps([{name: text(row[name]) for name in row.keys()} for row in db.execute(sys.argv[2])]))`;
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  return JSON.parse(execFileSync('python3', ['-c', script, data, sql], options)) as Record<string, string>[];
}

/** Amounts of up to 38 digits, whose sums have more. */
const WIDE = { updates: 250, carriedOver: 20 };
const LEDGERS: readonly (readonly [name: string, format: Format, migrations: number, token: number])[] = [
  ['coins', 'scan', 3, 0],
  ['tokens', 'participant', 1, 0.7],
];

describe.each(LEDGERS)('the views of SQL of a ledger of %s', async (_name, format, migrations, token) => {
  const shares = { wideAmount: 0.4, token, ...(token > 0 && { repair: 0.1 }) };
  const items = [...randomLedger(oddLedger(41 + migrations, { ...WIDE, migrations, shares }))].flatMap((item) =>
    importsOfOne(item),
  );
  const { dataDir } = await replayWithForced(folder, items, [40 + migrations, 90, 160], format);
  const migrationIds = rowsOf(dataDir, 'SELECT DISTINCT migration_id FROM snapshot').map((row) =>
    Number(row.migration_id),
  );
  const service = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());

  it('have the snapshots of the API', async () => {
    const wanted = (await exportedAnswers(service.app, 'snapshots', migrationIds)).map(({ forced, ...row }) => {
      return { forced: forced === 'true' ? '1' : '0', ...row };
    });
    expect(comparable(rowsOf(dataDir, 'SELECT * FROM v_snapshots'))).toEqual(comparable(wanted));
  });

  it('have the movements of the API, but for what other rows tell', async () => {
    const answers = await exportedAnswers(service.app, 'movements', migrationIds);
    const wanted = answers.map((row) => {
      const { unlocked, locked, total, others, others_count, minted, burned, ...own } = row;
      return own;
    });
    const found = rowsOf(dataDir, 'SELECT * FROM v_movements').map(({ update_no, ...row }) => row);
    expect(comparable(found)).toEqual(comparable(wanted));
    const kinds = new Set(found.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['in', 'lock', 'out', 'unlock']);
    // Wider than 64 bits, of both signs.
    for (const sign of ['', '-'])
      expect(found.some((row) => new RegExp(`^${sign}\\d{15,}\\.`).test(row.change_total!))).toBe(true);
  });

  it('have the totals of the API at any snapshot', async () => {
    const at = rowsOf(dataDir, 'SELECT migration_id, record_time FROM v_snapshots ORDER BY record_time');
    for (const { migration_id, record_time } of at.filter((_, i) => i % 9 === 0)) {
      const sums = new Map<string, Row>();
      // The last row of each account.
      const last = rowsOf(
        dataDir,
        `SELECT *, max(record_time) FROM v_totals WHERE migration_id = ${migration_id} AND record_time <= '${record_time}'
         GROUP BY party_id, instrument_admin, instrument_id, provider, account_id HAVING contracts > 0 AND party_id <> ''`,
      );
      const units = (text: unknown): bigint => BigInt(String(text ?? '0').replace('.', ''));
      for (const row of last) {
        const key = JSON.stringify([row.party_id, row.instrument_admin, row.instrument_id]);
        const sum: Row = sums.get(key) ?? {};
        const names = ['unlocked', 'locked', 'total', 'contracts'];
        sums.set(key, Object.fromEntries(names.map((name) => [name, units(sum[name]) + units(row[name])])));
      }
      const given = { migration_id, record_time, limit: 1000 };
      const wanted = new Map<string, Row>();
      for (const { admin, id } of await allRows(service.app, `${V1}/instruments`, given)) {
        const of = { ...given, instrument_admin: admin, instrument_id: id };
        for (const { party_id, unlocked, locked, total, contracts } of await allRows(service.app, `${V1}/owners`, of))
          if (contracts !== 0)
            wanted.set(JSON.stringify([party_id, admin, id]), {
              unlocked: units(unlocked),
              locked: units(locked),
              total: units(total),
              contracts: units(contracts),
            });
      }
      expect(sums).toEqual(wanted);
    }
  });

  it('read only what a party has', () => {
    const db = new DatabaseFile(join(dataDir, 'views.db'), { readonly: true });
    for (const view of ['v_totals', 'v_movements']) {
      const plan = db
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT * FROM ${view} WHERE party_id = 'x'`)
        .all();
      const scanned = plan.map(({ detail }) => detail).filter((detail) => /^SCAN (a|t|m|u)\b/.test(detail));
      expect(scanned).toEqual([]);
      expect(plan.some(({ detail }) => detail.startsWith('SEARCH a USING COVERING INDEX'))).toBe(true);
    }
    db.close();
  });
});

describe('the views of SQL', () => {
  const dumped = (data: string) =>
    rowsOf(data, "SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY name");
  const replay = (data: string) => holdfast('replay', '--data', data, folder.writeLines('nothing', []));

  it('are made when a directory of an older version is opened for writing, and made again where they differ', async () => {
    const [data, old] = [folder.at('new'), folder.at('old')];
    expect(await replay(data)).toMatchObject({ code: 0 });
    const wanted = dumped(data);
    expect(wanted.map(({ name }) => name)).toEqual(['v_movements', 'v_snapshots', 'v_totals']);
    cpSync(join(import.meta.dirname, '../../fixtures/views-12/story'), old, { recursive: true });
    const db = new DatabaseFile(join(old, 'views.db'));
    // As a program of a version that had the table made it.
    db.exec('CREATE VIEW v_totals AS SELECT * FROM owner_total; CREATE VIEW v_snapshots AS SELECT * FROM snapshot');
    db.close();
    const migrated = await replay(old);
    expect(migrated.code, migrated.stderr).toBe(0);
    expect(dumped(old)).toEqual(wanted);
    expect(rowsOf(old, 'SELECT count(*) AS rows FROM v_totals')).not.toEqual([{ rows: '0' }]);
    expect(await holdfast('verify', '--data', old)).toMatchObject({ code: 0 });
    expect(await holdfast('backup', '--data', old, folder.at('copy'))).toMatchObject({ code: 0 });
    expect(await holdfast('restore', '--data', folder.at('restored'), folder.at('copy'))).toMatchObject({ code: 0 });
    expect(dumped(folder.at('restored'))).toEqual(wanted);
  });
});
