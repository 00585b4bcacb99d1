import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../support/http/service.ts';
import { expectOneLine, expectSound, type FaultFeed, isReady, prepareFaultFeed } from '../support/ledger/fault-feed.ts';
import { createRandom } from '../support/ledger/random.ts';
import { preloadSmallEpochs, runProgram, startProgram } from '../support/program/program.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';
import { dumpRows } from '../support/views/views-dump.ts';

/** Blocks of 512 bytes, in which a shell counts the size of a file. A disk with this room for each file is soon full. */
const SMALL_DISK = 'ulimit -S -f 1500';
const NOBODY = 65_534;

const preload = preloadSmallEpochs(50);
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
let feed = '';
let wanted: FaultFeed['wanted'] = {};

beforeAll(async () => {
  ({ path: feed, wanted } = await prepareFaultFeed(folder));
}, 120_000);

const isRetrying = (status: number, body: unknown): boolean =>
  status === 503 && /unavailable .*disk (is|may be) full.*; it is tried again/.test(JSON.stringify(body));

describe('a full disk', () => {
  it('is waited for by serve, which says so and continues once there is room', async () => {
    const data = folder.at('full-serve');
    await using service = await startService(['--data', data, '--file', feed], { limits: SMALL_DISK, preload });
    await service.until('/readyz', isRetrying);
    expect((await service.ask('/livez')).status).toBe(200);
    expect(await service.ask('/status')).toMatchObject({ body: { phase: 'retrying' } });
    expect(spawnSync('prlimit', ['--pid', String(service.program.pid), '--fsize=unlimited']).status).toBe(0);
    await service.until('/readyz', isReady);
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
    expect(dumpRows(data)).toEqual(wanted);
    await expectSound(data);
  });

  it('that has the log costs lines of it, but not the service', async () => {
    const log = folder.writeLines('serve.log', ['x'.repeat(8_100)]);
    const args = ['serve', '--port', '0', '--data', folder.at('full-log')];
    await using program = startProgram(args, { limits: `exec 2>>${log}; ulimit -S -f 16` });
    // Not even the tables fit, so it tries again, and says so each time.
    while (statSync(log).size < 8_192) await sleep(50);
    expect(statSync(log).size).toBe(8_192);
    expect(spawnSync('prlimit', ['--pid', String(program.pid), '--fsize=unlimited']).status).toBe(0);
    while (!readFileSync(log, 'utf8').includes('"msg":"listening"')) await sleep(50);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines.slice(2).map((line) => JSON.parse(line) as object)).not.toEqual([]);
  });

  it.each(Array.from({ length: soakCount(1) }, (_, seed) => seed))(
    'ends a replay with 1 and one line, and nothing is half written (seed %i)',
    async (seed) => {
      const data = folder.at(`full-${seed}`);
      const random = createRandom(seed);
      for (let room = 100 + random.below(1_000); ; room *= 6) {
        const ended = await runProgram(['replay', '--data', data, feed], { limits: `ulimit -f ${room}`, preload });
        if (ended.code === 0) break;
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expectOneLine(ended, /^holdfast: --data .*: (the disk is full|the disk cannot be read or written)/);
        if (readdirSync(data).includes('views.db') && hasTables(data)) await expectSound(data);
      }
      expect(dumpRows(data)).toEqual(wanted);
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

describe.concurrent('a database that another program has locked', () => {
  async function held(name: string): Promise<{ readonly data: string; readonly db: DatabaseFile.Database }> {
    const data = folder.at(name);
    await replayInto(data, []);
    const db = new DatabaseFile(join(data, 'views.db'));
    db.exec('BEGIN IMMEDIATE');
    return { data, db };
  }

  it('ends a replay with 1 and one line', async () => {
    const { data, db } = await held('locked-replay');
    const ended = await runProgram(['replay', '--data', data, feed]);
    db.close();
    expect(ended.code).toBe(1);
    expectOneLine(ended, /^holdfast: --data .*: another program holds the database: .* \(database is locked\)$/);
  });

  it('is waited for by serve', async () => {
    const { data, db } = await held('locked-serve');
    await using program = startProgram(['serve', '--port', '0', '--data', data, '--file', feed]);
    const unavailable = String((await program.logged('answering that the service is unavailable')).url);
    const reason = 'the data directory cannot be opened (database is locked); it is tried again';
    expect((await fetch(`${unavailable}/livez`)).status).toBe(200);
    expect(await (await fetch(`${unavailable}/readyz`)).json()).toEqual({
      ready: false,
      reasons: [reason],
      degraded: [],
    });
    const summary = await fetch(`${unavailable}/api/scan/v1/holdings/summary`, { method: 'POST', body: '{}' });
    expect([summary.status, await summary.json()]).toEqual([503, { error: reason }]);
    db.exec('ROLLBACK');
    db.close();
    const { url } = await program.logged('listening');
    while ((await fetch(`${String(url)}/readyz`)).status !== 200) await sleep(50);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
    expect(dumpRows(data)).toEqual(wanted);
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
    ]) {
      const ended = await runProgram([...args, '--data', data], uid);
      expect(ended.code, args[0]).toBe(2);
      expectOneLine(ended, /^holdfast: --data .*: cannot be written to \(/);
    }
    chmodSync(data, 0o755);
  });
});
