import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { programPath } from '../support/deploy/prometheus.ts';
import { COMPOSE_GO } from '../support/deploy/tools.ts';
import { settingsOf } from '../support/program/settings.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const GIVEN = Object.fromEntries(
  [...read('.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
);

/** `${NAME:-default}` and `${NAME:?what to do}`, as Compose reads them. */
function filled(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    if (env[name] !== undefined && env[name] !== '') return env[name];
    if (kind === '?') throw new Error(`required variable ${name} is missing a value: ${rest}`);
    return rest;
  });
}

const text = read('docker-compose.yml');
const compose = parse(filled(text, { HOLDFAST_SCAN: GIVEN.HOLDFAST_SCAN! }), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const image = Object.fromEntries(
  [...read('Dockerfile').matchAll(/(HOLDFAST_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
);

/** The environment of a service's container, with what .env.example has as comments too. */
function environmentOf({ environment = {} }: Service): Record<string, string> {
  const own = Object.entries(environment).map(([name, value]) => [name, value ?? GIVEN[name]]);
  return Object.fromEntries([...Object.entries(image), ...own.filter(([, value]) => value !== undefined)]);
}

describe('docker-compose.yml', () => {
  it('follows a Scan, or says at once that none is named', () => {
    expect(() => filled(text, {})).toThrow(/HOLDFAST_SCAN .*copy \.env\.example to \.env/);
    expect(services.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name)).toEqual(['holdfast']);
    const { config, warnings } = settingsOf([], {
      ...environmentOf(compose.services.holdfast!),
      HOLDFAST_DSO: 'DSO::1220ab',
    });
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      dataDir: '/data',
      host: '0.0.0.0',
      scan: { urls: [`${GIVEN.HOLDFAST_SCAN}/api/scan`] },
    });
    const names = Object.keys(GIVEN).filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
    expect(names).toEqual([]);
  });

  it('follows a participant, or a topic, by a profile', () => {
    using folder = temporaryDirectory();
    const participant = compose.services['holdfast-participant']!;
    const [, file, inside] = /^(\..*):(.*):ro$/.exec(participant.volumes!.find((volume) => volume.startsWith('.'))!)!;
    const env = environmentOf(participant);
    expect(env.HOLDFAST_CONFIG).toBe(inside);
    const secret = '/run/secrets/participant';
    expect(read(file!)).toContain(JSON.stringify(secret));
    writeFileSync(folder.at('secret'), 'the secret of the client\n');
    writeFileSync(folder.at('participant.json'), read(file!).replace(secret, folder.at('secret')));
    const followed = settingsOf([], {
      ...env,
      HOLDFAST_DSO: 'DSO::1220ab',
      HOLDFAST_CONFIG: folder.at('participant.json'),
    });
    expect(followed.config.ledgerApi).toMatchObject({ url: 'http://participant:7575', parties: 'all' });
    expect(followed.config.ledgerApi?.oauth?.clientSecret).toBe('the secret of the client');
    // Its own name there would be taken for the participant.
    expect(participant.networks).toContain('splice');
    expect(compose.services).not.toHaveProperty('participant');

    const { config } = settingsOf([], {
      ...environmentOf(compose.services['holdfast-kafka']!),
      HOLDFAST_DSO: 'DSO::1220ab',
    });
    expect(config.kafka).toMatchObject({ brokers: ['kafka:9092'], topic: 'updates' });
  });

  it('runs pinned images with few rights, and starts what is needed first', () => {
    for (const [name, service] of services) {
      const { image: tag, build, restart, cap_drop, security_opt, read_only, healthcheck, ports = [] } = service;
      const rules = { restart, cap_drop, security_opt, pinned: build !== undefined || /:v?\d+\.\d+\.\d+$/.test(tag) };
      expect({ name, ...rules }).toEqual({
        name,
        restart: 'unless-stopped',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        pinned: true,
      });
      // Kafka writes its configuration and its log beside its program.
      if (name !== 'kafka') expect({ name, read_only }).toEqual({ name, read_only: true });
      // That of ours is in the image.
      expect(build ?? healthcheck?.test[0]).toMatch(/^(\.|CMD)$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
      for (const [needed, { condition }] of Object.entries(service.depends_on ?? {}))
        expect({ condition, checked: compose.services[needed]?.healthcheck !== undefined }).toEqual({
          condition: 'service_healthy',
          checked: true,
        });
    }
    const published = services.flatMap(([, { ports = [] }]) => ports.map((port) => port.split(':')[1]));
    expect(new Set(published).size).toBe(published.length);
    expect(read('Dockerfile')).toMatch(/^USER 1000:1000$/m);
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    const { version } = lock.packages['node_modules/node']!;
    expect(new Set(read('Dockerfile').match(/^FROM node:[\w.-]+/gm))).toEqual(new Set([`FROM node:${version}-slim`]));
  });

  it('names volumes and files that there are, and those that a user makes', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]!));
    for (const mount of mounts)
      if (mount.startsWith('.'))
        expect({ mount, there: existsSync(join(root, mount)) }).toEqual({ mount, there: true });
      else expect(Object.keys(compose.volumes)).toContain(mount);
    expect(Object.values(compose.secrets)).toEqual([{ file: './participant.secret' }]);
  });

  it('has Prometheus scrape every Holdfast of it, with our rules', () => {
    using folder = temporaryDirectory();
    for (const mount of compose.services.prometheus!.volumes!)
      if (mount.startsWith('.'))
        copyFileSync(join(root, mount.split(':')[0]!), folder.at(basename(mount.split(':')[1]!)));
    const checked = spawnSync(programPath('promtool'), ['check', 'config', folder.at('prometheus.yml')], {
      encoding: 'utf8',
    });
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
    const scrape = parse(read('deploy/compose/prometheus.yml')) as {
      scrape_configs: [{ job_name: string; dns_sd_configs: [{ names: string[]; port: number }] }];
    };
    const [
      {
        job_name,
        dns_sd_configs: [found],
      },
    ] = scrape.scrape_configs;
    expect(job_name).toBe('holdfast');
    expect(found.names).toEqual(ours.map(([name]) => name));
    for (const [, service] of ours) expect(service.environment?.HOLDFAST_METRICS_ADDRESS).toBe(`0.0.0.0:${found.port}`);
  });

  it('gives Grafana that Prometheus and our dashboard', () => {
    const { volumes, environment } = compose.services.grafana!;
    const inside = (name: string): string => volumes!.find((volume) => volume.includes(name))!.split(':')[1]!;
    expect(inside('grafana-source.yml')).toMatch(/^\/etc\/grafana\/provisioning\/datasources\//);
    expect(inside('grafana-dashboards.yml')).toMatch(/^\/etc\/grafana\/provisioning\/dashboards\//);
    const sources = parse(read('deploy/compose/grafana-source.yml')) as {
      datasources: [{ type: string; url: string }];
    };
    const { type, url } = sources.datasources[0];
    expect(type).toBe('prometheus');
    expect(compose.services[new URL(url).hostname]!.ports).toContain(`127.0.0.1:${new URL(url).port}:9090`);
    const dashboards = parse(read('deploy/compose/grafana-dashboards.yml')) as {
      providers: [{ options: { path: string } }];
    };
    const file = inside('grafana-dashboard.json');
    expect(file.startsWith(`${dashboards.providers[0].options.path}/`)).toBe(true);
    expect(environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(file);
  });

  if (COMPOSE_GO)
    it('is one that the reference parser of the Compose Specification accepts', () => {
      const run = (...args: readonly string[]) =>
        spawnSync(COMPOSE_GO!, [...args, '-format', 'json', join(root, 'docker-compose.yml')], {
          encoding: 'utf8',
          cwd: root,
        });
      const accepted = run('-no-interpolation');
      expect({ status: accepted.status, stderr: accepted.stderr }).toEqual({ status: 0, stderr: '' });
      expect(Object.keys((JSON.parse(accepted.stdout) as Compose).services).sort()).toEqual(
        services.map(([name]) => name).sort(),
      );
      // It is given no environment.
      expect(run().stderr).toMatch(/required variable HOLDFAST_SCAN is missing a value: copy \.env\.example/);
    });
});
