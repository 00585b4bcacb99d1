import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUpViews } from '../../src/views/backup/backup.ts';
import { sealFile, unsealFile } from '../../src/views/backup/file-hash.ts';
import { restoreViews } from '../../src/views/backup/restore.ts';
import { verifyViews } from '../../src/views/verify/verify.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { storedDso } from '../support/views/views-dump.ts';

const LINES = linesOf(randomLedger(oddLedger(31, { updates: 60, migrations: 1 })), 'scan');

let folder: TemporaryDirectory;
let first: string;
let whole: string;

beforeEach(async () => {
  folder = temporaryDirectory();
  first = folder.writeLines('first.ndjson', LINES.slice(0, 30));
  whole = folder.writeLines('whole.ndjson', LINES);
  await replayInto(folder.at('data'), [first]);
});
afterEach(() => folder[Symbol.dispose]());

function tablesAtFault(name: string): string[] {
  const tables = new Set<string>();
  const steps = verifyViews(folder.at(name), ({ table }) => tables.add(table));
  while (steps.next().done !== true);
  return [...tables];
}

function change(sql: string): void {
  const db = new DatabaseFile(join(folder.at('data'), 'views.db'));
  expect(db.prepare(sql).run().changes).toBe(1);
  db.close();
}

/** In a directory of its own, `restored`. */
function restoreBackup(): void {
  backUpViews(folder.at('data'), folder.at('backup'), { files: [], now: new Date() });
  mkdirSync(folder.at('restored'));
  restoreViews(folder.at('backup'), folder.at('restored'), {});
}

describe('a row of the settings', () => {
  it('is sound after every command that changes it', async () => {
    expect(tablesAtFault('data')).toEqual([]);
    await replayInto(folder.at('data'), [], { dso: storedDso(folder.at('data')) });
    expect(tablesAtFault('data')).toEqual([]);
    restoreBackup();
    expect(tablesAtFault('restored')).toEqual([]);
    await replayInto(folder.at('restored'), [whole]);
    expect(tablesAtFault('restored')).toEqual([]);
  });

  it('that was damaged is found still when others have changed it since', async () => {
    change(`UPDATE setting SET directory_id = 'other'`);
    await replayInto(folder.at('data'), [whole], { dso: storedDso(folder.at('data')) });
    expect(tablesAtFault('data')).toEqual(['setting']);
    restoreBackup();
    expect(tablesAtFault('restored')).toEqual(['setting']);
  });
});

describe('the count of the rows of a table', () => {
  it('is not read again from what is there: a lost row is found still after the next ones', async () => {
    await replayInto(folder.at('data'), [folder.writeLines('bad.ndjson', ['{"foo":1}', '{"foo":2}'])], {
      onBadUpdate: 'quarantine',
    });
    change('DELETE FROM dead_letter WHERE id = 2');
    await replayInto(folder.at('data'), [folder.writeLines('bad.ndjson', ['{"foo":3}'])], {
      onBadUpdate: 'quarantine',
    });
    expect(tablesAtFault('data')).toEqual(['dead_letter']);
  });
});

describe('a backup of other tables', () => {
  it('is refused, and nothing is restored', () => {
    backUpViews(folder.at('data'), folder.at('backup'), { files: [], now: new Date() });
    expect(unsealFile(folder.at('backup'))).toBe('whole');
    const backup = new DatabaseFile(folder.at('backup'));
    backup.pragma('user_version = 3');
    backup.close();
    sealFile(folder.at('backup'));
    mkdirSync(folder.at('restored'));
    expect(() => restoreViews(folder.at('backup'), folder.at('restored'), {})).toThrow('has version 3 of the tables');
  });
});
