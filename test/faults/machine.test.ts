import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startService } from '../support/http/service.ts';
import { expectOneLine, expectSound, type FaultFeed, isReady, prepareFaultFeed } from '../support/ledger/fault-feed.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpRows } from '../support/views/views-dump.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
let feed = '';
let wanted: FaultFeed['wanted'] = {};

beforeAll(async () => {
  ({ path: feed, wanted } = await prepareFaultFeed(folder));
}, 120_000);

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
  it('is a separate answer to each request that meets it, and the service continues', async () => {
    const data = folder.at('damaged-reads');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    const listed = await holdfast('snapshots', '--json', '--data', data);
    const [{ migration_id, record_time }] = JSON.parse(listed.stdout);
    damage(join(data, 'views.db'), ['snapshot', 'total']);
    // A writer reads where each migration's digests continue, and so does not even start.
    await using service = await startService(['--data', data, '--read-only']);
    const question = { migration_id, record_time, owner_party_ids: ['a::b'] };
    for (let times = 0; times < 2; times++) {
      for (const answer of [
        await service.ask('/v1/holdings/summary', question),
        await service.ask('/readyz'),
        await service.ask('/holdfast/v1/stream'),
      ]) {
        expect(answer).toMatchObject({
          status: 500,
          body: { error: expect.stringMatching(/^internal server error \(request [0-9a-f-]{36}\)$/) },
        });
      }
      expect(await service.ask('/livez')).toMatchObject({ status: 200 });
    }
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
  });

  it('is named by verify wherever it is, and is no backup', async () => {
    const data = folder.at('damaged-anywhere');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    const whole = readFileSync(join(data, 'views.db'));
    for (const table of ['snapshot', 'holding', 'total', 'setting']) {
      writeFileSync(join(data, 'views.db'), whole);
      damage(join(data, 'views.db'), [table]);
      const verified = await holdfast('verify', '--data', data);
      expect(verified, table).toMatchObject({ code: 5, stderr: '' });
      expect(verified.stdout).toContain(`${table}: expected an intact table and indexes; found `);
    }
    const backup = await holdfast('backup', '--data', data, folder.at('backup'));
    expect(backup.code).toBe(1);
    expectOneLine(backup, /^holdfast: --data .*: a database there is damaged/);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('backup'))).toEqual([]);
  }, 120_000);

  it('ends what meets it with 1 and one line that says what to do', async () => {
    const data = folder.at('damaged');
    await replayInto(data, [feed], { snapshotPeriodUs: null });
    damage(join(data, 'views.db'), ['held', 'total']);
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
  });
});

describe('a value that views.db cannot have', () => {
  it('ends the writer with what to do, and is named by it', async () => {
    const data = folder.at('damaged-followed');
    await replayInto(data, []);
    const db = new DatabaseFile(join(data, 'views.db'));
    db.exec(`UPDATE setting SET followed = '{'`);
    db.close();
    const ended = await runProgram(['serve', '--port', '0', '--data', data]);
    expect(ended.code).toBe(1);
    const says =
      /^holdfast: --data .*: a database there is damaged: restore a backup, .*\(views\.db: setting\.followed: .*\)$/;
    expectOneLine(ended, says);
  });

  it('is named where a dead letter is shown', async () => {
    const data = folder.at('damaged-place');
    await replayInto(data, [folder.writeLines('bad.ndjson', ['{"update_id":1}'])]);
    const db = new DatabaseFile(join(data, 'views.db'));
    db.exec(`UPDATE dead_letter SET place = 'x'`);
    db.close();
    const listed = await holdfast('dead-letters', 'list', '--data', data);
    expect(listed.code).toBe(1);
    expectOneLine(
      listed,
      /^holdfast: --data .*: a database there is damaged: .*\(views\.db: dead_letter\.place: .*\)$/,
    );
  });
});

describe('a thread that dies', () => {
  it.each(['writer', 'feed', 'decode'])('is named, and the process ends with 1: %s', async (name) => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      import { threadName } from 'node:worker_threads';
      if (threadName === '${name}') setTimeout(() => process.exit(7), 1);
    `)}`;
    const data = folder.at(`dead-${name}`);
    await replayInto(data, [], { snapshotPeriodUs: null });
    const args = ['serve', '--port', '0', '--data', data, '--file', feed, '--decode-workers', '2'];
    const ended = await runProgram(args, { preload });
    expect(ended.code).toBe(1);
    expectOneLine(ended, new RegExp(`^holdfast: the ${name} thread ended by itself`));
    await expectSound(data);
  });
});

describe.concurrent('a limit of open files', () => {
  it('that is too low to start with is refused in one line', async () => {
    const ended = await runProgram(['serve', '--port', '0', '--data', folder.at('few-files')], {
      limits: 'ulimit -n 22',
    });
    expect(ended.code).not.toBe(0);
    expect(ended.code).not.toBeNull();
    expectOneLine(ended, /^holdfast: .*(open|EMFILE)/);
  });

  it('that connections use up does not stop the ingest', async () => {
    const data = folder.at('many-connections');
    await using service = await startService(['--data', data, '--file', feed], { limits: 'ulimit -n 84' });
    const { url } = await service.program.logged('listening');
    const { port } = new URL(String(url));
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    const open = (): number => readdirSync(`/proc/${service.program.pid}/fd`).length;
    await vi.waitFor(() => expect(open()).toBeGreaterThanOrEqual(80), { timeout: 60_000 });
    for (const socket of sockets) socket.destroy();
    // Until the service has closed its ends of them, it may close new connections without an answer.
    await vi.waitFor(() => service.until('/readyz', isReady), { timeout: 60_000 });
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    expect(dumpRows(data)).toEqual(wanted);
  });
});

describe.concurrent('a clock that jumps back', () => {
  it('keeps nothing from the disk, and no status from being shown', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(`
      const real = Date.now;
      const start = real();
      Date.now = () => (real() - start < 1500 ? real() : real() - 3600000);
    `)}`;
    const data = folder.at('clock');
    const fifo = folder.namedPipe('fifo');
    const lines = readFileSync(feed, 'utf8').split('\n').slice(0, 250);
    await using service = await startService(['--data', data, '--file', fifo], { preload });
    const pipe = createWriteStream(fifo);
    // Without a pause as long as one batch may stay open, from before the jump until after it.
    for (const line of lines) {
      pipe.write(`${line}\n`);
      await sleep(10);
    }
    const isApplied = (_status: number, body: unknown): boolean =>
      (body as { counts: { updates: number } }).counts.updates > 200;
    await service.until('/status', isApplied);
    pipe.end();
    await service.until('/readyz', isReady);
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    await expectSound(data);
  });
});
