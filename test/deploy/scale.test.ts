import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { programPath } from '../support/deploy/prometheus.ts';
import { type Case, type Cases, expectAlerts, one } from '../support/deploy/rule-cases.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { POSTGRES_BIN, startPostgres } from '../support/scale/postgres.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'deploy/scale');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const compose = read('docker-compose.yml');

/** The lines of each service. */
const services = new Map(
  compose
    .slice(compose.indexOf('\nservices:\n'), compose.indexOf('\nnetworks:\n'))
    .split(/^ {2}(?=\w+:$)/m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf(':')), text]),
);
const commandOf = (service: string): string[] => {
  const [, list] = /^ {4}command:\s*(\[[^\]]*\])/m.exec(services.get(service)!)!;
  return JSON.parse(list!.replace(/,\s*\]/, ']')) as string[];
};
/** Those that run Holdfast. */
const ours = [...services].filter(([, text]) => /<<: \*(holdfast|command)$/m.test(text)).map(([name]) => name);

const DSO = 'DSO::1220ab';
/** What the image sets for every command in it. */
const ENV = Object.fromEntries(
  [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/(HOLDFAST_\w+)=(\S+)/g)].map(([, name, value]) => [
    name!,
    value!,
  ]),
);

/** A command line of the file, with what is reached there at addresses of this machine. */
async function run(
  service: string,
  places: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<{ code: number; said: string }> {
  using files = temporaryDirectory();
  writeFileSync(files.at('secret'), 'secret\n');
  const secrets = Object.fromEntries(['owner', 'reader'].map((name) => [`/run/secrets/${name}`, files.at('secret')]));
  const all = { ...places, ...secrets, ['${DSO:?the DSO party}']: DSO };
  const args = commandOf(service).map((arg) =>
    Object.entries(all).reduce((text, [from, to]) => text.replace(from, to), arg),
  );
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { env: ENV, stdout, stderr, stopSignal: () => AbortSignal.abort() };
  const code = await runCommandLine([...args, ...more], terminal);
  return { code, said: String(stderr.read() ?? '') + String(stdout.read() ?? '') };
}

/** A port that nobody has. */
const AWAY = Object.fromEntries(['kafka:9092', 'postgres:5432'].map((place) => [place, '127.0.0.1:1']));

describe('deploy/scale/docker-compose.yml', () => {
  it('runs commands that the program knows, and asks only for what is not there here', async () => {
    expect(ours).toEqual(['store', 'decoder', 'reader', 'fill']);
    expect(await run('decoder', AWAY, ['--metrics-address', '127.0.0.1:0'])).toMatchObject({ code: 0 });
    expect(await run('fill', AWAY)).toMatchObject({
      code: 1,
      said: expect.stringMatching(/cannot write to topic updates/),
    });
    const job = services.get('job')!;
    const parameters = readFileSync(join(root, 'flink/holdings.sql'), 'utf8').matchAll(/\$\{([A-Z_]{2,})\}/g);
    for (const [, name] of parameters)
      if (name !== 'NAME') expect(job).toMatch(new RegExp(`^ +${name}(_FILE)?: \\S`, 'm'));
    for (const name of ours) expect(services.get(name)).not.toMatch(/HOLDFAST_/);
  });

  it('makes users, a store and readers of it in a PostgreSQL as it is', async () => {
    await using server = await startPostgres();
    await using admin = await server.connect();
    await admin.query('CREATE DATABASE holdfast');
    using files = temporaryDirectory();
    for (const name of ['writer', 'reader']) writeFileSync(files.at(name), `${name}'s\n`);
    const script = read('roles.sh').replaceAll('/run/secrets', files.path);
    const where = { PGHOST: '127.0.0.1', PGPORT: String(server.port) };
    execFileSync('sh', ['-c', script], {
      env: { ...where, PATH: `${POSTGRES_BIN}:${process.env.PATH}` },
      stdio: 'ignore',
    });
    const here = { ...AWAY, 'postgres:5432': `127.0.0.1:${server.port}` };
    expect(await run('store', here)).toMatchObject({ code: 0, said: expect.stringMatching(/was brought from form 0/) });
    expect(await run('store', here)).toMatchObject({ code: 0, said: expect.stringMatching(/already/) });
    expect(await run('reader', here, ['--port', '0'])).toMatchObject({ code: 0 });
    await using engine = await server.connect('writer', 'holdfast');
    expect((await engine.query('SELECT FROM owner_total')).rows).toEqual([]);
    await expect(engine.query('SELECT seal(1)')).rejects.toThrow(/permission denied/);
    await using reader = await server.connect('reader', 'holdfast');
    expect((await reader.query('SELECT seal(1)')).rows).toEqual([{ seal: 0 }]);
  });

  it('names only services, files and addresses that there are', () => {
    const hosts = [...compose.matchAll(/(?:[/@"]|: )([a-z]+):\d{4}(?=[/"\n,])/g)].map(([, host]) => host!);
    const scraped = [...read('prometheus.yml').matchAll(/names: \[(.*)\]/g)].flatMap(([, names]) => names!.split(', '));
    expect(new Set(hosts)).toContain('kafka');
    for (const host of [...hosts, ...scraped, 'reader']) expect([...services.keys(), 'localhost']).toContain(host);
    const waited = [...compose.matchAll(/depends_on: \[(.*)\]/g)].flatMap(([, names]) => names!.split(', '));
    for (const name of waited) expect([...services.keys()]).toContain(name);
    for (const [, file] of compose.matchAll(/- (\.\.?\/[\w./]+):\//g))
      expect(existsSync(join(folder, file!))).toBe(true);
    const { config } = loadConfig({ options: {}, env: {} });
    expect(read('nginx.conf')).toContain(`server reader:${config.port} resolve`);
    const [, address] = /ipv4_address: ([\d.]+)/.exec(services.get('proxy')!)!;
    expect(commandOf('reader')).toContain(address);
    expect(read('prometheus.yml').match(/port: (\d+)/g)).toEqual([`port: ${config.port}`, 'port: 8080', 'port: 9249']);
  });

  it('has the Flink and the connectors that the tests have', () => {
    const versions = readFileSync(join(root, 'scripts/flink/pom.xml'), 'utf8').matchAll(
      /<artifactId>(.*)<\/artifactId>\s*<version>(.*)<\/version>\s*<\/dependency>/g,
    );
    const jars = [...versions].map(([, name, version]) => `${name}-${version}`);
    expect(jars).toHaveLength(5);
    const [gateway, ...connectors] = jars;
    const image = read('flink.Dockerfile');
    expect(`flink-sql-gateway-${/^FROM flink:([\d.]+)/m.exec(image)![1]}`).toBe(gateway);
    expect([...image.matchAll(/([\w.-]+)\.jar /g)].map(([, name]) => name)).toEqual(connectors);
  });
});

const decoder = (name: string): string => `holdfast_decoder_${name}{job="holdfast-decode",instance="a"}`;
const two = (
  first: readonly [string, string],
  second: readonly [string, string],
  quiet: number,
  fires: number,
): Case => ({
  series: Object.fromEntries([first, second]),
  quiet,
  fires,
});

const CASES: Cases = {
  HoldfastDecodersDown: [
    one('up{job="holdfast-decode",instance="a"}', '1x5 0x10', 6, 7),
    two(['up{job="holdfast-decode",instance="a"}', '0x10'], ['up{job="holdfast-decode",instance="b"}', '1x10'], 10, 0),
    one('up{job="other"}', '1x10', 0, 1),
  ],
  HoldfastDecodeStopped: [
    one('holdfast_decoder_stopped_partitions{job="holdfast-decode",instance="a",cause="halted"}', '0 1x5', 2, 3),
  ],
  HoldfastDecodeUnassigned: [two([decoder('partitions'), '3x5 2x9'], [decoder('topic_partitions'), '3x20'], 7, 8)],
  HoldfastDecodeQuarantined: [
    one(
      'holdfast_decoder_dead_letters_total{job="holdfast-decode",instance="a",decision="quarantined"}',
      '0x5 1x5',
      5,
      7,
    ),
  ],
  FlinkJobDown: [one('flink_jobmanager_numRunningJobs', '1x5 0x10', 10, 11), one('up', '1x10', 4, 5)],
  FlinkJobRestarts: [one('flink_jobmanager_job_numRestarts', '0 1 2 3 4 5x9', 3, 6)],
  FlinkNoCheckpoint: [one('flink_jobmanager_job_numberOfCompletedCheckpoints', '0+6x10 60x40', 20, 31)],
};

describe('the alerts of decoders and the job', () => {
  it('fire when they should and not before', () => expectAlerts(join(folder, 'scale.rules.yml'), CASES));

  it('are explained, and found by the configuration of Prometheus beside them', () => {
    const alerts = readFileSync(join(root, 'docs/scale-out.md'), 'utf8').split('\n## Alerts\n')[1]!.split('\n## ')[0]!;
    expect([...alerts.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)).toEqual(Object.keys(CASES));
    using files = temporaryDirectory();
    for (const [name, from] of Object.entries({ 'holdfast.rules.yml': root, 'scale.rules.yml': folder }))
      writeFileSync(files.at(name), readFileSync(join(from === root ? join(root, 'deploy') : folder, name)));
    writeFileSync(files.at('prometheus.yml'), read('prometheus.yml'));
    const checked = spawnSync(programPath('promtool'), ['check', 'config', files.at('prometheus.yml')], {
      encoding: 'utf8',
    });
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  });
});
