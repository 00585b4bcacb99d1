import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { metricsAskedFor } from '../support/deploy/expressions.ts';
import { programPath } from '../support/deploy/prometheus.ts';
import { startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { writeStory } from '../support/scale/fresh-store.ts';
import { type PostgresServer, startPostgres } from '../support/scale/postgres.ts';

const PASSWORD = 'a secret of alice';

let server: PostgresServer;
let directory: TemporaryDirectory;
/** Options of a service that connects with TLS and a password, as a reader. */
let options: string[];
beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startPostgres();
  await writeStory(server);
  const at = ['-keyout', directory.at('server.key'), '-out', directory.at('server.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=a test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '9'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...at, ...subject], { stdio: 'ignore' });
  server.writeFile('server.key', readFileSync(directory.at('server.key'), 'utf8'));
  server.writeFile('server.crt', readFileSync(directory.at('server.pem'), 'utf8'));
  server.writeFile('pg_hba.conf', 'hostssl all alice 127.0.0.1/32 scram-sha-256\nhost all owner 127.0.0.1/32 trust\n');
  await using admin = await server.connect();
  await admin.query(`CREATE ROLE alice LOGIN PASSWORD '${PASSWORD}'; GRANT holdfast_reader TO alice`);
  await admin.query('ALTER SYSTEM SET ssl = on');
  await admin.query('SELECT pg_reload_conf()');
  const hasTls = async (): Promise<boolean> => (await admin.query('SHOW ssl')).rows[0].ssl === 'on';
  await vi.waitUntil(hasTls, { timeout: 60_000 });
  writeFileSync(directory.at('password'), `${PASSWORD}\n`);
  const tls = ['--postgres-ca', directory.at('server.pem')];
  options = ['--postgres', server.url('alice'), ...tls, '--postgres-password-file', directory.at('password')];
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const SUMMARY = '/v1/holdings/summary';
const QUESTION = {
  migration_id: 0,
  record_time: '2025-02-12T00:30:00Z',
  owner_party_ids: ['alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec'],
};

/** How many statements of readers run now. */
async function running(client: Awaited<ReturnType<PostgresServer['connect']>>): Promise<number> {
  const { rows } = await client.query(
    "SELECT FROM pg_stat_activity WHERE usename = 'alice' AND state = 'active' AND query LIKE '%snapshot%'",
  );
  return rows.length;
}

async function metricsOf({ url }: { readonly url: unknown }): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  return response.text();
}

/** To a client, without a word of where the store is. */
const NOT_NOW = 'the store is not available for now; /readyz or the log says why';

it('serves what it seals itself, and survives a database that goes away', async () => {
  await using service = await startService([...options, '--metrics-address', '127.0.0.1:0']);
  const ofMetrics = { url: (await service.program.logged('metrics are served')).url };
  expect((await service.ask('/metrics')).status).toBe(404);
  await service.until('/readyz', (status) => status === 200);
  const { status, body: before } = await service.ask(SUMMARY, QUESTION);
  expect(status).toBe(200);
  expect((await service.ask('/status')).body).toMatchObject({
    phase: 'read_only',
    store: { available: true, unsealed_intervals: 0, faults: 0, late_events: 0 },
    newest_snapshot_age_seconds: expect.any(Number),
    snapshots: [{ migration_id: 0 }],
    dso_pinned: true,
    last_error: null,
  });
  expect(await service.ask('/holdfast/v1/stream', { owners: ['a::1220'], events: 'movements' })).toEqual({
    ...{ status: 501, body: { error: expect.stringMatching(/^not kept by this store/), code: 'unsupported' } },
  });
  const asked = ['movements', '--owner', QUESTION.owner_party_ids[0]!, '--url', service.url];
  expect(await holdfast(...asked)).toEqual({
    ...{
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^holdfast: not kept by this store: it has totals of snap/),
    },
  });
  const told = await metricsOf(ofMetrics);
  expect(told).toMatch(/^holdfast_store_unsealed_intervals 0$/m);
  // The same that alerts and dashboard ask for: test/deploy/alerts.test.ts has all others.
  const names = [...told.matchAll(/^# TYPE (holdfast_store_\w+) /gm)].map(([, name]) => name!);
  expect(metricsAskedFor('holdfast_store_')).toEqual(names.sort());
  const checked = spawnSync(programPath('promtool'), ['check', 'metrics'], { input: told, encoding: 'utf8' });
  expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });

  {
    await using admin = await server.connect();
    await admin.query("INSERT INTO late VALUES (0, 0, '', 'A')");
    const degraded = ['1 event in table late: nothing more of their migration is sealed'];
    expect(await service.ask('/readyz')).toEqual({ status: 200, body: { ready: true, reasons: [], degraded } });
    await admin.query('DELETE FROM late');
  }

  const [holder, admin] = [await server.connect(), await server.connect()];
  for (const client of [holder, admin]) client.on('error', () => {});
  await holder.query('BEGIN; LOCK TABLE snapshot');
  const cut = service.ask(SUMMARY, QUESTION);
  await expect.poll(() => running(admin)).toBe(1);
  await server.stop();
  expect(await cut).toMatchObject({ status: 503 });
  const away = /PostgreSQL at 127\.0\.0\.1:\d+, database postgres, user alice is not available: /;
  expect(await service.ask('/readyz')).toMatchObject({ status: 503, body: { reasons: [expect.stringMatching(away)] } });
  expect(await service.ask(SUMMARY, QUESTION)).toEqual({ status: 503, body: { error: NOT_NOW } });
  const stream = await fetch(`${service.url}/holdfast/v1/stream`);
  expect([stream.status, stream.headers.get('retry-after')]).toEqual([503, '10']);
  expect((await service.ask('/status')).body).toMatchObject({ store: { available: false }, snapshots: [] });
  const metrics = await metricsOf(ofMetrics);
  expect(metrics).toMatch(/^holdfast_not_ready\{cause="store_unavailable"\} 1$/m);
  expect(metrics).not.toMatch(/^holdfast_store_unsealed_intervals \d/m);

  await server.start();
  await service.until('/readyz', (status) => status === 200);
  expect(await service.ask(SUMMARY, QUESTION)).toEqual({ status: 200, body: before });
  service.program.kill('SIGTERM');
  expect(await service.program.ended).toMatchObject({ code: 0, signal: null });
});

it('is not ready with a wrong password, which it shows nowhere, and with a server that it cannot trust', async () => {
  const wrong = 'a wrong secret';
  writeFileSync(directory.at('wrong'), wrong);
  await using service = await startService([...options.slice(0, -1), directory.at('wrong')]);
  const refused = await service.ask('/readyz');
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({ reasons: [expect.stringMatching(/password authentication failed/)] });
  await service.program.logged('no snapshot can be sealed; trying again');
  expect(await service.ask(SUMMARY, QUESTION)).toEqual({ status: 503, body: { error: NOT_NOW } });
  await service.program.logged('the store was not available for a client');
  const said = [refused.body, (await service.ask('/status')).body, await metricsOf(service)];
  service.program.kill('SIGTERM');
  const { stdout, stderr } = await service.program.ended;
  expect(JSON.stringify([said, stdout, stderr])).not.toContain(wrong);

  await using distrusting = await startService(['--postgres', `${server.url('alice')}?sslmode=require`]);
  expect(await distrusting.ask('/readyz')).toMatchObject({
    status: 503,
    body: { reasons: [expect.stringMatching(/self-signed certificate/)] },
  });
});

it('answers and says so where it may not seal', async () => {
  await using admin = await server.connect();
  await admin.query('SELECT seal(100)');
  await admin.query('CREATE ROLE reading; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reading');
  await admin.query('REVOKE holdfast_reader FROM alice; GRANT reading TO alice');
  await using service = await startService(options);
  const cannot = expect.stringMatching(/^nothing can be sealed: .*permission denied for function seal/) as string;
  const body = { ready: true, reasons: [], degraded: [cannot] };
  await expect.poll(() => service.ask('/readyz')).toEqual({ status: 200, body });
});

it('takes no setting of a service that writes', async () => {
  const { code, stderr } = await runProgram(['serve', '--postgres', server.url(), '--dso', 'a::12']);
  expect([code, stderr]).toEqual([
    2,
    'holdfast: --dso cannot be given with --postgres, which only reads what another process writes\n',
  ]);
});
