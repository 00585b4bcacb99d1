import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectOneLine, expectSound } from '../support/ledger/fault-feed.ts';
import { createRandom } from '../support/ledger/random.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram, startProgram } from '../support/program/program.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { migrate, schemaOf, versionOf } from '../support/views/migrating.ts';
import { replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const OLD = 12;
const NEW = 14;
const SLICE_ROWS = 10;
const KILLS = soakCount(6);

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const fixtures = join(import.meta.dirname, '../../fixtures/views-12');
const feed = join(fixtures, 'random.scan.ndjson.gz');

/** A directory of the old schema. */
function oldDirectory(name: string): string {
  cpSync(join(fixtures, 'random'), folder.at(name), { recursive: true });
  return folder.at(name);
}

let nothing = '';
let wanted: ReturnType<typeof dumpViews> = {};
/** Of a migration in small slices. */
let transactions = 0;

beforeAll(() => {
  nothing = folder.writeLines('nothing.ndjson', []);
  transactions = migrate(oldDirectory('undisturbed'), { sliceRows: SLICE_ROWS });
  wanted = dumpViews(folder.at('undisturbed'));
});

it('a migrated file has the tables of a new one, and is sound', async () => {
  expect(transactions).toBeGreaterThan(20);
  await replayInto(folder.at('new'), []);
  expect(schemaOf(folder.at('undisturbed'))).toEqual(schemaOf(folder.at('new')));
  expect([versionOf(folder.at('undisturbed')), versionOf(folder.at('new'))]).toEqual([NEW, NEW]);
  await expectSound(folder.at('undisturbed'));
});

it('a directory in which nothing was applied is migrated, and then read as a new one', async () => {
  const data = oldDirectory('empty');
  const db = new DatabaseFile(join(data, 'views.db'));
  for (const table of [
    'position',
    'migration',
    'synchronizer',
    'last_update',
    'owner',
    'snapshot',
    'open_items',
    'template',
  ])
    db.exec(`DELETE FROM ${table}`);
  for (const table of ['holding', 'held', 'spent', 'owner_total', 'round', 'counterfeit'])
    db.exec(`DELETE FROM ${table}`);
  db.exec('UPDATE setting SET dso = NULL, next_no = 1, next_owner = 1');
  db.close();
  migrate(data, { sliceRows: SLICE_ROWS });
  await replayInto(folder.at('read'), [feed], { snapshotPeriodUs: null });
  await replayInto(data, [feed], { snapshotPeriodUs: null });
  expect(dumpViews(data)).toEqual(dumpViews(folder.at('read')));
});

describe('a migration that ends before its end', () => {
  it('continues with the next start, after whichever transaction that was', () => {
    for (let most = 1; most < transactions; most += 1 + Math.floor(transactions / 20)) {
      const data = oldDirectory(`ended-${most}`);
      migrate(data, { sliceRows: SLICE_ROWS, most });
      const version = versionOf(data);
      if (version === NEW) expect(most).toBe(transactions);
      else expect([OLD, OLD + 1]).toContain(version < 1_000 ? version : Math.floor(version / 1_000));
      migrate(data, { sliceRows: SLICE_ROWS });
      expect(dumpViews(data), `ended after ${most} transactions`).toEqual(wanted);
    }
  });

  it.each(Array.from({ length: 7 }, (_, i) => i + 1))('is killed in transaction %i of a start', async (kill) => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      import { createRequire } from 'node:module';
      const { prototype } = createRequire(process.argv[1])('better-sqlite3');
      const { pragma } = prototype;
      let left = ${kill};
      prototype.pragma = function (text, options) {
        if (text.startsWith('user_version = ') && --left === 0) process.kill(process.pid, 'SIGKILL');
        return pragma.call(this, text, options);
      };
    `)}`;
    const data = oldDirectory(`killed-in-${kill}`);
    expect(await runProgram(['replay', '--data', data, nothing], { preload })).toMatchObject({ signal: 'SIGKILL' });
    expect(versionOf(data)).toSatisfy((version: number) => (kill === 1 ? version === OLD : version >= OLD * 1_000));
    migrate(data, { sliceRows: 1_000 });
    expect(dumpViews(data)).toEqual(wanted);
  });

  it(`is killed at random moments, ${KILLS} times`, async () => {
    const random = createRandom(12);
    const [url, data] = [join(import.meta.dirname, '../../src/views/store/migrations.ts'), () => folder.at('killed')];
    oldDirectory('killed');
    for (let kills = 0; kills < KILLS; ) {
      if (versionOf(data()) === NEW) {
        expect(dumpViews(data())).toEqual(wanted);
        oldDirectory('killed');
      }
      const script = `
        import { migrateViews } from ${JSON.stringify(url)};
        process.stdout.write('ready');
        for (const _ of migrateViews(${JSON.stringify(data())}, { onBegin() {}, sliceRows: 3 })) {}`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      await once(child.stdout, 'data');
      await sleep(random.below(150));
      child.kill('SIGKILL');
      const [code, signal] = await exited;
      expect([code, signal]).toEqual(signal === 'SIGKILL' ? [null, 'SIGKILL'] : [0, null]);
      kills += 1;
    }
    migrate(data(), { sliceRows: SLICE_ROWS });
    expect(dumpViews(data())).toEqual(wanted);
    await expectSound(data());
  });

  it('for a full disk says so, and continues once there is room', async () => {
    const data = oldDirectory('full');
    const versions = new Set<number>();
    // Blocks of 512 bytes for each file: views.db has some 320.
    for (let room = 330; ; room += 60) {
      const ended = await runProgram(['replay', '--data', data, nothing], { limits: `ulimit -f ${room}` });
      if (ended.code === 0) break;
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expectOneLine(ended, /^holdfast: --data .*: (the disk is full|the disk cannot be read or written)/);
      versions.add(versionOf(data));
    }
    expect([...versions].some((version) => version >= OLD * 1_000)).toBe(true);
    expect(dumpViews(data)).toEqual(wanted);
  });
});

it('without room on the disk nothing begins', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.statfsSync = () => ({ bavail: 1_000, bsize: 4_096 });
    syncBuiltinESMExports();
  `)}`;
  const data = oldDirectory('no-room');
  const before = readFileSync(join(data, 'views.db'));
  for (const args of [
    ['replay', nothing],
    ['serve', '--port', '0'],
  ]) {
    const ended = await runProgram([...args, '--data', data], { preload });
    expect(ended.code).toBe(2);
    expectOneLine(
      ended,
      /^holdfast: --data .*: to migrate views\.db .* \d+ MB must be free on its disk, and 5 MB are: /,
    );
  }
  expect(readFileSync(join(data, 'views.db'))).toEqual(before);
});

describe('beside a migration', () => {
  it('serve --read-only waits for it and says how far it is, and every other reader is refused', async () => {
    const data = oldDirectory('beside');
    await using program = startProgram(['serve', '--read-only', '--port', '0', '--data', data]);
    const url = String((await program.logged('answering that the service is unavailable')).url);
    const reasons = async (): Promise<[number, string]> => {
      const answer = await fetch(`${url}/readyz`);
      return [answer.status, ((await answer.json()) as { reasons: string[] }).reasons.join()];
    };
    expect(await reasons()).toEqual([503, expect.stringContaining(`has version ${OLD} of the tables`)]);

    migrate(data, { sliceRows: SLICE_ROWS, most: Math.floor(transactions / 2) });
    const [status, says] = [503, /views\.db is being migrated from version 12 of the tables to 13, [1-9]\d % done: /];
    await expect.poll(reasons).toEqual([status, expect.stringMatching(says)]);
    const summary = await fetch(`${url}/v0/holdings/summary`, { method: 'POST', body: '{}' });
    expect([summary.status, await summary.text()]).toEqual([503, expect.stringMatching(says)]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    for (const args of [
      ['snapshots'],
      ['verify'],
      ['status'],
      ['backup', folder.at('of-half')],
      ['dead-letters', 'list'],
    ])
      expect(await holdfast(...args, '--data', data)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(says),
      });

    migrate(data, { sliceRows: SLICE_ROWS });
    const { url: served } = await program.logged('listening');
    await expect.poll(async () => (await fetch(`${String(served)}/readyz`)).status).toBe(200);
  });

  it('what writes is told how far it is', async () => {
    const data = oldDirectory('told');
    const { code, stderr } = await runProgram(['replay', '--data', data, nothing]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /"from":12,"to":13,"neededBytes":\d+,"freeBytes":\d+,"msg":"migrating views\.db: .*holdfast backup/,
    );
    expect(stderr).toContain('"from":12,"to":13,"percent":100,"msg":"views.db is migrated"');
  });
});

it('a backup of the old schema is restored, and then migrated', async () => {
  const backup = oldDirectory('backup');
  expect(await holdfast('restore', '--data', folder.at('restored'), backup)).toMatchObject({ code: 0 });
  expect(await holdfast('replay', '--data', folder.at('restored'), nothing)).toMatchObject({ code: 0 });
  expect(dumpViews(folder.at('restored'))).toEqual(wanted);
});
