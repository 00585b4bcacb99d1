import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dashboardQueries, metricsIn } from '../support/deploy/expressions.ts';
import { type Prometheus, programPath, RULES, startPrometheus } from '../support/deploy/prometheus.ts';
import { type Service, startService } from '../support/http/service.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { scanLedger, timeOf } from '../support/scan/ledger.ts';
import { type FakeScan, startFakeScan } from '../support/scan/server.ts';
import { linesOf } from '../support/views/replayed.ts';

/** Blocks of 512 bytes that a file may have: as a disk that is soon full. */
const SMALL_DISK = 'ulimit -S -f 1500';
const LINES = scanLedger(51, 200);
/** A few seconds of a machine that others use too decide these. */
const OF_THE_MACHINE = ['HoldfastDiskFilling', 'HoldfastDiskLow', 'HoldfastSlow', 'HoldfastRestarts'];
/** Of a store in PostgreSQL, and of a decoder: their own tests compare them, test/scale/serve-postgres.test.ts and test/scale/decoder-metrics.test.ts. */
const OF_OTHER_PROCESSES = /^holdfast_(store|decoder)_/;
const OF_OTHERS = /holdfast_source_lag_messages|holdfast_(store|decoder)_/;

const folder = temporaryDirectory();
const parts = new AsyncDisposableStack();
let scans: readonly FakeScan[] = [];
let network: Service;
let full: Service;
let instances: Readonly<Record<'halted' | 'network' | 'full' | 'down', string>>;
let prometheus: Prometheus;

/**
 * The rules as they are but for their `for`, so that an alert fires as soon as its expression holds. What they wait for is
 * tested of the file itself, by promtool: rules.test.ts.
 */
function rulesAtOnce(): string {
  const path = folder.at('at-once.yml');
  writeFileSync(path, readFileSync(RULES, 'utf8').replaceAll(/^ +for: \w+\n/gm, ''));
  return path;
}

const hostOf = ({ url }: Service): string => new URL(url).host;

/** Those that fire for an instance, in alphabetical order. */
async function firing(of: keyof typeof instances): Promise<string[]> {
  const alerts = await prometheus.query(`ALERTS{alertstate="firing",instance="${instances[of]}"}`);
  const names = alerts.map(({ metric }) => metric.alertname!).filter((name) => !OF_THE_MACHINE.includes(name));
  return [...new Set(names)].sort();
}

const untilFiring = (of: keyof typeof instances, names: unknown): Promise<void> =>
  expect.poll(() => firing(of), { interval: 200 }).toEqual(names);

beforeAll(async () => {
  const scan = (): Promise<FakeScan> =>
    startFakeScan({ migrationId: 0, lines: LINES, snapshots: [timeOf(LINES[60]!)] });
  scans = await Promise.all([scan(), scan(), scan()]);
  for (const each of scans) parts.use(each);
  const feed = linesOf(randomLedger(oddLedger(71, { updates: 1_500, owners: 300, activeTarget: 800 })), 'scan');
  const [bad, large] = [folder.writeLines('bad', ['{"update_id":7}']), folder.writeLines('large', feed)];
  const urls = scans.map(({ url }) => url).join(',');
  const following = ['--scan', urls, '--scan-poll-interval', '100ms', '--start', 'beginning'];
  const started = await Promise.all([
    startService(['--data', folder.at('halted'), '--file', bad]),
    startService([
      '--data',
      folder.at('network'),
      ...following,
      '--ready-lag-max',
      '2s',
      '--compare-with',
      'http://127.0.0.1:9',
    ]),
    startService(['--data', folder.at('full'), '--file', large], { limits: SMALL_DISK }),
  ]);
  for (const service of started) parts.use(service);
  [, network, full] = started;
  const [port] = await freePorts(1);
  const [first, second, third] = started.map(hostOf) as [string, string, string];
  instances = { halted: first, network: second, full: third, down: `127.0.0.1:${port}` };
  await network.until('/readyz', (status) => status === 200);
  prometheus = parts.use(await startPrometheus(folder, { rules: [rulesAtOnce()], targets: Object.values(instances) }));
});
afterAll(async () => {
  await parts.disposeAsync();
  folder[Symbol.dispose]();
});

it('a Prometheus that scrapes a halt, a full disk and what does not answer fires their alerts, and no others', async () => {
  await untilFiring('halted', ['HoldfastHalted', 'HoldfastNotReady']);
  await untilFiring('down', ['HoldfastDown']);
  // It may also have no snapshot yet.
  await untilFiring('full', expect.arrayContaining(['HoldfastCannotWrite']));
  // The record times of the network are of another year.
  await untilFiring('network', ['HoldfastSnapshotTooOld']);
});

it('Scans that do not answer fire theirs', async () => {
  for (const each of scans) each.fail('/v2/updates', 'closed');
  await untilFiring('network', ['HoldfastBehind', 'HoldfastSnapshotTooOld']);
  for (const each of scans) each.fail('/v2/updates', null);
});

it('every query of the dashboard has an answer', async () => {
  // Without a token, so that this area has something to show too.
  await network.ask('/v2/authenticated-user');
  const expressions = dashboardQueries();
  expect(expressions.length).toBeGreaterThan(40);
  // A rate is known from the second scrape on.
  const empty = async (): Promise<string[]> => {
    const samples = await Promise.all(expressions.map((expression) => prometheus.query(expression)));
    return expressions.filter((expression, i) => samples[i]!.length === 0 && !OF_OTHERS.test(expression));
  };
  await expect.poll(empty).toEqual([]);
});

it('a disk that has room again fires nothing more', async () => {
  spawnSync('prlimit', ['--pid', String(full.program.pid), '--fsize=unlimited']);
  await untilFiring('full', []);
});

it('the rules and the dashboard name only metrics that there are, and promtool finds no fault with these', async () => {
  const text = await (await fetch(`${network.url}/metrics`)).text();
  const there = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!));
  const expressions = [readFileSync(RULES, 'utf8'), ...dashboardQueries()];
  const named = new Set(expressions.flatMap(metricsIn));
  expect([...named].filter((name) => !there.has(name) && !OF_OTHER_PROCESSES.test(name))).toEqual([]);
  const ours = [...there].filter((name) => name.startsWith('holdfast_'));
  expect(ours.filter((name) => !named.has(name))).toEqual([]);
  const checked = spawnSync(programPath('promtool'), ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });
});
