import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileBatches } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

describe('verify while a writer runs', () => {
  it('sees no difference, whatever is committed between two of its steps', async () => {
    using folder = temporaryDirectory();
    const lines = linesOf(randomLedger(oddLedger(41, { updates: 900, migrations: 2 })), 'scan');
    const feed = folder.writeLines('feed.ndjson', lines);
    await replayInto(folder.at('data'), [folder.writeLines('first.ndjson', lines.slice(0, 200))], {
      chunkBytes: 50_000,
    });
    using writer = new ViewsWriter(folder.at('data'), WRITER_OPTIONS);
    writer.beginSource({ name: feed, kind: FILE_KIND });
    const found: unknown[] = [];
    const verifyAgain = (): ReturnType<typeof verifyViews> =>
      verifyViews(folder.at('data'), (difference) => found.push(difference), { rowsPerStep: 25 });
    let steps = verifyAgain();
    let completed = 0;
    for await (const chunk of fileBatches(feed, { chunkBytes: 3_000 })) {
      expect(writer.apply(chunk)).toEqual({ done: true });
      if (chunk.messages.length % 2 === 0) writer.commit();
      if (steps.next().done !== true) continue;
      completed++;
      steps = verifyAgain();
    }
    writer.commit();
    while (steps.next().done !== true);
    expect(found).toEqual([]);
    expect(completed).toBeGreaterThan(3);
  });
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
      /^owner_total; owner .+::.+; migration \d+, 2025-02-12T00:\d0:00Z: expected unlocked .*; found unlocked /m,
    );
    expect(stdout).toMatch(/^snapshot; migration \d+, 2025-02-12T00:\d0:00Z: expected \d+ contracts of \d+ owners, /m);
    expect(stdout).toMatch(/\n\d+ differences: \d+ snapshots, 12 owners\n$/);
  });

  it('refuses a missing directory and makes nothing', async () => {
    using folder = temporaryDirectory();
    expect(await holdfast('verify', '--data', folder.at('none'))).toMatchObject({ code: 2, stdout: '' });
  });

  it('names a table whose pages are damaged, and looks at the others all the same', async () => {
    using folder = temporaryDirectory();
    const dataDir = await replayed(folder);
    const db = new DatabaseFile(join(dataDir, 'views.db'));
    db.pragma('wal_checkpoint(TRUNCATE)');
    const pages = db
      .prepare<[], number>(`SELECT pageno FROM dbstat WHERE name = 'holding' AND pagetype = 'leaf'`)
      .pluck()
      .all();
    db.close();
    const bytes = readFileSync(join(dataDir, 'views.db'));
    bytes.fill(0xa5, (pages[1]! - 1) * 4096, (pages[1]! - 1) * 4096 + 2048);
    writeFileSync(join(dataDir, 'views.db'), bytes);
    const { code, stdout } = await holdfast('verify', '--data', dataDir);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^holding: expected an intact table and indexes; found /m);
    expect(stdout).toMatch(/differences: \d+ snapshots/);
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
