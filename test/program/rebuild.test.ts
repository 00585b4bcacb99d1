import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { expect, it } from 'vitest';
import { type Service, startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const STORY = join(import.meta.dirname, '../../fixtures/story.scan.ndjson');

/** A request of the ledger area with a token of the directory. */
async function asking(service: Service, token: string, path: string, body?: unknown): Promise<unknown> {
  const { url } = await service.program.logged('listening');
  const response = await fetch(`${String(url)}${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return await response.json();
}

it('a service whose views are of an older version is rebuilt, and its users, tokens and names are what they were', async () => {
  using folder = temporaryDirectory();
  const data = folder.at('data');
  const args = ['--data', data, '--file', STORY];
  const token = (await holdfast('token', '--data', data, '--user', 'participant_admin')).stdout.trim();
  const users = async (service: Service): Promise<unknown> => [
    await asking(service, token, '/v2/users'),
    await asking(service, token, '/v2/users/alice/rights'),
  ];
  let before: unknown;
  {
    await using service = await startService(args);
    await service.until('/readyz', (status) => status === 200);
    const rights = [{ kind: { CanReadAs: { value: { party: 'alice::1220' } } } }];
    await asking(service, token, '/v2/users', { user: { id: 'alice' }, rights });
    before = await users(service);
    const whileItRuns = await runProgram(['rebuild', '--data', data, '--yes']);
    expect(whileItRuns).toMatchObject({ code: 2, stdout: '' });
    expect(whileItRuns.stderr).toContain(`process ${service.program.pid} writes to it; stop that one first`);
    service.program.kill('SIGTERM');
    expect((await service.program.ended).code).toBe(0);
  }
  const rows = dumpViews(data);
  const kept = ['users.db', 'token-secret'].map((name) => readFileSync(join(data, name)));
  const version = asOlder(data);

  const refused = await runProgram(['serve', '--port', '0', ...args]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run \`holdfast rebuild --data ${data}\``);
  expect(await runProgram(['rebuild', '--data', data])).toMatchObject({ code: 0, stderr: '' });
  expect(['users.db', 'token-secret'].map((name) => readFileSync(join(data, name)))).toEqual(kept);
  expect(readdirSync(data)).toContain(`views.db.version-${version}`);

  await using service = await startService(args);
  await service.until('/readyz', (status) => status === 200);
  expect(await users(service)).toEqual(before);
  expect((await service.ask('/status')).body).toMatchObject({ counts: { updates: 14, redelivered: 0 } });
  service.program.kill('SIGTERM');
  await service.program.ended;
  expect(dumpViews(data)).toEqual(rows);
});

/** As the program before this one left it. */
function asOlder(data: string): number {
  const db = new DatabaseFile(join(data, 'views.db'));
  try {
    const version = (db.pragma('user_version', { simple: true }) as number) - 1;
    db.pragma(`user_version = ${version}`);
    return version;
  } finally {
    db.close();
  }
}
