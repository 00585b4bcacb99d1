import { spawnSync } from 'node:child_process';
import { chmodSync, createWriteStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oddLedger } from '../support/ledger-options.ts';
import { type Ended, runProgram, startProgram } from '../support/program.ts';
import { createRandom } from '../support/random.ts';
import { randomLedger } from '../support/random-ledger.ts';
import { linesOf, replayInto } from '../support/replayed.ts';
import { startService } from '../support/service.ts';
import { soakCount } from '../support/soak.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { dumpViews } from '../support/views-dump.ts';

/** Blocks of 512 bytes, in which a shell counts the size of a file. A disk with this room for each file is soon full. */
const SMALL_DISK = 'ulimit -S -f 1500';
const NOBODY = 65_534;

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
let feed = '';
let wanted: ReturnType<typeof dumpViews> = {};

beforeAll(async () => {
  const options = { updates: 1_500, owners: 300, activeTarget: 800, migrations: 2 };
  feed = folder.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(71, options)), 'scan'));
  await replayInto(folder.at('undisturbed'), [feed], { snapshotPeriodUs: null });
  wanted = dumpViews(folder.at('undisturbed'));
}, 120_000);

/** One line for people, whatever else is in the log. */
function expectOneLine({ stderr }: Ended, says: RegExp): void {
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(lines).toEqual([expect.stringMatching(says)]);
}

async function expectSound(dataDir: string): Promise<void> {
  expect(await runProgram(['verify', '--data', dataDir])).toMatchObject({ code: 0, stderr: '' });
}

const isReady = (status: number): boolean => status === 200;
const isRetrying = (status: number, body: unknown): boolean =>
  status === 503 && JSON.stringify(body).includes('tried again by itself');

describe('a full disk', () => {
  it('is waited for by serve, which says so and goes on once there is room', async () => {
    const data = folder.at('full-serve');
    await using service = await startService(['--data', data, '--file', feed], { limits: SMALL_DISK });
    await service.until('/readyz', isRetrying);
    expect((await service.ask('/livez')).status).toBe(200);
    expect(await service.ask('/status')).toMatchObject({ body: { phase: 'retrying' } });
    await sleep(1_000);
    expect(spawnSync('prlimit', ['--pid', String(service.program.pid), '--fsize=unlimited']).status).toBe(0);
    await service.until('/readyz', isReady);
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(wanted);
    await expectSound(data);
  });

  it('on which the log lies costs lines of it, and not the service', async () => {
    const log = folder.writeLines('serve.log', ['x'.repeat(8_100)]);
    const args = ['serve', '--port', '0', '--data', folder.at('full-log')];
    await using program = startProgram(args, { limits: `exec 2>>${log}; ulimit -S -f 16` });
    // Not even the tables fit, so it tries again, and says so each time.
    await sleep(2_500);
    expect(statSync(log).size).toBe(8_192);
    expect(spawnSync('prlimit', ['--pid', String(program.pid), '--fsize=unlimited']).status).toBe(0);
    while (!readFileSync(log, 'utf8').includes('"msg":"listening"')) await sleep(50);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines.slice(2).map((line) => JSON.parse(line) as object)).not.toEqual([]);
  });

  it('does not keep serve from stopping, and what is missing is read again', async () => {
    const data = folder.at('full-stop');
    {
      await using service = await startService(['--data', data, '--file', feed], { limits: SMALL_DISK });
      await service.until('/readyz', isRetrying);
      service.program.kill('SIGTERM');
      expect(await service.program.ended).toMatchObject({ code: 0 });
    }
    await expectSound(data);
    expect(await runProgram(['replay', '--data', data, feed])).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(wanted);
  });

  it('lets no snapshot be forced, says so, and lets the next one once there is room', async () => {
    const data = folder.at('full-force');
    const short = folder.writeLines('short.ndjson', readFileSync(feed, 'utf8').split('\n').slice(0, 400));
    await using service = await startService(['--data', data, '--file', short, '--force-snapshots']);
    await service.until('/readyz', isReady);
    const limitFiles = (bytes: string): void =>
      expect(spawnSync('prlimit', ['--pid', String(service.program.pid), `--fsize=${bytes}:unlimited`]).status).toBe(0);
    const before = await service.ask('/status');
    limitFiles('4096');
    expect(await service.ask('/v0/state/acs/force', {})).toEqual({
      status: 503,
      body: {
        error: expect.stringMatching(
          /^no snapshot can be written now \((disk I\/O error|database or disk is full)\); ask again/,
        ),
      },
    });
    expect(await service.ask('/status')).toMatchObject({
      body: { snapshots: (before.body as { snapshots: unknown }).snapshots },
    });
    limitFiles('unlimited');
    expect(await service.ask('/v0/state/acs/force', {})).toMatchObject({ status: 200 });
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    await expectSound(data);
  });

  it.each(Array.from({ length: soakCount(2) }, (_, seed) => seed))(
    'ends a replay with 1 and one line, and nothing is half written (seed %i)',
    async (seed) => {
      const data = folder.at(`full-${seed}`);
      const random = createRandom(seed);
      for (let room = 100 + random.below(1_000); ; room *= 3) {
        const ended = await runProgram(['replay', '--data', data, feed], { limits: `ulimit -f ${room}` });
        if (ended.code === 0) break;
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expectOneLine(ended, /^holdfast: --data .*: (the disk is full: make room|the disk cannot be read or written)/);
        if (readdirSync(data).includes('views.db') && hasTables(data)) await expectSound(data);
      }
      expect(dumpViews(data)).toEqual(wanted);
      await expectSound(data);
    },
    300_000,
  );

  function hasTables(data: string): boolean {
    const db = new DatabaseFile(join(data, 'views.db'), { readonly: true });
    try {
      return db.pragma('user_version', { simple: true }) !== 0;
    } finally {
      db.close();
    }
  }
});

describe('a database that another program holds', () => {
  it('is waited for by serve, and a replay ends with 1 and one line', async () => {
    const data = folder.at('locked');
    await replayInto(data, []);
    const db = new DatabaseFile(join(data, 'views.db'));
    db.exec('BEGIN IMMEDIATE');
    const ended = await runProgram(['replay', '--data', data, feed]);
    expect(ended.code).toBe(1);
    expectOneLine(ended, /^holdfast: --data .*: another program holds the database: .* \(database is locked\)$/);
    await using program = startProgram(['serve', '--port', '0', '--data', data, '--file', feed]);
    await program.logged('the data directory cannot be opened; trying again');
    db.exec('ROLLBACK');
    db.close();
    const { url } = await program.logged('listening');
    while ((await fetch(`${String(url)}/readyz`)).status !== 200) await sleep(50);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(wanted);
  }, 120_000);
});

describe('a directory that cannot be written to', () => {
  it('is refused with one line by what writes', async () => {
    const data = folder.at('read-only');
    await replayInto(data, []);
    chmodSync(folder.path, 0o755);
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o444);
    chmodSync(data, 0o555);
    const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    for (const args of [
      ['replay', feed],
      ['serve', '--port', '0'],
      ['dead-letters', 'retry'],
    ]) {
      const ended = await runProgram([...args, '--data', data], uid);
      expect(ended.code, args[0]).toBe(2);
      expectOneLine(ended, /^holdfast: --data .*: cannot be written to \(/);
    }
    chmodSync(data, 0o755);
  });
});

/** Fills every leaf page of these tables with nonsense. */
function damage(file: string, tables: readonly string[]): void {
  const db = new DatabaseFile(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const leaves = db.prepare<[string], number>(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'`).pluck();
  const pages = tables.flatMap((table) => leaves.all(table));
  db.close();
  const bytes = readFileSync(file);
  for (const page of pages) bytes.fill(0xa5, (page - 1) * 4096, page * 4096);
  writeFileSync(file, bytes);
}

describe('a damaged page', () => {
  it('is an answer of its own to each request that meets it, and the service goes on', async () => {
    const data = folder.at('damaged-reads');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    await using service = await startService(['--data', data]);
    const times = (await service.ask('/status')).body as { snapshots: { migration_id: number; record_time: string }[] };
    service.program.kill('SIGTERM');
    await service.program.ended;
    damage(join(data, 'views.db'), ['snapshot', 'owner_total']);
    await using again = await startService(['--data', data]);
    const question = { ...times.snapshots[0], owner_party_ids: ['a::b'] };
    for (let times = 0; times < 3; times++) {
      for (const answer of [await again.ask('/v1/holdings/summary', question), await again.ask('/readyz')]) {
        expect(answer).toMatchObject({
          status: 500,
          body: { error: expect.stringMatching(/^internal server error \(request [0-9a-f-]{36}\)$/) },
        });
      }
      expect(await again.ask('/livez')).toMatchObject({ status: 200 });
    }
    again.program.kill('SIGTERM');
    expect(await again.program.ended).toMatchObject({ code: 0 });
  });

  it('is named by verify wherever it lies, and is no backup', async () => {
    const data = folder.at('damaged-anywhere');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    const whole = readFileSync(join(data, 'views.db'));
    for (const table of ['snapshot', 'holding', 'held', 'spent', 'owner', 'owner_total', 'active', 'setting']) {
      writeFileSync(join(data, 'views.db'), whole);
      damage(join(data, 'views.db'), [table]);
      const verified = await runProgram(['verify', '--data', data]);
      expect(verified, table).toMatchObject({ code: 5, stderr: '' });
      expect(verified.stdout).toContain(`${table}: expected an intact table and indexes; found `);
    }
    const backup = await runProgram(['backup', '--data', data, folder.at('backup')]);
    expect(backup.code).toBe(1);
    expectOneLine(backup, /^holdfast: --data .*: a database there is damaged/);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('backup'))).toEqual([]);
  }, 120_000);

  it('of users.db is told as such', async () => {
    const data = folder.at('damaged-users');
    await using service = await startService(['--data', data]);
    service.program.kill('SIGTERM');
    await service.program.ended;
    damage(join(data, 'users.db'), ['user', 'user_right', 'participant']);
    for (const args of [
      ['serve', '--port', '0'],
      ['backup', folder.at('users-backup')],
    ]) {
      const ended = await runProgram([...args, '--data', data]);
      expect(ended.code).toBe(1);
      expectOneLine(ended, /^holdfast: --data .*: the users are damaged: restore a backup .*\(users\.db: .*malformed/);
    }
  });

  it('ends what meets it with 1 and one line that says what to do', async () => {
    const data = folder.at('damaged');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    const file = join(data, 'views.db');
    const db = new DatabaseFile(file);
    db.pragma('wal_checkpoint(TRUNCATE)');
    const pages = db
      .prepare<[], number>(`SELECT pageno FROM dbstat WHERE name IN ('active', 'held', 'owner_total')`)
      .pluck()
      .all();
    db.close();
    const bytes = readFileSync(file);
    for (const page of pages) bytes.fill(0xa5, (page - 1) * 4096, page * 4096);
    writeFileSync(file, bytes);
    const more = folder.writeLines('more.ndjson', linesOf(randomLedger(oddLedger(72)), 'scan'));
    const says = /^holdfast: --data .*: a database there is damaged: `holdfast verify` names what; .*malformed\)$/;
    for (const args of [
      ['replay', more],
      ['serve', '--port', '0', '--file', more],
    ]) {
      const ended = await runProgram([...args, '--data', data]);
      expect(ended.code, args[0]).toBe(1);
      expectOneLine(ended, says);
    }
    const verified = await runProgram(['verify', '--data', data]);
    expect(verified.code).toBe(5);
    expect(verified.stdout).toMatch(/^owner_total: expected an intact table/m);
  });
});

describe('a thread that dies', () => {
  it.each(['writer', 'feed'])('is told, and the process ends with 1: %s', async (name) => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      import { threadName } from 'node:worker_threads';
      if (threadName === '${name}') setTimeout(() => process.exit(7), 1);
    `)}`;
    const data = folder.at(`dead-${name}`);
    await replayInto(data, [], { snapshotPeriodUs: null });
    const ended = await runProgram(['serve', '--port', '0', '--data', data, '--file', feed], { preload });
    expect(ended.code).toBe(1);
    expectOneLine(ended, new RegExp(`^holdfast: the ${name} thread ended by itself`));
    await expectSound(data);
  });
});

describe('a limit of open files', () => {
  it('that is too low to start with is told in one line', async () => {
    const ended = await runProgram(['serve', '--port', '0', '--data', folder.at('few-files')], {
      limits: 'ulimit -n 22',
    });
    expect(ended.code).not.toBe(0);
    expect(ended.code).not.toBeNull();
    expectOneLine(ended, /^holdfast: .*(open|EMFILE)/);
  });

  it('that connections use up does not stop the ingest', async () => {
    const data = folder.at('many-connections');
    await using service = await startService(['--data', data, '--file', feed], { limits: 'ulimit -n 70' });
    const { url } = await service.program.logged('listening');
    const { port } = new URL(String(url));
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    await sleep(2_000);
    for (const socket of sockets) socket.destroy();
    await service.until('/readyz', isReady);
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(wanted);
  });
});

describe('a clock that jumps back', () => {
  it('keeps nothing from the disk, and no status from being told', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      const real = Date.now;
      const start = real();
      Date.now = () => (real() - start < 2500 ? real() : real() - 3600000);
    `)}`;
    const data = folder.at('clock');
    const fifo = folder.namedPipe('fifo');
    const lines = readFileSync(feed, 'utf8').split('\n').slice(0, 400);
    await using service = await startService(['--data', data, '--file', fifo], { preload });
    const pipe = createWriteStream(fifo);
    // Without a pause as long as one batch may stay open, from before the jump until behind it.
    for (const line of lines) {
      pipe.write(`${line}\n`);
      await sleep(10);
    }
    const isApplied = (_status: number, body: unknown): boolean =>
      (body as { counts: { updates: number } }).counts.updates > 350;
    await service.until('/status', isApplied);
    pipe.end();
    await service.until('/readyz', isReady);
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    await expectSound(data);
  });

  it('does not keep a snapshot from being forced for as long as it has jumped', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      const real = Date.now;
      const start = performance.now();
      Date.now = () => (performance.now() - start < 4000 ? real() : real() - 3600000);
    `)}`;
    const fifo = folder.namedPipe('forced-fifo');
    const lines = readFileSync(feed, 'utf8').split('\n').slice(0, 40);
    const args = ['--data', folder.at('forced'), '--file', fifo, '--force-snapshots'];
    await using service = await startService(args, { preload });
    const force = () => service.ask('/v0/state/acs/force', {});
    const isApplied = (count: number) => (_status: number, body: unknown) =>
      (body as { counts: { updates: number } }).counts.updates >= count;
    const pipe = createWriteStream(fifo);
    pipe.write(`${lines.slice(0, 20).join('\n')}\n`);
    await service.until('/status', isApplied(15));
    const first = await force();
    expect(first.status).toBe(200);
    pipe.write(`${lines.slice(20).join('\n')}\n`);
    await service.until('/status', isApplied(30));
    expect((await force()).status).toBe(429);
    // As long as snapshots are kept apart, and past the jump.
    await sleep(10_000);
    const second = await force();
    expect(second.status).toBe(200);
    expect(second.body).not.toEqual(first.body);
    pipe.end();
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
  });
});
