import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { startService } from '../support/http/service.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { MAIN, startProgram } from '../support/program/program.ts';
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
  it('starts, answers from its views, lets no other write, and on SIGTERM ends with code 0 and its work on disk', async () => {
    using directory = temporaryDirectory();
    const { default: expected } = (await import(EXPECTED, { with: { type: 'json' } })) as { default: Expected };
    const data = directory.at('data');
    const env = { HOLDFAST_DATA: data, HOLDFAST_FILE: STORY, HOLDFAST_SERVICE_PORT: '80' };
    await using service = await startService([], { env });
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
    for (const path of ['/docs', '/openapi/holdings.json', '/openapi/ledger.json', '/metrics', '/v2/version'])
      expect((await fetch(service.url + path)).status, path).toBe(200);
    const { body: status } = await service.ask('/status');
    expect(status).toMatchObject({ dso_pinned: false, halted: null, counts: { updates: 14 } });
    const { dso } = status as { dso: string };
    await service.program.logged(`the DSO is the first one seen; pin it with --dso "${dso}"`);

    const stderr = `holdfast: --data ${data}: process ${service.program.pid} writes to it; stop that one first\n`;
    expect(await holdfast('replay', '--data', data, STORY)).toMatchObject({ code: 2, stdout: '', stderr });
    const silent = ['--log-level', 'silent'];
    expect(await holdfast('serve', '--data', data, '--port', '0', ...silent)).toMatchObject({ code: 2, stderr });
    expect(await holdfast('snapshots', '--data', data)).toMatchObject({ code: 0, stderr: '' });
    const other = ['--data', directory.at('other'), '--port', new URL(service.url).port, ...silent];
    expect(await holdfast('serve', ...other)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^holdfast: cannot listen on --host 127\.0\.0\.1 --port \d+: .*EADDRINUSE.*\n$/),
    });

    service.program.kill('SIGTERM');
    const { code, signal } = await service.program.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(await holdfast('replay', '--data', directory.at('replayed'), STORY)).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(dumpViews(directory.at('replayed')));
  });

  it('ends by itself, with 2 and one line, where feed files are missing, directories or out of order, and makes no directory', async () => {
    using directory = temporaryDirectory();
    const [day2, day1] = ['00:21 : +b bob 1', '00:11 : +a alice 1'].map((text, i) =>
      directory.writeLines(`day-${2 - i}`, linesOf(parseLedger(text), 'scan')),
    ) as [string, string];
    const missing = directory.at('no-such-file');
    for (const [reason, ...files] of [
      [`${day1} is given after ${day2}`, day2, day1],
      ['no-such-file does not exist', missing],
      ['is a directory; name the feed files in it', directory.path],
      ['no-such-file does not exist', STORY, missing],
    ] as const) {
      const ended = await holdfast('serve', '--data', directory.at('data'), '--port', '0', '--file', ...files);
      const said = ended.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      expect([ended.code, said]).toEqual([2, [expect.stringContaining(reason)]]);
      if (files.at(-1) === day1) expect(existsSync(directory.at('data'))).toBe(false);
    }
  });
});

describe('a signal while a named pipe is read', () => {
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
    expectPriorities(service.program.pid);
    service.program.kill(writer === null ? 'SIGTERM' : 'SIGINT');
    expect(await service.program.ended).toMatchObject({ code: 0, signal: null });
    const { stdout } = await holdfast('replay', '--data', data, directory.writeLines('again', [ONE]));
    expect(stdout).toContain(`applied ${1 - updates} updates, ${1 - updates} events; redelivered ${updates};`);
  });
});

/** The ingest waits where requests need the processor. */
function expectPriorities(pid: number): void {
  const tasks = join('/proc', String(pid), 'task');
  const threads = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'stat'), 'utf8'));
  // After the name in parentheses the niceness is the 17th field (proc(5)).
  const niceness = threads.map((stat) => [/\((.*)\)/.exec(stat)![1], Number(stat.split(') ')[1]!.split(' ')[16])]);
  const of = (name: string) => new Set(niceness.filter(([thread]) => thread === name).map(([, nice]) => nice));
  const ours = getPriority();
  expect([of('writer'), of('feed')]).toEqual(Array(2).fill(new Set([Math.max(ours, 10)])));
  expect([of('reader'), of('libuv-worker')]).toEqual(Array(2).fill(new Set([ours])));
}

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
      const isHalted = (found: unknown): boolean => (found as { halted: object | null }).halted !== null;
      await service.until('/status', (_, found) => isHalted(found));
      const { body } = await service.ask('/readyz');
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
    const { code, stderr, stdout } = await holdfast('replay', '--data', data, feed);
    expect(code).toBe(3);
    expect(stderr).toContain(`halted at ${feed}, message 3: `);
    expect(stdout).toContain('newest snapshot 2025-02-12T00:10:00Z of migration 0');
  });
});

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

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
