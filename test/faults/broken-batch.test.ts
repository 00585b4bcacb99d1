import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { DecodedBatch } from '../../src/feed/decoded-batch.ts';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileBatches } from '../support/views/inline-feed.ts';
import { CLOCK_US, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const HOUR_US = 3_600_000_000;

async function chunksOf(file: string): Promise<DecodedBatch[]> {
  const chunks: DecodedBatch[] = [];
  for await (const chunk of fileBatches(file, { chunkBytes: 20_000 })) chunks.push(chunk);
  return chunks;
}

/** Runs `body` while another connection has put a table out of the way, so that whatever reads it fails. */
function withoutTable(dataDir: string, table: string, body: () => void): void {
  const db = new DatabaseFile(join(dataDir, 'views.db'));
  db.pragma('legacy_alter_table = ON');
  db.exec(`ALTER TABLE ${table} RENAME TO hidden`);
  try {
    body();
  } finally {
    db.exec(`ALTER TABLE hidden RENAME TO ${table}`);
    db.close();
  }
}

describe('a batch that breaks off', () => {
  it.each(['account', 'held', 'holding'])(
    'in the middle of a chunk, reading %s, loses and doubles nothing',
    async (table) => {
      using folder = temporaryDirectory();
      const file = folder.writeLines(
        'feed.ndjson',
        linesOf(randomLedger(oddLedger(11, { owners: 300, updates: 600 })), 'scan'),
      );
      await replayInto(folder.at('whole'), [file]);
      await replayInto(folder.at('broken'), []);
      using writer = new ViewsWriter(folder.at('broken'), WRITER_OPTIONS);
      writer.beginSource({ name: file, kind: FILE_KIND });
      let failures = 0;
      for (const [number, chunk] of (await chunksOf(file)).entries()) {
        if (number % 3 === 2) {
          withoutTable(folder.at('broken'), table, () => {
            try {
              writer.apply(chunk);
            } catch (error) {
              expect(String(error)).toContain('no such table');
              failures++;
            }
          });
        }
        expect(writer.apply(chunk)).toEqual({ done: true });
        if (number % 4 === 3) writer.commit();
      }
      writer.commit();
      expect(failures).toBeGreaterThan(2);
      expect(dumpViews(folder.at('broken'))).toEqual(dumpViews(folder.at('whole')));
    },
  );

  it('is checked by the clock that it was applied with, even if that has jumped', async () => {
    using folder = temporaryDirectory();
    const dataDir = folder.at('data');
    const file = folder.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(12)), 'scan'));
    await replayInto(dataDir, []);
    let now = CLOCK_US;
    using writer = new ViewsWriter(dataDir, { ...WRITER_OPTIONS, now: () => now });
    writer.beginSource({ name: file, kind: FILE_KIND });
    const [chunk] = await chunksOf(file);
    expect(writer.apply(chunk!)).toEqual({ done: true });
    withoutTable(dataDir, 'total', () => expect(() => writer.commit()).toThrow(/no such table/));
    now = HOUR_US;
    writer.commit();
    expect(writer.counts.updates).toBeGreaterThan(0);
    expect(writer.deadLetters.halted()).toBeNull();
  });
});
