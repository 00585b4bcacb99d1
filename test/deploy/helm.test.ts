import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load-config.ts';
import { SETTING_KEYS } from '../../src/config/setting-list.ts';
import { faultOf, type Manifest, podsOf, rendered } from '../support/deploy/chart.ts';
import { programPath, RULES } from '../support/deploy/prometheus.ts';
import { HELM, KUBERNETES_VALIDATE } from '../support/deploy/tools.ts';
import { settingsOf } from '../support/program/settings.ts';
import { programEnv } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const SECRETS = '/etc/holdfast/secrets/';
const SCAN = { scan: ['https://scan.sv-1.example', 'https://scan.sv-2.example:8443'] };
const PARTICIPANT = { url: 'http://participant:7575', parties: ['alice::1220ab', 'bob::1220cd'] };
/** The Secret that a validator of Splice's charts has. */
const SPLICE = 'splice-app-validator-ledger-api-auth';
const CLIENT = {
  clientId: 'holdfast',
  tokenUrl: 'https://tenant.example/oauth/token',
  audience: 'https://audience.example',
};
const EVERYTHING = {
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
  ingress: { enabled: true, host: '*.holdfast.example', className: 'nginx', tlsSecret: 'tls' },
  backup: { enabled: true },
};

interface Case {
  readonly name: string;
  readonly values: object;
  readonly config: Readonly<Record<string, unknown>>;
  /** Where it may connect to, besides the cluster's names. */
  readonly ports: readonly number[];
  /** Secrets that the values name. */
  readonly secrets?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'Scans',
    values: { source: SCAN, dso: 'DSO::1220ab' },
    config: { scan: { urls: SCAN.scan.map((url) => `${url}/api/scan`) }, dso: 'DSO::1220ab' },
    ports: [443, 8443],
  },
  {
    name: 'a participant with a token',
    values: {
      source: { participant: { ...PARTICIPANT, token: { secret: 'participant.token' } } },
      settings: { migrationId: 4 },
    },
    config: { ledgerApi: { url: PARTICIPANT.url, parties: PARTICIPANT.parties, oauth: null }, migrationId: 4 },
    ports: [7575],
    secrets: ['participant.token'],
  },
  {
    name: "a participant with a validator's client",
    values: { source: { participant: { ...PARTICIPANT, oauth: { secret: SPLICE, ...CLIENT } } } },
    config: { ledgerApi: { tokenFile: null, oauth: { ...CLIENT, clientSecret: 'client-secret', scope: null } } },
    ports: [7575, 443],
    secrets: [SPLICE],
  },
  {
    name: 'a participant of everybody, without a token',
    values: { source: { participant: { url: 'https://participant.example' } } },
    config: { ledgerApi: { url: 'https://participant.example', parties: 'all', tokenFile: null, oauth: null } },
    ports: [443],
  },
  {
    name: 'Kafka with a login',
    values: {
      source: { kafka: { brokers: ['kafka-0:9093', 'kafka-1:9093'], topic: 'updates' } },
      secrets: ['kafka'],
      settings: {
        kafkaSsl: true,
        kafkaSaslMechanism: 'scram-sha-512',
        kafkaSaslUsername: 'holdfast',
        kafkaSaslPasswordFile: `${SECRETS}kafka/password`,
      },
    },
    config: { kafka: { topic: 'updates', sasl: { username: 'holdfast', password: 'password' } } },
    ports: [9093],
    secrets: ['kafka'],
  },
  {
    name: 'everything beside it',
    values: {
      source: SCAN,
      ...EVERYTHING,
      replicas: 2,
      settings: { compareWith: ['http://other:8081'], bodyBytesMax: 16_777_216, snapshotPeriod: '1h' },
      networkPolicy: { egressPorts: [9999], from: [{ podSelector: { matchLabels: { app: 'wallet' } } }] },
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'ledger', operator: 'Exists' }],
      imagePullSecrets: [{ name: 'registry' }],
      podAnnotations: { team: 'ledger' },
      storage: { className: 'ssd' },
    },
    config: { compareWith: ['http://other:8081'], bodyBytesMax: 16_777_216, snapshotPeriodUs: 3_600_000_000 },
    ports: [9999, 443, 8443, 8081],
    secrets: ['tls', 'registry'],
  },
  {
    name: 'a backup into a volume that there is',
    values: {
      source: SCAN,
      fullnameOverride: 'a-name-that-is-longer-than-those-of-cron-jobs-may-be',
      backup: { enabled: true, keep: 2, withSecret: true, storage: { existingClaim: 'nfs' } },
    },
    config: {},
    ports: [443, 8443],
  },
];

const image = Object.fromEntries(
  [...read('Dockerfile').matchAll(/(HOLDFAST_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
);

const named = (objects: readonly Manifest[], kind: string): readonly string[] =>
  objects.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);

/** The settings of the container, read by the program; a file of a Secret has its own name in it. */
function configOf(objects: readonly Manifest[]): Config {
  using folder = temporaryDirectory();
  const [pod] = podsOf(objects).values();
  const [container] = pod!.spec.containers;
  const env = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  const mounts = new Map<string, string>(
    container.volumeMounts.map((mount: { name: string; mountPath: string }) => [mount.mountPath, mount.name]),
  );
  const { data } = objects.find(
    ({ kind, data: of }) => kind === 'ConfigMap' && of['holdfast.json'].includes('metricsAddress'),
  )!;
  expect(`${[...mounts].find(([, name]) => name === 'configuration')![0]}/holdfast.json`).toBe(env.HOLDFAST_CONFIG);
  const file = (data['holdfast.json'] as string).replaceAll(/"\/etc\/holdfast\/secrets\/[^"]+"/g, (quoted) => {
    const [, directory, name] = /^"(.*)\/([^/]+)"$/.exec(quoted)!;
    expect([...mounts.keys()]).toContain(directory);
    writeFileSync(folder.at(name!), name!);
    return JSON.stringify(folder.at(name!));
  });
  writeFileSync(folder.at('holdfast.json'), file);
  const { config, warnings } = settingsOf([], { ...image, ...env, HOLDFAST_CONFIG: folder.at('holdfast.json') });
  expect(warnings).toEqual([]);
  expect(mounts.get(dirname(config.dataDir))).toBe('data');
  return config;
}

if (HELM)
  describe('the chart', () => {
    it.each(CASES)(
      'runs the program as it is meant, following $name',
      ({ values, config: expected, ports, secrets = [] }) => {
        expect(faultOf(values)).toBe('');
        const { objects } = rendered(values);
        const config = configOf(objects);
        expect(config).toMatchObject(expected);
        const pods = podsOf(objects);

        for (const { spec, labels } of pods.values()) {
          expect(named(objects, 'ServiceAccount')).toContain(spec.serviceAccountName);
          expect(spec).toMatchObject({
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
          });
          for (const { securityContext, volumeMounts } of spec.containers) {
            expect(securityContext).toEqual({
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            });
            expect(volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toContain('/tmp');
          }
          const claimed = named(objects, 'StatefulSet').flatMap((name) => [`data-${name}-0`, 'nfs']);
          for (const volume of spec.volumes) {
            if (volume.configMap) expect(named(objects, 'ConfigMap')).toContain(volume.configMap.name);
            if (volume.secret) expect(secrets).toContain(volume.secret.secretName);
            if (volume.persistentVolumeClaim)
              expect([...named(objects, 'PersistentVolumeClaim'), ...claimed]).toContain(
                volume.persistentVolumeClaim.claimName,
              );
          }
          for (const { name } of spec.imagePullSecrets ?? []) expect(secrets).toContain(name);
          // A policy for each: what none selects may do anything.
          const policies = objects.filter(({ kind, spec: policy }) => {
            return kind === 'NetworkPolicy' && selects(policy.podSelector.matchLabels, labels);
          });
          expect(policies).toHaveLength(1);
        }

        const [writer] = pods.values();
        const [container] = writer!.spec.containers;
        const offered = new Map(
          container.ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
        );
        expect(Object.fromEntries(offered)).toEqual({ http: config.port, metrics: config.metricsAddress!.port });
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
          expect(container[probe].httpGet).toEqual({
            path: probe === 'readinessProbe' ? '/readyz' : '/livez',
            port: 'http',
          });
        const services = objects.filter(({ kind }) => kind === 'Service');
        for (const { spec } of services) {
          expect(selects(spec.selector, writer!.labels)).toBe(true);
          for (const { targetPort } of spec.ports) expect(offered.has(targetPort)).toBe(true);
        }
        const [set] = objects.filter(({ kind }) => kind === 'StatefulSet');
        expect(selects(set!.spec.selector.matchLabels, writer!.labels)).toBe(true);
        expect(named(objects, 'Service')).toContain(set!.spec.serviceName);
        const [policy] = objects.filter(({ kind }) => kind === 'NetworkPolicy');
        expect(policy!.spec.ingress.map((rule: { ports: [{ port: string }] }) => rule.ports[0].port)).toEqual([
          ...offered.keys(),
        ]);
        expect(policy!.spec.egress[1].ports.map(({ port }: { port: number }) => port)).toEqual(ports);
      },
    );

    it('shows Prometheus every replica as the job that the rules look for, and our rules as they are', () => {
      const { objects } = rendered({ source: SCAN, ...EVERYTHING });
      const [monitor] = objects.filter(({ kind }) => kind === 'ServiceMonitor');
      const chosen = objects.filter(({ kind, metadata }) => {
        return kind === 'Service' && selects(monitor!.spec.selector.matchLabels, metadata.labels!);
      });
      expect(chosen).toHaveLength(1);
      const [{ spec, metadata }] = chosen as [Manifest];
      expect(spec.ports.map(({ name }: { name: string }) => name)).toEqual([monitor!.spec.endpoints[0].port]);
      expect(metadata.labels![monitor!.spec.jobLabel]).toBe('holdfast');
      expect(monitor!.metadata.labels).toMatchObject({ release: 'prometheus' });
      using folder = temporaryDirectory();
      const [rule] = objects.filter(({ kind }) => kind === 'PrometheusRule');
      writeFileSync(folder.at('rules.json'), JSON.stringify(rule!.spec));
      const checked = (file: string) =>
        spawnSync(programPath('promtool'), ['check', 'rules', file], { encoding: 'utf8' });
      const count = (file: string) => /(\d+) rules found/.exec(checked(file).stdout)?.[1];
      expect(checked(folder.at('rules.json'))).toMatchObject({ status: 0, stderr: '' });
      expect(count(folder.at('rules.json'))).toBe(count(RULES));
      const dashboard = objects.find(({ metadata: { name } }) => name.endsWith('-dashboard'));
      expect(dashboard!.data['holdfast.json']).toBe(read('deploy/grafana-dashboard.json'));
    });

    it('routes the name of the Ingress to the port of requests', () => {
      const { objects } = rendered({ source: SCAN, ...EVERYTHING });
      const [{ spec }] = objects.filter(({ kind }) => kind === 'Ingress') as [Manifest];
      const { service } = spec.rules[0].http.paths[0].backend;
      const [target] = objects.filter(({ kind, metadata }) => kind === 'Service' && metadata.name === service.name);
      expect(target!.spec.ports).toContainEqual({ name: service.port.name, port: 8080, targetPort: 'http' });
      expect(spec).toMatchObject({
        ingressClassName: 'nginx',
        tls: [{ hosts: ['*.holdfast.example'], secretName: 'tls' }],
      });
    });

    it('backs up on the node of the writer, as the program does it, and keeps the newest', () => {
      const { objects } = rendered(CASES.at(-1)!.values);
      const [[name], [, backup]] = [...podsOf(objects)] as [[string, unknown], [string, { spec: never }]];
      const { affinity, containers, volumes } = backup.spec as Manifest;
      const [{ topologyKey, labelSelector }] = affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution;
      expect(topologyKey).toBe('kubernetes.io/hostname');
      expect(labelSelector.matchLabels).toEqual({ 'statefulset.kubernetes.io/pod-name': `${name}-0` });
      expect(volumes[0].persistentVolumeClaim.claimName).toBe(`data-${name}-0`);

      using folder = temporaryDirectory();
      const main = join(root, 'dist/main.js');
      const made = spawnSync(
        process.execPath,
        [main, 'replay', '--data', folder.at('data'), join(root, 'fixtures/story.scan.ndjson')],
        { env: programEnv() },
      );
      expect(made.status).toBe(0);
      const old = ['2024-01-01T000000Z', '2025-01-01T000000Z', '2025-01-02T000000Z', '2025-01-03T000000Z.partial'];
      const [{ command, args, env: given, volumeMounts }] = containers;
      const [writer] = podsOf(objects).values();
      expect(given).toEqual(
        writer!.spec.containers[0].env.filter(({ name: of }: { name: string }) => of === 'HOLDFAST_DATA'),
      );
      expect(volumeMounts[0]).toEqual({ name: 'data', mountPath: dirname(given[0].value) });
      const script = (args[0] as string)
        .replaceAll('/backup/', `${folder.at('backups')}/`)
        .replace('node dist/main.js', `'${process.execPath}' '${main}'`);
      spawnSync('mkdir', ['-p', ...old.map((each) => folder.at(`backups/${each}`)), folder.at('data')]);
      const env = { PATH: process.env.PATH, HOLDFAST_DATA: folder.at('data') };
      const run = spawnSync(command[0], [...command.slice(1), script], { encoding: 'utf8', env });
      expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
      const kept = readdirSync(folder.at('backups')).sort();
      expect(kept).toHaveLength(2);
      expect(kept[0]).toBe('2025-01-02T000000Z');
      expect(readdirSync(folder.at(`backups/${kept[1]}`))).toContain('views.db');
    });

    it.each([
      ['no source', {}, /source: given none, expected one of scan, participant\.url and kafka\.brokers/],
      [
        'two sources',
        { source: { ...SCAN, participant: PARTICIPANT } },
        /source: given scan and participant, expected one of/,
      ],
      [
        'a client without its id',
        { source: { participant: { ...PARTICIPANT, oauth: { secret: 'a' } } } },
        /expected tokenUrl and clientId/,
      ],
      [
        'a token and a client',
        { source: { participant: { ...PARTICIPANT, token: { secret: 'a' }, oauth: { secret: 'a', ...CLIENT } } } },
        /given token\.secret and oauth\.secret, expected one of them/,
      ],
      ['brokers without a topic', { source: { kafka: { brokers: ['a:9092'] } } }, /source\.kafka\.topic: not given/],
      ['an Ingress without a name', { source: SCAN, ingress: { enabled: true } }, /ingress\.host: not given/],
      ['an unknown value', { source: SCAN, replica: 2 }, /additional properties 'replica' not allowed/],
      ['an unknown source', { source: { scans: [] } }, /additional properties 'scans' not allowed/],
      [
        'an unknown setting',
        { source: SCAN, settings: { snapshotperiod: '1h' } },
        /additional properties 'snapshotperiod' not allowed/,
      ],
      [
        'a setting that the chart sets',
        { source: SCAN, settings: { port: 80 } },
        /additional properties 'port' not allowed/,
      ],
      ['a name that Kubernetes refuses', { source: SCAN, fullnameOverride: 'Hold_fast' }, /does not match pattern/],
      ['an address that is none', { source: { scan: ['scan.example'] } }, /does not match pattern/],
    ])('refuses %s and says what is expected', (_, values, said) => {
      expect(faultOf(values)).toMatch(said);
    });

    if (KUBERNETES_VALIDATE)
      it('renders objects that Kubernetes knows, of the oldest and the newest version', () => {
        using folder = temporaryDirectory();
        const [, oldest] = /kubeVersion: ">=(\d+\.\d+)/.exec(read('deploy/helm/Chart.yaml'))!;
        const files = CASES.map(({ values }, i) => {
          writeFileSync(folder.at(`${i}.yaml`), rendered(values).text);
          return folder.at(`${i}.yaml`);
        });
        for (const version of [oldest!, '1.37']) {
          const args = [
            join(KUBERNETES_VALIDATE!, 'bin/kubernetes-validate'),
            '--strict',
            '--quiet',
            '-k',
            version,
            ...files,
          ];
          const run = spawnSync('python3', args, {
            encoding: 'utf8',
            env: { ...process.env, PYTHONPATH: KUBERNETES_VALIDATE! },
          });
          // Those of Prometheus' operator are not among its schemas.
          const said = `${run.stdout}${run.stderr}`
            .split('\n')
            .filter((line) => !/^(WARN .*monitoring\.coreos\.com.*|)$/.test(line));
          expect({ version, said }).toEqual({ version, said: [] });
        }
      });
  });

function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

it('the schema of the values knows every setting that the chart does not set itself', () => {
  const schema = JSON.parse(read('deploy/helm/values.schema.json')) as {
    properties: { settings: { properties: object } };
  };
  const chart = [
    ...['data', 'host', 'port', 'metricsAddress', 'readOnly', 'reusePort', 'file', 'dso', 'apiKeysFile'],
    ...['scan', 'ledgerApi', 'ledgerApiParties', 'ledgerApiTokenFile', 'kafkaBrokers', 'kafkaTopic'],
  ];
  const left = SETTING_KEYS.filter((key) => !chart.includes(key) && !key.startsWith('postgres'));
  expect(Object.keys(schema.properties.settings.properties).sort()).toEqual([...left, 'ledger'].sort());
});

it('the chart is of the version of the package, and asks for the memory that the pages name', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(read('deploy/helm/Chart.yaml')).toContain(`version: ${version}\nappVersion: ${version}\n`);
  const [, gib] = /give it ([\d.]+) GiB/.exec(read('docs/operations.md'))!;
  const [, mib] = /requests: \{ cpu: \w+, memory: (\d+)Mi \}/.exec(read('deploy/helm/values.yaml'))!;
  expect(Number(mib)).toBe(Math.ceil(Number(gib) * 1024));
});
