import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startService } from '../support/http/service.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

it('a process that only reads says what views.db stores, also while that changes, and ends where it is replaced', async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.at('data');
  const replay = async (ledger: string, code: number, ...options: string[]): Promise<void> => {
    const feed = directory.writeLines('feed', linesOf(parseLedger(ledger), 'scan'));
    expect(await holdfast('replay', '--data', dataDir, ...options, feed)).toMatchObject({ code });
  };
  await replay('00:01 : +a alice 10\n00:11 : +b bob 20', 0);
  await using service = await startService(['--data', dataDir, '--read-only']);
  const readiness = { ready: true, reasons: [] };
  expect(await service.ask('/readyz')).toEqual({ status: 200, body: { ...readiness, degraded: [] } });
  expect((await service.ask('/status')).body).toEqual({
    version: expect.any(String),
    phase: 'read_only',
    source: null,
    snapshots: [{ migration_id: 0, record_time: '2025-02-12T00:10:00Z' }],
    dso: 'DSO::1220ab',
    dso_pinned: false,
    dead_letters: {},
    halted: null,
    degraded: [],
    tokens: 'off',
    holdings_unreadable: 0,
  });
  // It has no users and no forced snapshots.
  expect(await service.ask('/v0/state/acs/force', {})).toMatchObject({ status: 400 });
  for (const path of ['/v2/version', '/v2/users', '/openapi/ledger.json'])
    expect(await service.ask(path)).toEqual({
      status: 404,
      body: { error: `no such path: ${path}; /docs has all of them` },
    });
  for (const path of ['/openapi/holdings.json', '/holdfast/v1/snapshots', '/api/scan/v0/migrations/last'])
    expect(await service.ask(path)).toMatchObject({ status: 200 });

  await replay('00:12 : -nothing', 3, '--on-bad-update', 'quarantine');
  const quarantined = '1 update is quarantined; see `holdfast dead-letters list`';
  expect((await service.ask('/readyz')).body).toEqual({ ...readiness, degraded: [quarantined] });

  await replay('00:13 : -nobody', 3);
  const halted = expect.stringMatching(/^halted at .*message 1: .*dead-letters/) as string;
  expect(await service.ask('/readyz')).toEqual({
    status: 200,
    body: { ...readiness, degraded: [halted, quarantined] },
  });
  expect((await service.ask('/status')).body).toMatchObject({
    dead_letters: { halted: 1, quarantined: 1 },
    halted: { dead_letter: 2, code: 'not_active', next: expect.stringContaining('retry') },
  });

  expect(await holdfast('backup', '--data', dataDir, directory.at('backup'))).toMatchObject({ code: 0 });
  renameSync(dataDir, directory.at('before'));
  expect(await holdfast('restore', '--data', dataDir, directory.at('backup'))).toMatchObject({ code: 0 });
  const { code, stderr } = await service.program.ended;
  expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([
    1,
    `holdfast: ${join(dataDir, 'views.db')} was replaced or removed while it was read: start this process again`,
  ]);
});

it('refuses by name what needs a service that writes, and a directory without views, which it does not make', async () => {
  using directory = temporaryDirectory();
  const none = `--data ${directory.at('none')}: there is no views.db in it; replay a feed into it first\n`;
  const serve = (...args: readonly string[]) =>
    holdfast('serve', '--read-only', '--data', directory.at('none'), '--port', '0', ...args);
  const config = (name: string, json: string): string[] => ['--config', directory.writeLines(name, [json])];
  for (const [named, ...args] of [
    ['--kafka-brokers', '--kafka-brokers', 'broker:9092', '--kafka-topic', 'updates'],
    ['--file', '--file', 'feed'],
    ['--force-snapshots', '--force-snapshots'],
    ['--ready-lag-max', '--ready-lag-max', '1m'],
    ['--participant-id', '--participant-id', 'p'],
    ['ledger.json', ...config('ledger.json', '{"ledger": {}}')],
    ['force.json', ...config('force.json', '{"forceSnapshots": true}')],
  ] as const) {
    const said = `${named} cannot be given with --read-only, which only reads what another process writes\n`;
    expect(await serve(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  }
  for (const args of [[], config('none.json', '{"forceSnapshots": false}')])
    expect(await serve(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(none) });
  expect(await holdfast('snapshots', '--data', directory.at('none'))).toMatchObject({ code: 2 });
});
