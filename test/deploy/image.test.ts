import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildImage, CAN_BUILD } from '../support/deploy/image.ts';

const APP_BYTES_MAX = 60e6;
const root = join(import.meta.dirname, '../..');

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

it.runIf(process.env.HOLDFAST_TEST_DEPLOY && CAN_BUILD)(
  'the image is built, has production alone, and serves as another user on a disk that is only read',
  { timeout: 900_000 },
  async () => {
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
    try {
      const pid = (): string => readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim();
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
      service.kill('SIGKILL');
      await closed;
    }
  },
);
