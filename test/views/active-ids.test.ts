import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type StoredId, storedIdHash } from '../../src/ledger/contract-id.ts';
import { viewsFile } from '../../src/views/store/database.ts';
import { ActiveIds } from '../../src/views/write/contracts.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const LEDGER = oddLedger(91, { owners: 200, updates: 500, migrations: 2 });

/** Every contract of `holding`: those that are active are found by their hash, and no other. */
function expectExact(ids: ActiveIds, db: DatabaseFile.Database): number {
  const rows = db
    .prepare<[], { no: number; id: StoredId; migrationId: number; held: number }>(
      `SELECT c.no, contract_id AS id, migration_id AS migrationId, c.no IN (SELECT no FROM held) AS held
       FROM holding c JOIN owner o ON o.id = c.owner`,
    )
    .all();
  for (const { no, id, migrationId, held } of rows) {
    let found = 0;
    ids.each(storedIdHash(id, migrationId), (each) => {
      if (each === no) found += 1;
    });
    expect(found, `contract ${no}`).toBe(held);
  }
  return rows.filter(({ held }) => held === 1).length;
}

describe('the ids of active contracts in memory', () => {
  it('are those of held, at first and again when another connection has written', async () => {
    using folder = temporaryDirectory();
    const data = folder.at('data');
    const file = folder.writeLines('feed.ndjson', linesOf(randomLedger(LEDGER), 'scan'));
    await replayInto(data, [file]);
    using db = closing(new DatabaseFile(viewsFile(data)));
    using other = closing(new DatabaseFile(viewsFile(data)));
    const counts: number[] = [];
    const ids = new ActiveIds(db, ({ contracts }) => counts.push(contracts));
    ids.refresh();
    const active = expectExact(ids, db);
    expect(active).toBeGreaterThan(100);
    ids.refresh();
    expect(counts).toEqual([active]);
    other.exec('DELETE FROM held WHERE no % 3 = 0');
    ids.refresh();
    expect(expectExact(ids, db)).toBeLessThan(active);
  });
});

function closing(db: DatabaseFile.Database): DatabaseFile.Database & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() });
}
