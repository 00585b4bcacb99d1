import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { startService } from '../support/http/service.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { openFiles } from '../support/program/open-files.ts';
import { MAIN, runProgram, startProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const STORY = join(import.meta.dirname, '../../fixtures/story.scan.ndjson');
const EXPECTED = join(import.meta.dirname, '../../fixtures/story.expected.json');

interface Expected {
  readonly snapshots: readonly {
    readonly record_time: string;
    readonly migration_id: number;
    readonly summaries_v0: readonly Record<string, unknown>[];
  }[];
}

const isReady = (status: number): boolean => status === 200;

describe('the running program', () => {
  it('starts, answers from its views, and on SIGTERM ends with code 0 and its work on disk', async () => {
    using directory = temporaryDirectory();
    const { default: expected } = (await import(EXPECTED, { with: { type: 'json' } })) as { default: Expected };
    await using service = await startService(['--data', directory.at('data'), '--file', STORY]);
    await service.until('/readyz', isReady);
    const [snapshot] = expected.snapshots;
    for (const summary of snapshot!.summaries_v0) {
      const owners = (summary.summaries as { party_id: string }[]).map(({ party_id }) => party_id);
      const { migration_id, record_time } = snapshot!;
      const as_of_round = summary.computed_as_of_round;
      const asked = { migration_id, record_time, owner_party_ids: owners, as_of_round };
      expect(await service.ask('/v0/holdings/summary', asked)).toEqual({ status: 200, body: summary });
    }
    // Under /v2 are the ledger's users, and this.
    const page = { ...snapshot!, owner_party_ids: ['nobody::1'], page_size: 1 };
    expect(await service.ask('/v2/holdings/state', page)).toMatchObject({ status: 200, body: { created_events: [] } });
    expect(await service.ask('/v2/users')).toMatchObject({ status: 401 });
    const { body: status } = await service.ask('/status');
    expect(status).toMatchObject({ dso_pinned: false, halted: null, counts: { updates: 14 } });
    const { dso } = status as { dso: string };
    await service.program.logged(`the DSO is the first one seen; pin it with --dso "${dso}"`);
    service.program.kill('SIGTERM');
    const { code, signal } = await service.program.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(await holdfast('replay', '--data', directory.at('replayed'), STORY)).toMatchObject({ code: 0 });
    expect(dumpViews(directory.at('data'))).toEqual(dumpViews(directory.at('replayed')));
  });

  it.each([
    ['missing', ['no-such-file'], 'no-such-file does not exist'],
    ['a directory', ['.'], 'is a directory; name the feed files in it'],
    ['missing after a good one', [STORY, 'no-such-file'], 'no-such-file does not exist'],
  ])('ends by itself, with 2 and one line, where a feed file is %s', async (_, names, reason) => {
    using directory = temporaryDirectory();
    const files = names.flatMap((name) => ['--file', resolve(directory.path, name)]);
    const ended = await runProgram(['serve', '--data', directory.at('data'), '--port', '0', ...files]);
    const said = ended.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([ended.code, said]).toEqual([2, [expect.stringContaining(reason)]]);
  });

  it('ends by itself, with 2 and one line, where its feed files are out of order, and makes no directory', async () => {
    using directory = temporaryDirectory();
    const [day2, day1] = ['00:21 : +b bob 1', '00:11 : +a alice 1'].map((text, i) =>
      directory.writeLines(`day-${2 - i}`, linesOf(parseLedger(text), 'scan')),
    ) as [string, string];
    const serve = ['serve', '--data', directory.at('data'), '--port', '0', '--file'];
    const ended = await runProgram([...serve, day2, day1]);
    const said = ended.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([ended.code, said]).toEqual([2, [expect.stringContaining(`${day1} is given after ${day2}`)]]);
    expect(existsSync(directory.at('data'))).toBe(false);
    await using service = await startService([...serve.slice(1, 3), '--file', day1, day2]);
    await service.until('/status', (_, body) => (body as { counts: { updates: number } }).counts.updates === 2);
  });

  it('lets its ingest wait where requests need the processor', async () => {
    using directory = temporaryDirectory();
    const fifo = directory.namedPipe('fifo');
    await using service = await startService(['--data', directory.at('data'), '--file', fifo]);
    while (!openFiles(service.program.pid).has(fifo)) await sleep(20);
    const tasks = join('/proc', String(service.program.pid), 'task');
    const threads = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'stat'), 'utf8'));
    // After the name in parentheses the niceness is the 17th field (proc(5)).
    const niceness = threads.map((stat) => [/\((.*)\)/.exec(stat)![1], Number(stat.split(') ')[1]!.split(' ')[16])]);
    const of = (name: string) => new Set(niceness.filter(([thread]) => thread === name).map(([, nice]) => nice));
    const ours = getPriority();
    expect([of('writer'), of('feed')]).toEqual(Array(2).fill(new Set([Math.max(ours, 10)])));
    expect([of('reader'), of('libuv-worker')]).toEqual(Array(2).fill(new Set([ours])));
  });

  it('refuses a second writer on the same directory with code 2 and the pid of the first, and lets readers in', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    await using service = await startService(['--data', data, '--file', STORY]);
    await service.until('/readyz', isReady);
    const refusal = `holdfast: --data ${data}: process ${service.program.pid} writes to it; stop that one first\n`;
    expect(await runProgram(['replay', '--data', data, STORY])).toMatchObject({ code: 2, stdout: '', stderr: refusal });
    expect(await runProgram(['serve', '--data', data, '--port', '0'])).toMatchObject({ code: 2, stderr: refusal });
    expect(await runProgram(['snapshots', '--data', data])).toMatchObject({ code: 0, stderr: '' });
    expect((await service.ask('/readyz')).status).toBe(200);
  });
});

describe('SIGTERM while a named pipe is read', () => {
  const ONE = linesOf(parseLedger('00:01 : +a alice 10'), 'scan').join('\n');

  /** Opens it only once it is read. */
  async function writeLine(pipe: string): Promise<FileHandle> {
    const writer = await open(pipe, 'w');
    await writer.write(`${ONE}\n`);
    return writer;
  }

  it.each(['no writer yet', 'a writer keeps it open'])('ends serve with its work on disk (%s)', async (kind) => {
    using directory = temporaryDirectory();
    const [data, pipe] = [directory.at('data'), directory.namedPipe('pipe')];
    await using service = await startService(['--data', data, '--file', pipe]);
    await using writer = kind === 'a writer keeps it open' ? await writeLine(pipe) : null;
    const updates = writer === null ? 0 : 1;
    await service.until('/status', (_status, body) => {
      const { counts, source } = body as { counts: { updates: number }; source: { name: string } | null };
      return source?.name === pipe && counts.updates === updates;
    });
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0, signal: null });
    const { stdout } = await holdfast('replay', '--data', data, directory.writeLines('again', [ONE]));
    expect(stdout).toContain(`applied ${1 - updates} updates, ${1 - updates} events; redelivered ${updates};`);
  });
});

describe('a halt of the running program', () => {
  it('is 503 with the reason, while the answers of before stay; a restart is not ready either, and replay exits 3', async () => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : +b bob 20\n00:12 : -nothing\n00:21 : -a'), 'scan');
    const feed = directory.writeLines('feed.ndjson', lines);
    const bad = JSON.parse(lines[2]!) as { update_id: string };
    const asked = {
      migration_id: 0,
      record_time: '2025-02-12T00:10:00Z',
      owner_party_ids: ['alice::1220ab', 'bob::1220ab'],
    };
    const readyz = (body: unknown): string => (body as { reasons: string[] }).reasons.join();
    for (let start = 1; start <= 2; start++) {
      await using service = await startService([
        '--data',
        data,
        '--file',
        feed,
        '--on-bad-update',
        start === 1 ? 'halt' : 'quarantine',
      ]);
      const body = await service.until(
        '/readyz',
        (status, found) => status === 503 && readyz(found).includes('halted at'),
      );
      expect(readyz(body)).toContain(
        `halted at ${feed}, message 3: update ${bad.update_id}, record time 2025-02-12T00:12:00Z: `,
      );
      expect(readyz(body)).toContain('`holdfast dead-letters drop 1`');
      const answer = await service.ask('/v1/holdings/summary', asked);
      expect(answer).toMatchObject({
        status: 200,
        body: { summaries: [{ total_unlocked_coin: '10.0000000000' }, { total_unlocked_coin: '0.0000000000' }] },
      });
      expect((await service.ask('/livez')).status).toBe(200);
      expect((await service.ask('/status')).body).toMatchObject({
        halted: {
          offset: 3,
          update_id: bad.update_id,
          record_time: '2025-02-12T00:12:00Z',
          next: expect.stringContaining('retry'),
        },
        dead_letters: { halted: 1 },
      });
      expect(await service.program.logged('ingest is halted')).toMatchObject({
        dead_letter: 1,
        update_id: bad.update_id,
        record_time: '2025-02-12T00:12:00Z',
        field: expect.stringContaining('contract_id'),
        next: expect.stringContaining('holdfast dead-letters retry'),
      });
      service.program.kill('SIGTERM');
      const ended = await service.program.ended;
      expect(ended.code).toBe(0);
      expect(ended.stderr.split('ingest is halted')).toHaveLength(2);
    }
    const { code, stderr, stdout } = await runProgram(['replay', '--data', data, feed]);
    expect(code).toBe(3);
    expect(stderr).toContain(`halted at ${feed}, message 3: `);
    expect(stdout).toContain('newest snapshot 2025-02-12T00:10:00Z of migration 0');
  });

  it('is none under quarantine, where the log and /readyz name what was left out', async () => {
    using directory = temporaryDirectory();
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : -nothing\n00:12 : -nobody\n00:21 : -a'), 'scan');
    const args = ['--data', directory.at('data'), '--file', directory.writeLines('feed.ndjson', lines)];
    await using service = await startService([...args, '--on-bad-update', 'quarantine']);
    expect(await service.until('/readyz', isReady)).toMatchObject({
      degraded: ['2 updates are quarantined; see holdfast dead-letters list'],
    });
    expect(await service.program.logged('updates are quarantined; this is the newest')).toMatchObject({
      level: 40,
      kind: 'update',
      update_id: expect.stringMatching(/^u[23]$/),
      record_time: expect.stringMatching(/^2025-02-12T00:1/),
      reason: expect.stringContaining('was never created'),
      quarantined: expect.any(Number),
    });
    service.program.kill('SIGTERM');
    expect(await service.program.ended).toMatchObject({ code: 0 });
  });
});

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

it('serve serves the page, the documents and the metrics, and refuses a port that is taken in one line', async () => {
  await using first = await startService(['--data', folder.at('first')]);
  const url = String((await first.program.logged('listening')).url);
  for (const path of ['/docs', '/openapi/holdings.json', '/openapi/ledger.json', '/metrics', '/status', '/v2/version'])
    expect((await fetch(url + path)).status, path).toBe(200);
  const port = new URL(url).port;
  const second = await runProgram(['serve', '--data', folder.at('second'), '--port', port, '--log-level', 'silent']);
  expect(second).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^holdfast: cannot listen on --host 127\.0\.0\.1 --port \d+: .*EADDRINUSE.*\n$/),
  });
});

it('serve reads its settings from the environment', async () => {
  const env = { HOLDFAST_DATA: folder.at('environment'), HOLDFAST_PORT: '0', HOLDFAST_SERVICE_PORT: '80' };
  await using program = startProgram(['serve'], { env });
  const { url } = await program.logged('listening');
  expect((await fetch(`${String(url)}/readyz`)).status).toBe(503);
  program.kill('SIGINT');
  expect(await program.ended).toMatchObject({ code: 0, signal: null });
});

it('replay reads standard input', () => {
  const input = readFileSync(fixture('story.scan.ndjson'));
  const args = [MAIN, 'replay', '--data', folder.at('piped'), '-'];
  const { status, stdout } = spawnSync(process.execPath, args, { input, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^applied 14 updates, /)]);
});

it('a process whose reader goes away ends without any message', () => {
  const script = 'set -o pipefail; "$0" "$1" --help 2>said | true; echo $? >code';
  spawnSync('bash', ['-c', script, process.execPath, MAIN], { cwd: folder.path });
  expect([readFileSync(folder.at('code'), 'utf8'), readFileSync(folder.at('said'), 'utf8')]).toEqual(['0\n', '']);
});

const directory = freshDirectory();
/** The widest modes that a process can make files with. */
const OPEN = { limits: 'umask 0' };
const DATABASES = ['lock.db', 'users.db', 'users.db-shm', 'users.db-wal', 'views.db', 'views.db-shm', 'views.db-wal'];

/** The modes of the databases' files in a folder, of those that others may read or write. */
function openToOthers(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes('.db'));
  return names.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
}

it('keeps databases and their logs private, whatever the mode of the directory and the umask', async () => {
  const data = directory.at('data');
  mkdirSync(data);
  chmodSync(data, 0o755);
  const feed = directory.writeLines('feed.ndjson', [emptyUpdate('s', 0), emptyUpdate('s', 1_000)]);
  const args = ['serve', '--data', data, '--port', '0', '--file', feed];
  {
    await using service = startProgram(args, OPEN);
    await service.logged('listening');
    await expect.poll(() => readdirSync(data)).toEqual(expect.arrayContaining(DATABASES));
    expect(openToOthers(data)).toEqual([]);
    service.kill('SIGKILL');
    await service.ended;
  }
  for (const name of DATABASES) chmodSync(join(data, name), 0o666);
  {
    await using service = startProgram(args, OPEN);
    await service.logged('listening');
    expect(openToOthers(data)).toEqual([]);
  }
  expect(statSync(data).mode & 0o777).toBe(0o755);
});
