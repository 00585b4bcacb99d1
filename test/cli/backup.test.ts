import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FILE_KIND } from '../../src/feed/file/kind.ts';
import { openUsers, type Users } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { lockForWriting } from '../../src/views/store/writer-lock.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { fileBatches } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const NOBODY = 65_534;

let folder: TemporaryDirectory;
let feed: string;

beforeEach(() => {
  folder = temporaryDirectory();
  feed = folder.writeLines(
    'feed.ndjson',
    linesOf(randomLedger(oddLedger(51, { updates: 400, migrations: 2 })), 'scan'),
  );
});
afterEach(() => folder[Symbol.dispose]());

function users(name: string): Users {
  const config = parseUsersConfig({ value: undefined, folder: folder.path });
  return openUsers({ dataDir: folder.at(name), config, participantId: null, logger: pino({ level: 'silent' }) });
}

function backUp(...options: readonly string[]): Promise<Ended> {
  return holdfast('backup', folder.at('backup'), '--data', folder.at('data'), ...options);
}

function restore(to = 'restored'): Promise<Ended> {
  return holdfast('restore', folder.at('backup'), '--data', folder.at(to));
}

function setting(name: string): { directory_id: string; feed: string | null } {
  const db = new DatabaseFile(join(folder.at(name), 'views.db'), { readonly: true });
  try {
    return db
      .prepare<[], { directory_id: string; feed: string | null }>('SELECT directory_id, feed FROM setting')
      .get()!;
  } finally {
    db.close();
  }
}

describe('holdfast backup and restore', () => {
  it('copy a directory while a service writes to it, and the copy continues to the same views', async () => {
    await replayInto(folder.at('whole'), [feed], { chunkBytes: 50_000 });
    await replayInto(folder.at('data'), [], {});
    let positionsAtBackup: unknown;
    {
      using _lock = lockForWriting(folder.at('data'));
      using writer = new ViewsWriter(folder.at('data'), WRITER_OPTIONS);
      using store = users('data');
      store.write((each) => each.grantRight('participant_admin', { kind: 'CanReadAs', party: 'alice::1220' }));
      writer.beginSource({ name: feed, kind: FILE_KIND });
      let done = 0;
      for await (const chunk of fileBatches(feed, { chunkBytes: 20_000 })) {
        writer.apply(chunk);
        if (++done % 3 === 0) writer.commit();
        // In the middle of a batch: what is not committed is not in the backup.
        if (done !== 10) continue;
        expect(await backUp()).toMatchObject({ code: 0, stdout: expect.stringContaining('views.db, users.db\n') });
        positionsAtBackup = positions('data');
      }
      writer.commit();
    }
    expect(statSync(folder.at('backup')).mode & 0o777).toBe(0o600);
    expect(await restore()).toMatchObject({ code: 0, stdout: expect.stringContaining('views.db, users.db\n') });
    expect(positions('restored')).toEqual(positionsAtBackup);
    expect(dumpViews(folder.at('restored'))).not.toEqual(dumpViews(folder.at('whole')));
    expect((await holdfast('verify', '--data', folder.at('restored'))).code).toBe(0);
    await replayInto(folder.at('restored'), [feed], { chunkBytes: 50_000 });
    expect(dumpViews(folder.at('restored'))).toEqual(dumpViews(folder.at('whole')));
    using before = users('data');
    using after = users('restored');
    expect(after.participantId).toBe(before.participantId);
    expect(after.reader.rights('participant_admin')).toEqual(before.reader.rights('participant_admin'));
    expect(after.reader.rights('participant_admin')).toContainEqual({ kind: 'CanReadAs', party: 'alice::1220' });
  });

  function positions(name: string): unknown {
    const db = new DatabaseFile(join(folder.at(name), 'views.db'), { readonly: true });
    try {
      return db.prepare('SELECT * FROM position ORDER BY lane').all();
    } finally {
      db.close();
    }
  }

  it('keep the position in a topic, and give the copy a group of its own', async () => {
    await replayInto(folder.at('data'), [feed], { chunkBytes: 50_000 });
    const db = new DatabaseFile(join(folder.at('data'), 'views.db'));
    db.exec(`UPDATE setting SET feed = '{"clusterId":"c","topic":"t"}';
      INSERT INTO position VALUES (3, 'topic t', 42, 4711, x'${'ab'.repeat(32)}', '{}', 0, 5);`);
    db.close();
    expect((await backUp()).code).toBe(0);
    expect((await restore()).code).toBe(0);
    expect(positions('restored')).toEqual(positions('data'));
    expect(setting('restored').feed).toBe(setting('data').feed);
    expect(setting('restored').directory_id).not.toBe(setting('data').directory_id);
    expect(setting('restored').directory_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('name the token secret, and copy it only on request', async () => {
    await replayInto(folder.at('data'), []);
    users('data')[Symbol.dispose]();
    const secret = readFileSync(folder.at('data/token-secret'), 'utf8');
    const { stdout } = await backUp();
    expect(stdout).toContain(`not in it: the token secret, ${folder.at('data/token-secret')}`);
    expect(readFileSync(folder.at('backup')).includes(secret.trim())).toBe(false);
    expect((await restore()).stdout).toContain(`put one at ${folder.at('restored/token-secret')}`);
    expect(existsSync(folder.at('restored/token-secret'))).toBe(false);
    const again = await holdfast('backup', folder.at('second'), '--data', folder.at('data'), '--with-secret');
    expect(again.stdout).toBe(`${folder.at('second')}: views.db, users.db, token-secret\n`);
    await holdfast('restore', folder.at('second'), '--data', folder.at('with-secret'));
    expect(readFileSync(folder.at('with-secret/token-secret'), 'utf8')).toBe(secret);
    expect(statSync(folder.at('with-secret/token-secret')).mode & 0o777).toBe(0o600);
    expect(statSync(folder.at('with-secret')).mode & 0o777).toBe(0o700);
  });

  it('leave no directory that looks new where a restore is interrupted', async () => {
    mkdirSync(folder.at('half'));
    users('half')[Symbol.dispose]();
    writeFileSync(folder.at('half/views.db.partial'), 'SQLite format 3');
    for (const args of [['replay', feed], ['verify'], ['backup', folder.at('backup')]]) {
      const { code, stderr } = await holdfast(...args, '--data', folder.at('half'));
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('a restore into it was interrupted'),
      });
    }
    expect(existsSync(folder.at('half/views.db'))).toBe(false);
  });

  it('refuse to write over anything', async () => {
    await replayInto(folder.at('data'), []);
    expect((await backUp()).code).toBe(0);
    expect(await backUp()).toMatchObject({ code: 2, stderr: expect.stringContaining('is there already') });
    expect(await restore('data')).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
    mkdirSync(folder.at('empty'));
    expect((await restore('empty')).code).toBe(0);
  });

  it('refuse a backup that the user may not read, by its name', async () => {
    writeFileSync(folder.at('backup'), 'not for everybody', { mode: 0 });
    chmodSync(folder.path, 0o777);
    const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    const refused = await runProgram(['restore', folder.at('backup'), '--data', folder.at('restored')], uid);
    expect(refused).toMatchObject({ code: 2, stderr: `holdfast: ${folder.at('backup')}: cannot be read (EACCES)\n` });
    expect(existsSync(folder.at('restored'))).toBe(false);
  });

  it('refuse a missing directory, and a file that is missing or no backup, and leave nothing', async () => {
    expect(await backUp()).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no views.db') });
    expect(await restore()).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such file') });
    await replayInto(folder.at('views'), []);
    const nowhere = await holdfast('backup', folder.at('none/backup'), '--data', folder.at('views'));
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no folder') });
    writeFileSync(folder.at('backup'), 'something else');
    writeFileSync(folder.at('file'), '');
    expect(await restore('file')).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be created') });
    expect(await restore()).toMatchObject({ code: 2, stderr: expect.stringContaining('is no backup') });
    await replayInto(folder.at('data'), []);
    writeFileSync(folder.at('backup'), readFileSync(folder.at('data/views.db')));
    expect(await restore()).toMatchObject({ code: 2, stderr: expect.stringContaining('is no backup') });
    expect(readdirSync(folder.at('restored'))).toEqual([]);
  });
});
