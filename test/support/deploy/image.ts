import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '../program/temporary-directory.ts';
import { CACHE, inPath } from './tools.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NAME = 'localhost/holdfast:test';

/** Whether an image can be built here: without a daemon, by root with Debian's buildah and debootstrap. */
export const CAN_BUILD = process.getuid?.() === 0 && inPath('buildah') !== null && inPath('debootstrap') !== null;

/** An image that was built, with its files at `root`. */
export interface Image extends Disposable {
  readonly root: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
}

function buildah(...args: readonly string[]): string {
  const all = ['--root', join(CACHE, 'images'), '--runroot', join(CACHE, 'images-run'), ...args];
  const { status, stdout, stderr } = spawnSync('buildah', all, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`buildah ${args.join(' ')}: ${stderr.slice(-3000)}`);
  return stdout.trim();
}

/** Builds the Dockerfile as it is. */
export function buildImage(): Image {
  const [, base] = /^FROM (node:\S+)/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))!;
  const name = `docker.io/library/${base}`;
  if (buildah('images', '--quiet', '--filter', `reference=${name}`) === '') {
    try {
      buildah('pull', '--retry', '0', name);
    } catch {
      standIn(name);
    }
  }
  buildah('bud', '--pull-never', '--isolation', 'chroot', '--format', 'docker', '--tag', NAME, '.');
  const container = buildah('from', '--pull-never', NAME);
  const inspected = JSON.parse(buildah('inspect', '--type', 'image', NAME)) as { Docker: { config: Image['config'] } };
  return {
    root: buildah('mount', container),
    config: inspected.Docker.config,
    [Symbol.dispose]: () => {
      buildah('rm', container);
      buildah('rmi', NAME);
    },
  };
}

/** A Debian with the Node of this checkout and the npm of this machine, where the base image cannot be had. */
function standIn(name: string): void {
  using folder = temporaryDirectory();
  const root = folder.at('root');
  execFileSync('debootstrap', ['--variant=minbase', 'bookworm', root], { stdio: 'ignore' });
  execFileSync('chroot', [root, 'useradd', '--create-home', '--uid', '1000', 'node']);
  copyFileSync(realpathSync(join(ROOT, 'node_modules/.bin/node')), join(root, 'usr/local/bin/node'));
  const npm = dirname(dirname(realpathSync(inPath('npm')!)));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const command of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${command}-cli.js`, join(root, 'usr/local/bin', command));
  const config = ['--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '--cmd', 'node'];
  // npm may need the certificates of a proxy to reach the registry.
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) {
    mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true });
    copyFileSync(certificates, join(root, 'etc/ssl/certs/proxy.crt'));
    config.push('--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/proxy.crt');
  }
  const container = buildah('from', 'scratch');
  buildah('copy', container, root, '/');
  rmSync(root, { recursive: true });
  buildah('config', ...config, container);
  buildah('commit', container, name);
  buildah('rm', container);
}
