import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePorts } from './support/program/free-ports.ts';
import { type Circumstances, startProgram } from './support/program/program.ts';
import { settingsOf } from './support/program/settings.ts';
import { programEnv } from './support/program/soak.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');

it('gives the container settings that the program knows', () => {
  const compose = [...read('docker-compose.yml').matchAll(/^ +(HOLDFAST_\w+): (.+)$/gm)];
  const image = [...read('Dockerfile').matchAll(/(HOLDFAST_\w+)=(\S+)/g)];
  const env = Object.fromEntries([...image, ...compose].map(([, name, value]) => [name!, value!]));
  const { config, warnings } = settingsOf([], env);
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({
    dataDir: '/data',
    host: '0.0.0.0',
    kafka: { brokers: ['kafka:9092'], topic: 'updates' },
  });
});

describe('the health check of the container', () => {
  /** As Docker reads it: lines that end in a backslash continue, and a list is JSON. */
  const instruction = read('Dockerfile')
    .replaceAll('\\\n', '')
    .split('\n')
    .find((line) => line.startsWith('HEALTHCHECK'))!;
  const [command, ...args] = JSON.parse(instruction.slice(instruction.indexOf('['))) as string[];

  /** The very command, but that the service is not the first process here. */
  function check(pid: number, { env }: Circumstances): { readonly status: number | null; readonly stdout: string } {
    const own = args.map((arg) => arg.replaceAll('/proc/1/', `/proc/${pid}/`));
    return spawnSync(command!, own, { env: { ...programEnv(), ...env }, encoding: 'utf8' });
  }

  it.each<[name: string, (port: number, file: string) => { args?: string[]; env?: Record<string, string> }]>([
    ['by an option', (port) => ({ args: ['--port', String(port)] })],
    ['by an option with an equals sign', (port) => ({ args: [`--port=${port}`] })],
    ['by the environment', (port) => ({ env: { HOLDFAST_PORT: String(port) } })],
    [
      'by an option that comes before the environment',
      (port) => ({ args: [`--port=${port}`], env: { HOLDFAST_PORT: '1' } }),
    ],
    ['in the configuration file', (_port, file) => ({ args: ['--config', file] })],
    ['in the configuration file of the environment', (_port, file) => ({ env: { HOLDFAST_CONFIG: file } })],
    [
      'in the configuration file, together with what Kubernetes sets for a service of that name',
      (_port, file) => ({ args: [`--config=${file}`], env: { HOLDFAST_PORT: 'tcp://10.0.0.1:80' } }),
    ],
  ])('asks at the port that was given %s', async (_name, given) => {
    using folder = temporaryDirectory();
    const [port] = (await freePorts(1)) as [number];
    const file = folder.at('holdfast.json');
    writeFileSync(file, JSON.stringify({ port }));
    const { args: options = [], env = {} } = given(port, file);
    await using service = startProgram(['serve', '--data', folder.at('data'), ...options], { env });
    await service.logged('listening');
    expect(check(service.pid, { env }).status).toBe(0);
    service.kill('SIGTERM');
    await service.ended;
    expect(check(process.pid, { env: { ...env, HOLDFAST_PORT: String(port) } }).status).toBe(1);
  });

  it('uses the default port unless another was given', () => {
    const preload = `data:text/javascript,${encodeURIComponent('globalThis.fetch = (url) => { console.log(url); return Promise.resolve({ ok: true }); };')}`;
    const { stdout } = check(process.pid, { env: { NODE_OPTIONS: `--import ${preload}` } });
    const { port } = settingsOf([], {}).config;
    expect(stdout).toBe(`http://127.0.0.1:${port}/livez\n`);
  });
});
