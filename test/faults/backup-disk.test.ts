import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../support/http/service.ts';
import { expectOneLine } from '../support/ledger/fault-feed.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

/** In which a shell counts the size of a file. */
const BLOCK_BYTES = 512;
/** More than SQLite keeps in memory, so it has begun to write pages, and a journal of them, when there is no more room. */
const LARGE_BYTES = 40_000_000;

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const data = folder.at('data');
let size = 0;

beforeAll(async () => {
  {
    await using service = await startService(['--data', data]);
    service.program.kill('SIGTERM');
    await service.program.ended;
  }
  await replayInto(data, [], { snapshotPeriodUs: null });
  const db = new DatabaseFile(join(data, 'views.db'));
  db.exec(`INSERT INTO dead_letter(kind, code, decision, source, source_kind, lane, offset, place, reason, sha256, length, bytes, created_at)
    VALUES ('update', 'bad_field', 'dropped', 'feed', 'file', 'file', 1, '{}', 'large', zeroblob(32), ${LARGE_BYTES}, zeroblob(${LARGE_BYTES}), 1)`);
  db.close();
  expect(await holdfast('backup', '--data', data, folder.at('whole'))).toMatchObject({ code: 0 });
  size = statSync(folder.at('whole')).size;
});

/** A disk with this room for each file is full before the last of it is written. */
function roomFor(bytes: number): { limits: string } {
  return { limits: `ulimit -S -f ${Math.floor(bytes / BLOCK_BYTES)}` };
}

const MAY_BE_FULL = /the disk cannot be read or written: it may be full, or a limit of file size was met .*: make room/;

describe('a backup to a disk that is full', () => {
  const shares: readonly (readonly [when: string, missing: (size: number) => number])[] = [
    ['at the views', (size) => size / 2],
    ['at the users', () => 20_000],
    ['at the last line', () => 89],
  ];

  it.each(shares)('%s names the file, and leaves nothing however often it is tried', async (when, missing) => {
    const target = folder.at(when.replaceAll(' ', '-'));
    mkdirSync(target);
    const file = join(target, 'backup');
    for (let times = 0; times < 2; times++) {
      const ended = await runProgram(['backup', '--data', data, file], roomFor(size - missing(size)));
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expectOneLine(
        ended,
        /^holdfast: [^:]*\/backup: (the disk (is full|cannot be .* may be full)|a file cannot grow)/,
      );
      expect(readdirSync(target)).toEqual([]);
    }
    expect(await holdfast('backup', '--data', data, file)).toMatchObject({ code: 0 });
  });

  it('is not blamed on the target where it is the disk of the data', async () => {
    const ended = await runProgram(['backup', '--data', data, folder.at('unwritten')], roomFor(4_096));
    expect(ended.code).toBe(1);
    expectOneLine(ended, new RegExp(`^holdfast: --data ${data}: ${MAY_BE_FULL.source}`));
    expect(existsSync(folder.at('unwritten'))).toBe(false);
  });
});

describe('a disk without room for what readers of views.db share', () => {
  it.each(['verify', 'snapshots'])('is named by %s as one that may be full', async (command) => {
    const ended = await runProgram([command, '--data', data], roomFor(4_096));
    expect(ended.code).toBe(1);
    expectOneLine(ended, new RegExp(`^holdfast: --data ${data}: ${MAY_BE_FULL.source}`));
  });
});

describe('a restore to a disk that is full', () => {
  it.each([
    ['for the copy', () => size / 2],
    ['for any file', () => 512],
  ])('%s says what to do, and leaves the directory empty', async (_, room) => {
    const target = folder.at('restored');
    const ended = await runProgram(['restore', '--data', target, folder.at('whole')], roomFor(room()));
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expectOneLine(
      ended,
      /^holdfast: .*\/restored[^:]*: a file cannot grow as large as needed: raise the limit \(ulimit/,
    );
    expect(readdirSync(target)).toEqual([]);
  });
});
