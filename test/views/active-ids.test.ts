import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { DecodedBatch } from '../../src/feed/decoded-batch.ts';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { type StoredId, storedIdHash } from '../../src/ledger/contract-id.ts';
import { viewsFile } from '../../src/views/store/database.ts';
import { ActiveIds } from '../../src/views/write/contracts.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileBatches } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const LEDGER = oddLedger(91, { owners: 200, updates: 500, migrations: 2 });

async function chunksOf(file: string): Promise<DecodedBatch[]> {
  const chunks: DecodedBatch[] = [];
  for await (const chunk of fileBatches(file, { chunkBytes: 20_000 })) chunks.push(chunk);
  return chunks;
}

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

  it.each([2, 3, 5])(
    'are exact after commits that failed, one of %i, and with a new writer after every fifth',
    async (each) => {
      using folder = temporaryDirectory();
      const file = folder.writeLines('feed.ndjson', linesOf(randomLedger(LEDGER), 'scan'));
      await replayInto(folder.at('whole'), [file]);
      await replayInto(folder.at('failing'), []);
      const open = (): ViewsWriter => {
        const writer = new ViewsWriter(folder.at('failing'), WRITER_OPTIONS);
        writer.beginSource({ name: file, kind: FILE_KIND });
        return writer;
      };
      let writer = open();
      const chunks = await chunksOf(file);
      expect(chunks.length).toBeGreaterThan(20);
      for (const [number, chunk] of chunks.entries()) {
        expect(writer.apply(chunk)).toEqual({ done: true });
        if (number % each === 0) expect(() => writer.commit(fail)).toThrow('rolled back');
        else writer.commit();
        if (number % 5 !== 4 || writer.hasPending) continue;
        writer[Symbol.dispose]();
        writer = open();
      }
      writer.commit();
      writer[Symbol.dispose]();
      expect(dumpViews(folder.at('failing'))).toEqual(dumpViews(folder.at('whole')));
    },
  );
});

function fail(): never {
  throw new Error('rolled back');
}

function closing(db: DatabaseFile.Database): DatabaseFile.Database & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() });
}
