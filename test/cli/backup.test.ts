import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_KIND } from '../../src/feed/file/file-source.ts';
import { openUsers, type Users } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { lockForWriting } from '../../src/views/store/writer-lock.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { expectOneLine } from '../support/ledger/fault-feed.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileBatches } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

/** In which a shell counts the size of a file. */
const BLOCK_BYTES = 512;

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const feed = folder.writeLines(
  'feed.ndjson',
  linesOf(randomLedger(oddLedger(51, { updates: 400, migrations: 2 })), 'scan'),
);
const data = folder.at('data');
const whole = folder.at('whole-backup');

beforeAll(async () => {
  await replayInto(data, [feed], { chunkBytes: 50_000 });
  openedUsers(data)[Symbol.dispose]();
  expect(await holdfast('backup', whole, '--data', data, '--with-secret')).toMatchObject({ code: 0 });
});

function openedUsers(dataDir: string): Users {
  const config = parseUsersConfig({ value: undefined, folder: folder.path });
  return openUsers({ dataDir, config, participantId: null, logger: pino({ level: 'silent' }) });
}

function backUp(from: string, to: string, ...options: readonly string[]): Promise<Ended> {
  return holdfast('backup', folder.at(to), '--data', from, ...options);
}

function restore(from: string, to: string): Promise<Ended> {
  return holdfast('restore', folder.at(from), '--data', folder.at(to));
}

function withViews<Result>(directory: string, body: (db: Database) => Result): Result {
  const db = new DatabaseFile(join(directory, 'views.db'));
  try {
    return body(db);
  } finally {
    db.close();
  }
}

const rows = (directory: string, sql: string): unknown[] => withViews(directory, (db) => db.prepare(sql).all());
const positions = (directory: string): unknown => rows(directory, 'SELECT * FROM position ORDER BY lane');
const modes = (directory: string): Record<string, number> =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o777]));

describe('a backup and what is restored from it', () => {
  it('are of one moment while a service writes, and continue to the same views and users', async () => {
    const written = folder.at('written');
    let atBackup: unknown;
    {
      await replayInto(written, [], {});
      using _lock = lockForWriting(written);
      using writer = new ViewsWriter(written, WRITER_OPTIONS);
      using store = openedUsers(written);
      store.write((each) => each.grantRight('participant_admin', { kind: 'CanReadAs', party: 'alice::1220' }));
      writer.beginSource({ name: feed, kind: FILE_KIND });
      let done = 0;
      for await (const chunk of fileBatches(feed, { chunkBytes: 20_000 })) {
        writer.apply(chunk);
        if (++done % 3 === 0) writer.commit();
        // In the middle of a batch: what is not committed is not in the backup.
        if (done !== 10) continue;
        expect(await backUp(written, 'beside')).toMatchObject({ code: 0 });
        atBackup = positions(written);
      }
      writer.commit();
    }
    expect(modes(folder.at('beside'))).toEqual({ 'views.db': 0o600, 'users.db': 0o600 });
    expect(await restore('beside', 'restored')).toMatchObject({ code: 0 });
    const restored = folder.at('restored');
    expect(positions(restored)).toEqual(atBackup);
    expect(dumpViews(restored)).not.toEqual(dumpViews(data));
    expect((await holdfast('verify', '--data', restored)).code).toBe(0);
    await replayInto(restored, [feed], { chunkBytes: 50_000 });
    expect(dumpViews(restored)).toEqual(dumpViews(data));
    using before = openedUsers(written);
    using after = openedUsers(restored);
    expect(after.participantId).toBe(before.participantId);
    expect(after.reader.rights('participant_admin')).toEqual(before.reader.rights('participant_admin'));
    expect(after.reader.rights('participant_admin')).toContainEqual({ kind: 'CanReadAs', party: 'alice::1220' });
  });

  it('keep the position in a topic, but not the id from which the group is named', async () => {
    const topic = folder.at('topic');
    cpSync(data, topic, { recursive: true });
    withViews(topic, (db) =>
      db.exec(`UPDATE setting SET feed = '{"clusterId":"c","topic":"t"}';
        INSERT INTO position VALUES (3, 'topic t', 42, 4711, x'${'ab'.repeat(32)}', '{}', 0, 5);`),
    );
    expect((await backUp(topic, 'topic-backup')).code).toBe(0);
    expect((await restore('topic-backup', 'topic-restored')).code).toBe(0);
    expect(positions(folder.at('topic-restored'))).toEqual(positions(topic));
    const [before, after] = [topic, folder.at('topic-restored')].map(
      (directory) => rows(directory, 'SELECT * FROM setting')[0] as { directory_id: string },
    );
    expect(after).toEqual({ ...before, directory_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(after?.directory_id).not.toBe(before?.directory_id);
  });

  it('have the token secret only on request, and say where it is missing', async () => {
    const { stdout } = await backUp(data, 'no-secret');
    expect(stdout).toContain(`not in it: the token secret, ${join(data, 'token-secret')}`);
    expect(readdirSync(folder.at('no-secret')).toSorted()).toEqual(['users.db', 'views.db']);
    expect((await restore('no-secret', 'without')).stdout).toContain(`put one at ${folder.at('without/token-secret')}`);
    expect(await restore('whole-backup', 'with-secret')).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('secret;'),
    });
    expect(readFileSync(folder.at('with-secret/token-secret'))).toEqual(readFileSync(join(data, 'token-secret')));
  });

  it('are private, whatever the umask, the mode of the directory and that of the backup', async () => {
    const open = { limits: 'umask 0' };
    const target = folder.at('private');
    expect(await runProgram(['backup', target, '--data', data, '--with-secret'], open)).toMatchObject({ code: 0 });
    expect(statSync(target).mode & 0o777).toBe(0o700);
    expect(new Set(Object.values(modes(target)))).toEqual(new Set([0o600]));
    for (const name of readdirSync(target)) chmodSync(join(target, name), 0o644);
    const restored = folder.at('private-restored');
    mkdirSync(restored);
    chmodSync(restored, 0o755);
    expect(await runProgram(['restore', target, '--data', restored], open)).toMatchObject({ code: 0 });
    expect(new Set(Object.values(modes(restored)))).toEqual(new Set([0o600]));
  });
});

describe('a backup', () => {
  it('is refused a name that is taken or has no directory, and a directory without views', async () => {
    mkdirSync(folder.at('interrupted.partial'));
    symlinkSync('nowhere', folder.at('link-to-nothing'));
    for (const [from, to, says] of [
      [data, 'link-to-nothing', 'link-to-nothing exists already'],
      [data, 'whole-backup', 'whole-backup exists already'],
      [data, 'interrupted', 'interrupted.partial exists already: remove it'],
      [data, 'none/backup', 'there is no directory'],
      [folder.at('none'), 'backup', 'there is no views.db'],
    ] as const)
      expect(await backUp(from, to)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
  });

  it('to a disk that is full names its file and leaves nothing', async () => {
    const target = join(folder.at('full'), 'backup');
    mkdirSync(folder.at('full'));
    const blocks = Math.floor(statSync(join(whole, 'views.db')).size / 2 / BLOCK_BYTES);
    const ended = await runProgram(['backup', '--data', data, target], { limits: `ulimit -S -f ${blocks}` });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expectOneLine(ended, /^holdfast: [^:]*\/backup\.partial\/views\.db: the disk /);
    expect(readdirSync(folder.at('full'))).toEqual([]);
  });
});

describe('a restore', () => {
  /** A backup in which one file is changed. */
  function changed(to: string, file: string, change: (path: string) => void): void {
    cpSync(whole, folder.at(to), { recursive: true });
    change(folder.at(`${to}/${file}`));
  }

  it('into a directory that is not empty, or is a file, is refused', async () => {
    expect(await restore('whole-backup', 'data')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not empty'),
    });
    writeFileSync(folder.at('file'), '');
    expect(await restore('whole-backup', 'file')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be created'),
    });
  });

  const setVersion = (version: number) => (path: string) => {
    const db = new DatabaseFile(path);
    db.pragma(`user_version = ${version}`);
    db.close();
  };
  const says = 'has version 11 of the tables, this program has 14';
  it.each<[string, string, (path: string) => void, string]>([
    ['an older version', 'views.db', setVersion(11), `${says}: use the program that wrote it, or move it away`],
    ['a newer version', 'views.db', setVersion(15), 'has version 15 of the tables, this program has 14: use the newer'],
    ['a damaged page', 'views.db', (path) => overwrite(path, 8_192), 'is damaged'],
    ['damaged users', 'users.db', (path) => overwrite(path, 0), 'cannot be read (file is not a database)'],
    [
      'a file cut off',
      'views.db',
      (path) => writeFileSync(path, readFileSync(path).subarray(0, 50_000)),
      'use another',
    ],
  ])('of %s is refused, and nothing is made', async (name, file, change, message) => {
    changed(`of ${name}`, file, change);
    const { code, stderr } = await restore(`of ${name}`, `from ${name}`);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).toContain(folder.at(`of ${name}/${file}`));
    expect(existsSync(folder.at(`from ${name}`))).toBe(false);
  });

  function overwrite(path: string, start: number): void {
    writeFileSync(path, readFileSync(path).fill(0xa5, start, start + 4_096));
  }

  it('of what is no backup is refused', async () => {
    expect(await restore('none', 'from-none')).toMatchObject({ code: 2, stderr: expect.stringContaining('no backup') });
  });

  it('to a disk that is full leaves the directory empty', async () => {
    const target = folder.at('restored-full');
    const blocks = Math.floor(statSync(join(whole, 'views.db')).size / 2 / BLOCK_BYTES);
    const ended = await runProgram(['restore', whole, '--data', target], { limits: `ulimit -S -f ${blocks}` });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expectOneLine(ended, /^holdfast: .*\/views\.db\.partial: the disk /);
    expect(readdirSync(target)).toEqual([]);
  });

  it('that is interrupted leaves no directory that looks new', async () => {
    const half = folder.at('half');
    mkdirSync(half);
    writeFileSync(join(half, 'views.db.partial'), 'SQLite format 3');
    for (const args of [['replay', feed], ['verify'], ['backup', folder.at('of-half')]])
      expect(await holdfast(...args, '--data', half)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('a restore into it was interrupted'),
      });
  });
});

describe('views of another version', () => {
  it('are refused by every command, and stay as they are', async () => {
    const older = folder.at('older');
    cpSync(data, older, { recursive: true });
    withViews(older, (db) => db.pragma('user_version = 11'));
    const before = readFileSync(join(older, 'views.db'));
    const says =
      `${older}/views.db has version 11 of the tables, this program has 14: ` +
      'use the program that wrote it, or move it away and replay the feed; the users stay';
    for (const args of [
      ['serve', '--port', '0'],
      ['replay', feed],
      ['summary', '--owner', 'a::b'],
      ['snapshots'],
      ['verify'],
      ['backup', folder.at('of-older')],
    ])
      expect(await holdfast(...args, '--data', older)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `holdfast: ${says}\n`,
      });
    expect(readFileSync(join(older, 'views.db'))).toEqual(before);
  });
});
