import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { buildImage, CAN_BUILD } from './support/deploy/image.ts';
import { settingsOf } from './support/program/settings.ts';
import { programEnv } from './support/program/soak.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

describe('the health check of the container', () => {
  /** As Docker reads it: lines that end in a backslash continue, and a list is JSON. */
  const instruction = read('Dockerfile')
    .replaceAll('\\\n', '')
    .split('\n')
    .find((line) => line.startsWith('HEALTHCHECK'))!;
  const [command, ...args] = JSON.parse(instruction.slice(instruction.indexOf('['))) as string[];

  /** The very command, but that the service is not the first process here. Gives its exit code and what it printed. */
  async function check(pid: number, env: Readonly<Record<string, string>>): Promise<readonly [number, string]> {
    const own = args.map((arg) => arg.replaceAll('/proc/1/', `/proc/${pid}/`));
    const ended = promisify(execFile)(command!, own, { env: { ...programEnv(), ...env } });
    return ended.then(
      ({ stdout }) => [0, stdout] as const,
      ({ code }) => [code, ''] as const,
    );
  }

  it('asks at the port that was given, whichever way, and fails where nothing answers', async () => {
    using folder = temporaryDirectory();
    const server = createServer(({ url }, response) => response.writeHead(url === '/livez' ? 200 : 404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = String((server.address() as { port: number }).port);
    const file = folder.at('holdfast.json');
    writeFileSync(file, JSON.stringify({ port: Number(port) }));
    const given: readonly { args?: readonly string[]; env?: Readonly<Record<string, string>> }[] = [
      { args: ['--port', port] },
      { args: [`--port=${port}`] },
      { env: { HOLDFAST_PORT: port } },
      { args: [`--port=${port}`], env: { HOLDFAST_PORT: '1' } },
      { args: ['--config', file] },
      { env: { HOLDFAST_CONFIG: file } },
      // Kubernetes sets this for a Service of that name.
      { args: [`--config=${file}`], env: { HOLDFAST_PORT: 'tcp://10.0.0.1:80' } },
    ];
    for (const { args = [], env = {} } of given) {
      // A process with the command line of the service.
      const service = spawn('bash', ['-c', 'read; :', 'dist/main.js', 'serve', ...args]);
      expect({ args, env, check: await check(service.pid!, env) }).toEqual({ args, env, check: [0, ''] });
      service.kill();
    }
    await new Promise((resolve) => server.close(resolve));
    expect(await check(process.pid, { HOLDFAST_PORT: port })).toEqual([1, '']);
  });

  it('uses the default port unless another was given', async () => {
    const preload = `data:text/javascript,${encodeURIComponent('globalThis.fetch = (url) => { console.log(url); return Promise.resolve({ ok: true }); };')}`;
    const [, asked] = await check(process.pid, { NODE_OPTIONS: `--import ${preload}` });
    expect(asked).toBe(`http://127.0.0.1:${settingsOf([], {}).config.port}/livez\n`);
  });
});

const APP_BYTES_MAX = 60e6;

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

// It takes minutes where the base image is not there yet.
if (process.env.HOLDFAST_TEST_DEPLOY && CAN_BUILD)
  it('the image is built, has production alone, and serves as another user on a disk that is only read', {
    timeout: 900_000,
  }, async () => {
    using image = buildImage();
    const app = join(image.root, image.config.WorkingDir);
    expect(bytesIn(app)).toBeLessThanOrEqual(APP_BYTES_MAX);
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: true }>;
    };
    const { packages: installed } = JSON.parse(readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8')) as {
      packages: object;
    };
    expect(Object.keys(installed).filter((name) => packages[name]!.dev)).toEqual([]);

    // As Docker does with `--read-only --tmpfs /tmp --network none`; the service is the first process in its view.
    const { User, Env, Entrypoint, Cmd, WorkingDir, Healthcheck } = image.config;
    const inside = (command: readonly string[]): readonly string[] => {
      const change = ['sh', '-c', 'cd "$0" && exec "$@"', WorkingDir, ...command];
      return ['chroot', `--userspec=${User}`, image.root, '/usr/bin/env', '-i', ...Env, ...change];
    };
    const script = `set -e
        ip link set lo up
        mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"
        mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" && mount -t tmpfs -o uid=1000,mode=0700 tmpfs "$0/data"
        exec "$@"`;
    const spaces = ['--mount', '--net', '--pid', '--fork', '--kill-child'];
    const service = spawn('unshare', [...spaces, 'sh', '-c', script, image.root, ...inside([...Entrypoint, ...Cmd])], {
      stdio: 'ignore',
    });
    const closed = once(service, 'close');
    const pid = (): string => readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim();
    try {
      await expect.poll(pid).not.toBe('');
      const ask = (...command: readonly string[]) =>
        spawnSync('nsenter', ['--target', pid(), '--mount', '--net', '--pid', ...inside(command)], {
          encoding: 'utf8',
        });
      const [kind, ...check] = Healthcheck.Test;
      expect(kind).toBe('CMD');
      await expect.poll(() => ask(...check).status).toBe(0);
      const pages = `for (const path of ['/', '/docs', '/status']) fetch('http://127.0.0.1:8080' + path).then((answer) => console.log(answer.status))`;
      expect(ask('node', '-e', pages)).toMatchObject({ stdout: '200\n200\n200\n', stderr: '' });
      expect(ask('sh', '-c', 'id -u; touch /data/a /tmp/a && ! touch dist/a').stdout).toBe('1000\n');
      expect(ask('sh', '-c', 'touch dist/a').stderr).toMatch(/Read-only file system|Permission denied/);
      expect(ask('node', 'dist/main.js', 'doctor').stdout).toContain('/data');
    } finally {
      // The first process became another user, so it does not end with its parent.
      if (pid() !== '') process.kill(Number(pid()), 'SIGKILL');
      service.kill('SIGKILL');
      await closed;
    }
  });
