import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/http/service.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { type Ended, runProgram } from '../support/program/program.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

/** A directory with a snapshot, and what else a ledger has. */
async function replayed(directory: TemporaryDirectory, ledger = '', ...options: string[]): Promise<string> {
  const dataDir = directory.at('data');
  const feed = directory.writeLines(
    'feed',
    linesOf(parseLedger(`00:01 : +a alice 10\n00:11 : +b bob 20\n${ledger}`), 'scan'),
  );
  const { code } = await holdfast('replay', '--data', dataDir, ...options, feed);
  expect([0, 3]).toContain(code);
  return dataDir;
}

const reading = (dataDir: string): Promise<Service> => startService(['--data', dataDir, '--read-only']);

function lastLine({ stderr }: Ended): string {
  return stderr.trimEnd().split('\n').at(-1)!;
}

describe('a process that only reads', () => {
  it('says of itself what views.db stores, and has no users and no forced snapshots', async () => {
    using directory = temporaryDirectory();
    await using service = await reading(await replayed(directory));
    expect(await service.ask('/readyz')).toEqual({ status: 200, body: { ready: true, reasons: [], degraded: [] } });
    expect((await service.ask('/status')).body).toEqual({
      version: expect.any(String),
      phase: 'read_only',
      source: null,
      snapshots: [{ migration_id: 0, record_time: '2025-02-12T00:10:00Z' }],
      dso: 'DSO::1220ab',
      dso_pinned: false,
      dead_letters: {},
      halted: null,
    });
    expect(await service.ask('/v0/state/acs/force', {})).toMatchObject({ status: 400 });
    for (const path of ['/v2/version', '/v2/users', '/openapi/ledger.json'])
      expect(await service.ask(path)).toEqual({ status: 404, body: { error: `no such path: ${path}` } });
    for (const path of ['/openapi/holdings.json', '/holdfast/v1/snapshots', '/api/scan/v0/migrations/last'])
      expect(await service.ask(path)).toMatchObject({ status: 200 });
  });

  it('is ready, and degraded, where the directory is halted', async () => {
    using directory = temporaryDirectory();
    await using service = await reading(await replayed(directory, '00:12 : -nothing'));
    expect(await service.ask('/readyz')).toEqual({
      status: 200,
      body: { ready: true, reasons: [], degraded: [expect.stringMatching(/^halted at .*message 3: .*dead-letters/)] },
    });
    expect((await service.ask('/status')).body).toMatchObject({
      dead_letters: { halted: 1 },
      halted: { dead_letter: 1, code: 'not_active', next: expect.stringContaining('retry') },
    });
  });

  it('counts what is quarantined, also while it runs', async () => {
    using directory = temporaryDirectory();
    const quarantine = ['--on-bad-update', 'quarantine'];
    const dataDir = await replayed(directory, '00:12 : -nothing', ...quarantine);
    await using service = await reading(dataDir);
    const degraded = (await service.ask('/readyz')).body as { degraded: string[] };
    expect(degraded.degraded).toEqual(['1 update is quarantined; see holdfast dead-letters list']);
    const more = directory.writeLines('more', linesOf(parseLedger('00:13 : -nobody'), 'scan'));
    expect(await holdfast('replay', '--data', dataDir, ...quarantine, more)).toMatchObject({ code: 3 });
    expect((await service.ask('/status')).body).toMatchObject({ dead_letters: { quarantined: 2 } });
  });

  it('ends where the directory is replaced', async () => {
    using directory = temporaryDirectory();
    const dataDir = await replayed(directory);
    const backup = directory.at('backup');
    expect(await holdfast('backup', '--data', dataDir, backup)).toMatchObject({ code: 0 });
    await using service = await reading(dataDir);
    renameSync(dataDir, directory.at('before'));
    expect(await holdfast('restore', '--data', dataDir, backup)).toMatchObject({ code: 0 });
    const ended = await service.program.ended;
    expect([ended.code, lastLine(ended)]).toEqual([
      1,
      `holdfast: ${join(dataDir, 'views.db')} was replaced or removed while it was read: start this process again`,
    ]);
  });

  it('is refused a directory in which there is nothing to read, and makes none', async () => {
    using directory = temporaryDirectory();
    const ended = await runProgram(['serve', '--read-only', '--data', directory.at('none'), '--port', '0']);
    const none = `holdfast: --data ${directory.at('none')}: there is no views.db in it; replay a feed into it first\n`;
    expect(ended).toMatchObject({ code: 2, stderr: none });
    await expect(runProgram(['snapshots', '--data', directory.at('none')])).resolves.toMatchObject({ code: 2 });
  });
});

it('refuses by name what needs a service that writes', async () => {
  using directory = temporaryDirectory();
  const needs = async (named: string, ...args: readonly string[]): Promise<void> =>
    expect(await holdfast('serve', '--read-only', '--data', directory.at('none'), ...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `${named} cannot be given with --read-only, which only reads what another process writes\n`,
      ),
    });
  await needs('--kafka-brokers', '--kafka-brokers', 'broker:9092', '--kafka-topic', 'updates');
  for (const option of [
    ['--file', 'feed'],
    ['--force-snapshots'],
    ['--ready-lag-max', '1m'],
    ['--participant-id', 'p'],
  ])
    await needs(option[0]!, ...option);
  const config = (json: string): string[] => ['--config', directory.writeLines('holdfast.json', [json])];
  await needs('holdfast.json', ...config('{"ledger": {}}'));
  await needs('holdfast.json', ...config('{"forceSnapshots": true}'));
  const { stderr } = await holdfast(
    'serve',
    '--read-only',
    '--data',
    directory.at('none'),
    ...config('{"forceSnapshots": false}'),
  );
  expect(stderr).toContain('there is no views.db in it');
});
