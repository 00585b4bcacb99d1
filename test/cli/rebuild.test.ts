import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sealFile, unsealFile } from '../../src/views/backup/file-hash.ts';
import { SCHEMA_VERSION } from '../../src/views/store/schema.ts';
import { lockForWriting } from '../../src/views/store/writer-lock.ts';
import * as messages from '../support/decode/messages.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const OLDER = SCHEMA_VERSION - 1;

/** A feed, and a directory that it was replayed into. */
const shared = temporaryDirectory();
const feed = shared.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(51, { updates: 100 })), 'scan'));
beforeAll(async () => {
  expect(await holdfast('replay', '--data', shared.at('data'), feed)).toMatchObject({ code: 0 });
});
afterAll(() => shared[Symbol.dispose]());

let folder: TemporaryDirectory;
let data: string;
beforeEach(() => {
  folder = temporaryDirectory();
  data = folder.at('data');
});
afterEach(() => folder[Symbol.dispose]());

function copyReplayed(): void {
  cpSync(shared.at('data'), data, { recursive: true });
}

const on = (command: string, ...args: readonly string[]): Promise<Ended> => holdfast(command, '--data', data, ...args);

function withViews<Result>(body: (db: Database) => Result, file = `${data}/views.db`): Result {
  const db = new DatabaseFile(file);
  try {
    return body(db);
  } finally {
    db.close();
  }
}

/** As an earlier program left it: what it has of the tables is of no use to this one. */
function makeOlder(version = OLDER): void {
  withViews((db) => db.pragma(`user_version = ${version}`));
}

function setting(): Record<string, unknown> {
  return withViews((db) => db.prepare('SELECT * FROM setting').get()) as Record<string, unknown>;
}

function viewsFiles(): string[] {
  return readdirSync(data).filter((name) => name.startsWith('views'));
}

describe('views of an older version', () => {
  it('are refused by every command, which names the one that sets them aside', async () => {
    copyReplayed();
    makeOlder();
    const before = readFileSync(`${data}/views.db`);
    const says =
      `${data}/views.db has version ${OLDER} of the tables, this program has ${SCHEMA_VERSION}: ` +
      `run \`holdfast rebuild --data ${data}\`, which sets it aside and keeps the users, and then replay the feed`;
    for (const [command, ...args] of [
      ['serve', '--port', '0'],
      ['replay', feed],
      ['summary', '--owner', 'a::b'],
      ['snapshots'],
      ['verify'],
      ['backup', folder.at('backup')],
    ]) {
      expect(await on(command!, ...args)).toMatchObject({ code: 2, stdout: '', stderr: `holdfast: ${says}\n` });
    }
    expect(readFileSync(`${data}/views.db`)).toEqual(before);
  });

  it('are set aside whole, and a replay makes the same views again', async () => {
    copyReplayed();
    const rows = dumpViews(data);
    const { directory_id } = setting();
    makeOlder();
    const { code, stdout, stderr } = await on('rebuild');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${data}/views.db.version-${OLDER}: the previous views`);
    expect(viewsFiles()).toEqual(['views.db', `views.db.version-${OLDER}`]);
    const kept = withViews(
      (db) => db.prepare('SELECT count(*) FROM holding').pluck().get(),
      `${data}/views.db.version-${OLDER}`,
    );
    expect(kept).toBe(rows.holding!.length);
    expect(await on('snapshots', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await on('replay', feed)).code).toBe(0);
    expect(dumpViews(data)).toEqual(rows);
    expect(setting().directory_id).toBe(directory_id);
    expect((await on('verify')).code).toBe(0);
  });

  it('keep what a person decided of the directory, and leave to the feed what it says', async () => {
    const line = JSON.stringify(messages.ledgerApiTransaction()).replace(
      /"events":\[.*?\],"offset"/,
      '"events":[],"offset"',
    );
    const ledgerApi = folder.writeLines('ledger-api.ndjson', [line]);
    await on('replay', '--snapshot-period', '30m', '--migration-id', '4', '--dso', messages.DSO, ledgerApi);
    const before = setting();
    expect(before).toMatchObject({ period: 1_800_000_000, source_migration_id: 4, dso: messages.DSO, dso_pinned: 1 });
    makeOlder();
    const { stdout } = await on('rebuild');
    expect(stdout).toContain(
      `a snapshot every 30m, feeds without a migration id are of 4, the dso is ${messages.DSO}, the users,`,
    );
    expect(setting()).toEqual({ ...before, next_no: 1, next_owner: 1, feed: null });
    expect((await on('verify')).code).toBe(0);
    expect((await on('replay', ledgerApi)).code).toBe(0);
    expect(setting()).toEqual(before);
  });

  it('do not keep a dso that was only the first one seen', async () => {
    copyReplayed();
    expect(setting()).toMatchObject({ dso: expect.any(String), dso_pinned: 0 });
    makeOlder();
    await on('rebuild');
    expect(setting()).toMatchObject({ dso: null, dso_pinned: 0 });
  });

  it('take what is given in place of the stored settings', async () => {
    await on('replay', '--snapshot-period', '30m', '--migration-id', '4', '--dso', messages.DSO, feed);
    makeOlder();
    const other = 'OTHER::1220dd';
    expect((await on('rebuild', '--snapshot-period', '10m', '--migration-id', '5', '--dso', other)).code).toBe(0);
    expect(setting()).toMatchObject({ period: 600_000_000, source_migration_id: 5, dso: other, dso_pinned: 1 });
  });

  it('are set aside with the content of their write-ahead log when their program was killed', async () => {
    copyReplayed();
    withViews((db) => {
      db.pragma('wal_autocheckpoint = 0');
      db.pragma(`user_version = ${OLDER}`);
      db.prepare(`UPDATE snapshot SET owners = 4711`).run();
      cpSync(data, folder.at('killed'), { recursive: true });
    });
    data = folder.at('killed');
    expect(readFileSync(`${data}/views.db-wal`).length).toBeGreaterThan(0);
    expect((await on('rebuild')).code).toBe(0);
    expect(viewsFiles()).toEqual(['views.db', `views.db.version-${OLDER}`]);
    const count = 'SELECT count(*) FROM snapshot WHERE owners = 4711';
    expect(withViews((db) => db.prepare(count).pluck().get(), `${data}/views.db.version-${OLDER}`)).toBeGreaterThan(0);
    expect(await on('snapshots', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  it('never take a name that is taken', async () => {
    copyReplayed();
    const name = `views.db.version-${OLDER}`;
    writeFileSync(`${data}/${name}`, 'of somebody');
    writeFileSync(`${data}/${name}-2-wal`, 'of somebody else');
    for (const expected of [`${name}-3`, `${name}-4`]) {
      makeOlder();
      expect((await on('rebuild')).stdout).toContain(`${data}/${expected}: `);
    }
    expect(readFileSync(`${data}/${name}`, 'utf8')).toBe('of somebody');
    expect(readFileSync(`${data}/${name}-2-wal`, 'utf8')).toBe('of somebody else');
    expect(existsSync(`${data}/${name}-2`)).toBe(false);
  });
});

describe('holdfast rebuild', () => {
  it.each([
    ["this program's version", SCHEMA_VERSION, `is of this program's version (${SCHEMA_VERSION}): forced snapshots`],
    ['a newer program', SCHEMA_VERSION + 1, `is of a newer program (version ${SCHEMA_VERSION + 1} of the tables`],
    ['no version', 0, 'has no tables yet'],
  ])('sets views of %s aside only where it is given --yes', async (_name, version, says) => {
    copyReplayed();
    makeOlder(version);
    const before = readFileSync(`${data}/views.db`);
    const { code, stdout, stderr } = await on('rebuild');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`--data ${data}: views.db ${says}`);
    expect(stderr).toContain('; nothing was done, --yes sets it aside');
    expect(readFileSync(`${data}/views.db`)).toEqual(before);
    expect(viewsFiles()).toEqual(['views.db']);
    expect((await on('rebuild', '--yes')).code).toBe(0);
    expect(viewsFiles()).toEqual(['views.db', `views.db.version-${version}`]);
    expect((await on('replay', feed)).code).toBe(0);
    expect((await on('verify')).code).toBe(0);
  });

  it('names itself and the newer program that wrote the views', async () => {
    copyReplayed();
    makeOlder(SCHEMA_VERSION + 1);
    const { code, stderr } = await on('snapshots');
    expect(code).toBe(2);
    expect(stderr).toContain(`run the newer program that wrote it, or \`holdfast rebuild --data ${data} --yes\``);
  });

  it('sets a damaged file aside as it is, with --yes, and says what is lost', async () => {
    copyReplayed();
    const damaged = readFileSync(`${data}/views.db`).fill('x', 0, 100);
    writeFileSync(`${data}/views.db`, damaged);
    writeFileSync(`${data}/views.db-wal`, 'of the damaged one');
    const refused = await on('rebuild');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged') });
    const { code, stdout } = await on('rebuild', '--yes', '--snapshot-period', '30m');
    expect(code).toBe(0);
    expect(stdout).toContain('a snapshot every 30m');
    expect(stdout).toContain('no Kafka group as before');
    expect(readFileSync(`${data}/views.db.damaged`)).toEqual(damaged);
    expect(existsSync(`${data}/views.db-wal`)).toBe(false);
    expect((await on('replay', feed)).code).toBe(0);
    expect((await on('verify')).code).toBe(0);
  });

  it('waits for no writer: it names the process and does nothing', async () => {
    copyReplayed();
    makeOlder();
    {
      using _writer = lockForWriting(data);
      const { code, stderr } = await on('rebuild', '--yes');
      expect(code).toBe(2);
      expect(stderr).toContain(`process ${process.pid} writes to it; stop that one first`);
    }
    expect(viewsFiles()).toEqual(['views.db']);
    expect((await on('rebuild')).code).toBe(0);
  });

  it('does nothing while another process has the views open, which would delete a log of that name later', async () => {
    copyReplayed();
    makeOlder();
    const reader = new DatabaseFile(`${data}/views.db`, { readonly: true });
    reader.prepare('SELECT count(*) FROM holding').get();
    expect(await on('rebuild')).toMatchObject({
      code: 2,
      stderr: `holdfast: --data ${data}: another process reads views.db; stop it first\n`,
    });
    expect(viewsFiles().filter((name) => name.includes('version'))).toEqual([]);
    reader.close();
    expect((await on('rebuild')).code).toBe(0);
    expect(viewsFiles()).toEqual(['views.db', `views.db.version-${OLDER}`]);
  });

  it('refuses a directory without views, and makes nothing there', async () => {
    expect(await on('rebuild')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no views.db in it'),
    });
    expect(existsSync(data)).toBe(false);
    mkdirSync(data);
    expect((await on('rebuild', '--yes')).code).toBe(2);
    expect(readdirSync(data)).toEqual([]);
  });
});

describe('a backup of an older version', () => {
  it('is refused, with what to do instead of losing the users in it', async () => {
    copyReplayed();
    const backup = folder.at('backup');
    await on('backup', backup);
    expect(unsealFile(backup)).toBe('whole');
    withViews((db) => db.pragma(`user_version = ${OLDER}`), backup);
    sealFile(backup);
    const { code, stderr } = await holdfast('restore', '--data', folder.at('restored'), backup);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `holdfast: ${backup} has version ${OLDER} of the tables, this program has ${SCHEMA_VERSION}: ` +
        'restore it with the program that wrote it, and then run `holdfast rebuild` with this one\n',
    );
    expect(readdirSync(folder.at('restored'))).toEqual([]);
  });
});
