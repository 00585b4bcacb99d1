import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { explained, isDamaged, isDiskError, machineAdvice, machineError, mayPass } from '../src/machine-errors.ts';
import { Refusal } from '../src/refusal.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

function thrownBy(step: () => unknown): Error {
  try {
    step();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

const coded = (code: string, cause?: Error): Error => Object.assign(new Error(`said ${code}`, { cause }), { code });

describe('what codes of SQLite and of the system mean', () => {
  it.each([
    ['SQLITE_FULL', 'full', 'always'],
    ['ENOSPC', 'full', 'always'],
    ['EDQUOT', 'full', 'always'],
    ['EFBIG', 'full', 'always'],
    ['EIO', 'failing', 'always'],
    ['SQLITE_IOERR', 'failing', 'always'],
    ['SQLITE_IOERR_SHMSIZE', 'failing', 'always'],
    ['SQLITE_IOERR_READ', 'failing', 'always'],
    ['SQLITE_IOERR_WRITE', 'failingToWrite', 'always'],
    ['SQLITE_IOERR_SHORT_READ', 'damaged', 'never'],
    ['SQLITE_BUSY', 'locked', 'always'],
    ['SQLITE_BUSY_SNAPSHOT', 'locked', 'always'],
    ['SQLITE_LOCKED_SHAREDCACHE', 'locked', 'always'],
    ['SQLITE_READONLY_DBMOVED', 'unwritable', 'running'],
    ['SQLITE_CANTOPEN_ISDIR', 'unwritable', 'running'],
    ['EROFS', 'unwritable', 'running'],
    ['EACCES', 'unwritable', 'running'],
    ['EMFILE', 'outOfFiles', 'running'],
    ['SQLITE_CORRUPT_INDEX', 'damaged', 'never'],
    ['SQLITE_NOTADB', 'damaged', 'never'],
    ['SQLITE_ERROR', null, 'never'],
    ['SQLITE_CONSTRAINT_UNIQUE', null, 'never'],
    ['ENOENT', null, 'never'],
    ['constructor', null, 'never'],
  ] as const)('%s: %s, passes %s', (code, kind, passes) => {
    const error = coded(code);
    expect(machineError(error)).toBe(kind);
    const when = { starting: passes === 'always', running: passes !== 'never' };
    expect({ starting: mayPass(error, 'starting'), running: mayPass(error, 'running') }).toEqual(when);
    expect(machineAdvice(error) === null).toBe(kind === null);
  });

  it('is found in what caused an error, except for one that says already what to do', () => {
    const full = coded('ENOSPC');
    expect(machineError(new Error('users.db: full', { cause: full }))).toBe('full');
    expect(machineError(coded('ERR_OTHER', full))).toBe('full');
    expect(machineError(new Refusal('--data: cannot be made', { cause: full }))).toBeNull();
    expect(machineError('ENOSPC')).toBeNull();
  });

  it('leaves no word out that an operator needs', () => {
    expect(explained(coded('SQLITE_IOERR_WRITE'))).toBe(
      'said SQLITE_IOERR_WRITE: the disk may be full, or a limit of file size met',
    );
    expect(explained(coded('SQLITE_FULL'))).toBe('said SQLITE_FULL');
  });
});

describe('errors as SQLite and the system throw them', () => {
  it('a full database, one that is locked, one that is none, and one that cannot be opened', () => {
    const file = folder.at('some.db');
    using held = disposable(new DatabaseFile(file, { timeout: 0 }));
    held.db.exec('CREATE TABLE t(x)');
    held.db.pragma('max_page_count = 2');
    expect(machineError(thrownBy(() => held.db.exec('INSERT INTO t VALUES (zeroblob(100000))')))).toBe('full');
    held.db.exec('BEGIN EXCLUSIVE');
    using other = disposable(new DatabaseFile(file, { timeout: 0 }));
    expect(machineError(thrownBy(() => other.db.exec('INSERT INTO t VALUES (1)')))).toBe('locked');
    writeFileSync(folder.at('text.db'), 'no database '.repeat(1_000));
    using text = disposable(new DatabaseFile(folder.at('text.db')));
    const none = thrownBy(() => text.db.pragma('user_version'));
    expect([machineError(none), isDamaged(none)]).toEqual(['damaged', true]);
    mkdirSync(folder.at('folder.db'));
    expect(machineError(thrownBy(() => new DatabaseFile(folder.at('folder.db'))))).toBe('unwritable');
  });

  it('a disk without room', () => {
    const full = thrownBy(() => writeFileSync('/dev/full', 'x'));
    expect([machineError(full), isDiskError(full)]).toEqual(['full', true]);
    expect(isDiskError(thrownBy(() => readFileSync(folder.at('nothing'))))).toBe(false);
    expect(isDiskError(thrownBy(() => readdirSync(join(folder.path, 'nothing'))))).toBe(false);
    expect(isDiskError(thrownBy(() => writeSync(999_999, 'x')))).toBe(false);
  });

  it('a thread for which too few files are left, at whatever it fails', () => {
    const script = join(import.meta.dirname, 'support', 'threads', 'use-up-files.ts');
    const printed = execFileSync('sh', ['-c', 'ulimit -n 60; exec "$0" "$1"', process.execPath, script], {
      encoding: 'utf8',
    });
    const found = JSON.parse(printed) as string[];
    expect(new Set(found)).toEqual(new Set(['outOfFiles', '0']));
    expect(found.filter((each) => each === 'outOfFiles').length).toBeGreaterThan(4);
  });
});

function disposable(db: DatabaseFile.Database): Disposable & { readonly db: DatabaseFile.Database } {
  return { db, [Symbol.dispose]: () => void db.close() };
}
