import { mkdirSync } from 'node:fs';
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

/** In a directory of its own, `restored`. */
function restoreBackup(): void {
  backUpViews(folder.at('data'), folder.at('backup'), { files: [], now: new Date() });
  mkdirSync(folder.at('restored'));
  restoreViews(folder.at('backup'), folder.at('restored'), []);
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
    expect(() => restoreViews(folder.at('backup'), folder.at('restored'), [])).toThrow('has version 3 of the tables');
  });
});
