import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dashboardQueries, metricsIn } from '../support/deploy/expressions.ts';
import { programPath, RULES } from '../support/deploy/prometheus.ts';
import { type Service, startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const STORY = join(import.meta.dirname, '../../fixtures/story.scan.ndjson');

interface Status {
  readonly counts: Readonly<Record<string, number>> & {
    readonly ignored: Readonly<Record<string, number>>;
    readonly events_by_kind: Readonly<Record<string, number>>;
  };
  readonly snapshots: readonly { readonly migration_id: number; readonly record_time: string }[];
}

/** The metrics of a service by name and labels, such as `holdfast_ignored_total{what="other template"}`. */
async function metricsOf({ url }: Service): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

/** Those of a metric with one label, by the label's value. */
function byLabel(metrics: ReadonlyMap<string, number>, name: string): Record<string, number> {
  const own = [...metrics].filter(([key]) => key.startsWith(`${name}{`));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(key.indexOf('"') + 1, -2), value]));
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, each) => all + each, 0);
}

function nonZero(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== 0));
}

describe('the metrics of a running service', () => {
  it('say what was applied, as /status does, how long it took, and what rules and dashboard ask for; those of a reader nothing of an ingest', async () => {
    using directory = temporaryDirectory();
    const peer = ['--compare-with', 'http://127.0.0.1:9'];
    await using service = await startService(['--data', directory.at('data'), '--file', STORY, ...peer]);
    await service.until('/readyz', (status) => status === 200);
    const { counts, snapshots } = (await service.ask('/status')).body as Status;
    const metrics = await metricsOf(service);
    for (const [metric, count] of [
      ['updates', 'updates'],
      ['updates_redelivered', 'redelivered'],
      ['imports_late', 'imports_late'],
      ['creates_repeated', 'creates_repeated'],
      ['counterfeits', 'counterfeits'],
      ['checkpoints', 'checkpoints'],
      ['checkpoints_behind', 'checkpoints_behind'],
      ['messages_decided', 'decided'],
    ])
      expect([metric, metrics.get(`holdfast_${metric}_total`)]).toEqual([metric, counts[count!]]);
    expect(counts.updates).toBeGreaterThan(0);
    expect(byLabel(metrics, 'holdfast_ignored_total')).toEqual(counts.ignored);
    const events = byLabel(metrics, 'holdfast_events_total');
    expect(events).toEqual(counts.events_by_kind);
    expect(sum(Object.values(events))).toBe(counts.events);
    expect(nonZero(events)).toMatchObject({
      'create Amulet': expect.any(Number),
      'archive Amulet': expect.any(Number),
    });
    const times = snapshots.map(({ migration_id, record_time }) => [migration_id, Date.parse(record_time) / 1000]);
    expect(byLabel(metrics, 'holdfast_newest_snapshot_timestamp_seconds')).toEqual(Object.fromEntries(times));
    expect([metrics.get('holdfast_ready'), metrics.get('holdfast_halted')]).toEqual([1, 0]);
    expect(nonZero(byLabel(metrics, 'holdfast_not_ready'))).toEqual({});
    expect(metrics.get('holdfast_file_bytes{file="views.db"}')).toBeGreaterThan(0);
    expect(metrics.get('holdfast_disk_free_bytes')).toBeGreaterThan(0);
    expect(metrics.get('holdfast_source_lag_bytes')).toBe(0);
    expect(metrics.get('holdfast_source_position{lane="file"}')).toBe(readFileSync(STORY, 'utf8').split('\n').length);
    expect(metrics.get('holdfast_snapshot_period_seconds')).toBe(600);
    // Not known of a file.
    expect(metrics.has('holdfast_source_lag_messages')).toBe(false);

    for (const what of ['commit', 'seal', 'decode']) {
      const name = `holdfast_${what}_seconds`;
      const buckets = [...metrics].filter(([key]) => key.startsWith(`${name}_bucket`)).map(([, count]) => count);
      expect(buckets.toSorted((a, b) => a - b)).toEqual(buckets);
      expect(buckets.at(-1)).toBe(metrics.get(`${name}_count`));
      expect(metrics.get(`${name}_sum`)).toBeGreaterThan(0);
    }
    for (const what of ['decode', 'commit', 'seal'])
      expect(metrics.get(`holdfast_${what}_seconds_count`)).toBeGreaterThan(0);

    const text = await (await fetch(`${service.url}/metrics`)).text();
    const there = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!));
    const named = new Set([readFileSync(RULES, 'utf8'), ...dashboardQueries()].flatMap(metricsIn));
    // Those of a store in PostgreSQL and of a decoder are in serve-postgres.test.ts and decoder-group.test.ts.
    expect([...named].filter((name) => !there.has(name) && !/^holdfast_(store|decoder)_/.test(name))).toEqual([]);
    expect([...there].filter((name) => name.startsWith('holdfast_') && !named.has(name))).toEqual([]);
    const checked = spawnSync(programPath('promtool'), ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });

    await using reader = await startService(['--data', directory.at('data'), '--read-only']);
    const ofReader = await metricsOf(reader);
    expect(ofReader.get('holdfast_ready')).toBe(1);
    const newest = 'holdfast_newest_snapshot_timestamp_seconds';
    expect(byLabel(ofReader, newest)).toEqual(byLabel(metrics, newest));
    expect([ofReader.has('holdfast_updates_total'), metrics.has('holdfast_updates_total')]).toEqual([false, true]);
  });

  it('are at an address of their own, and nowhere else, where --metrics-address names one; a reader has another', async () => {
    using directory = temporaryDirectory();
    const at = ['--data', directory.at('data'), '--metrics-address'];
    await using writer = await startService([...at, '127.0.0.1:0', '--file', STORY]);
    await writer.until('/readyz', (status) => status === 200);
    await using reader = await startService([...at, '[::1]:0', '--read-only']);
    const answer = async (url: string): Promise<unknown> => {
      const response = await fetch(url);
      return { status: response.status, body: await response.json() };
    };
    for (const service of [writer, reader]) {
      expect(await service.ask('/metrics')).toEqual({
        status: 404,
        body: { error: 'no such path: /metrics; /docs has all of them' },
      });
      const { url } = await service.program.logged('metrics are served');
      expect((await metricsOf({ ...service, url: String(url) })).get('holdfast_ready')).toBe(1);
      expect(await answer(`${url}/livez`)).toEqual({ status: 200, body: {} });
      const others = ['/status', '/v0/holdings/summary', '/metrics/', '/metrics?x', '//metrics'];
      const statuses = others.map(async (path) => [path, (await fetch(`${url}${path}`)).status]);
      const expected = others.map((path) => [path, path === '/metrics?x' ? 200 : 404]);
      expect(await Promise.all(statuses)).toEqual(expected);
    }
    const taken = new URL(String((await writer.program.logged('metrics are served')).url)).host;
    const other = ['--data', directory.at('data'), '--read-only', '--port', '0', '--log-level', 'silent'];
    expect(await holdfast('serve', ...other, '--metrics-address', taken)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(`^holdfast: cannot listen on --metrics-address ${taken}: .*EADDRINUSE.*\n$`),
    });
  });

  it('say that it is halted, and who failed to authenticate', async () => {
    using directory = temporaryDirectory();
    const bad = directory.writeLines('bad', ['{"update_id":7}']);
    await using service = await startService(['--data', directory.at('data'), '--file', bad]);
    await service.until('/readyz', (_, body) => /halted/.test(JSON.stringify(body)));
    expect((await service.ask('/v2/authenticated-user')).status).toBe(401);
    const metrics = await metricsOf(service);
    expect([metrics.get('holdfast_ready'), metrics.get('holdfast_halted')]).toEqual([0, 1]);
    expect(nonZero(byLabel(metrics, 'holdfast_not_ready'))).toEqual({ halted: 1, no_snapshot: 1 });
    const letters = { halted: 1, dropped: 0, quarantined: 0, applied: 0, resolved: 0 };
    expect(byLabel(metrics, 'holdfast_dead_letters')).toEqual(letters);
    expect(metrics.get('holdfast_users_failed_authentications_total')).toBe(1);
    const operation = 'method="GET",operation="/v2/authenticated-user"';
    expect(metrics.get(`holdfast_http_requests_total{${operation},status="401"}`)).toBe(1);
    // Faults are counted from 0 on, so that the first one is seen as an increase.
    expect(metrics.get(`holdfast_http_requests_total{${operation},status="500"}`)).toBe(0);
    expect(metrics.get('holdfast_http_connections')).toBeGreaterThan(0);
    expect(metrics.has('holdfast_newest_update_timestamp_seconds')).toBe(false);
  });
});
