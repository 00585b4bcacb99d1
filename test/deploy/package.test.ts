import { spawn, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program/program.ts';
import { programEnv } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
/** What it takes on a disk with all that it depends on. */
const INSTALLED_BYTES_MAX = 60e6;

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Locked {
  readonly dev?: true;
  readonly link?: true;
  readonly hasInstallScript?: true;
}

/** npm may need the certificates of a proxy to reach the registry. */
function npm(folder: string, ...args: readonly string[]): { readonly stdout: string; readonly stderr: string } {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  const env = { ...programEnv(), ...(certificates && { NODE_EXTRA_CA_CERTS: certificates }) };
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr.slice(-2000)}`);
  return { stdout, stderr };
}

const NO_REGISTRY = ['--registry=http://127.0.0.1:9', '--fetch-retries=0', '--ignore-scripts', '--loglevel=warn'];

/** The locked packages that an installation of Holdfast brings. */
function productionPackages(): readonly (readonly [path: string, Locked])[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(packages).filter(([path, { dev, link }]) => /^node_modules\//.test(path) && !dev && !link);
}

/** Of all files in a folder, but those of packages inside it. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes('node_modules'))
    .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}

it('npm would publish it without a correction, with what the program and its reader need', () => {
  const { stdout, stderr } = npm(root, 'publish', '--dry-run', '--json', ...NO_REGISTRY);
  const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn') && !line.includes('logged in'));
  expect(warnings).toEqual([]);
  const { files } = (JSON.parse(stdout) as { holdfast: Packed }).holdfast;
  const paths = files.map(({ path }) => path);
  for (const needed of ['LICENSE', 'README.md', 'dist/main.js', 'flink/holdings.sql', 'deploy/holdfast.service'])
    expect(paths).toContain(needed);
  // The sources that a map names are not in the package.
  expect(paths.filter((path) => /\.map$|\.tsx?$|^(src|test|web|bench|fixtures)\//.test(path))).toEqual([]);
});

it('runs no install script of another package, and is small', () => {
  const packages = productionPackages();
  expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  const installed = packages
    .map(([path]) => join(root, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false }));
  expect(installed.length).toBeGreaterThan(20);
  const { stdout } = npm(root, 'pack', '--dry-run', '--json', ...NO_REGISTRY);
  const own = (JSON.parse(stdout) as Packed[])[0]!.unpackedSize;
  expect(installed.reduce((sum, path) => sum + bytesIn(path), own)).toBeLessThanOrEqual(INSTALLED_BYTES_MAX);
});

if (process.env.HOLDFAST_TEST_DEPLOY)
  it('npx runs the demo of the packed file, without a network', async () => {
    using folder = temporaryDirectory();
    const { stdout } = npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder.path);
    const file = folder.at((JSON.parse(stdout) as Packed[])[0]!.filename);
    for (const name of ['warm', 'offline']) mkdirSync(folder.at(name));
    // This fills npm's cache.
    npm(folder.at('warm'), 'install', '--no-audit', '--cache', folder.at('cache'), file);
    const files = readdirSync(folder.at('warm'), { withFileTypes: true, recursive: true }).filter((each) =>
      each.isFile(),
    );
    const bytes = files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(INSTALLED_BYTES_MAX);
    // All processes of it end with the shell, which is the first of them.
    const script = `ip link set lo up
    npx --yes --offline --cache '${folder.at('cache')}' --package '${file}' holdfast demo --port 0 >said.txt 2>errors.txt &
    until url=$(grep -o 'http:.*/docs' said.txt); do kill -0 $! || exit 1; sleep 0.2; done
    for path in / /docs /holdfast/v1/top; do curl -sSf -o /dev/null "\${url%/docs}$path" 2>>errors.txt || exit 1; done`;
    const shell = spawn('unshare', ['--net', '--pid', '--fork', '--kill-child', 'bash', '-c', script], {
      cwd: folder.at('offline'),
      env: programEnv(),
      stdio: 'ignore',
    });
    const code = await new Promise((resolve) => shell.once('close', resolve));
    const said = ['said.txt', 'errors.txt'].map((name) => readFileSync(join(folder.at('offline'), name), 'utf8'));
    expect({ code, said: code === 0 ? [] : said }).toEqual({ code: 0, said: [] });
  });

it('an older Node is told which one is needed, and how npm brings it', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(`
    Object.defineProperties(process, { versions: { value: { node: '20.20.2' } }, version: { value: 'v20.20.2' } });
  `)}`;
  await using program = startProgram(['demo'], { preload });
  expect(await program.ended).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: [
      'holdfast: needs Node.js 24 or later, and this is v20.20.2.',
      'Install Node.js 24, or run it with the one that npm brings:',
      '  npx --package node@24 --package holdfast holdfast',
      '',
    ].join('\n'),
  });
});
