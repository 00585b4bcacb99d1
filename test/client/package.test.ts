import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { spawnTied } from '../support/program/tied-process.ts';

const ROOT = join(import.meta.dirname, '../..');
const BOB = 'bob::1220aea0403af1b689b3c31a44d0368f5f1e60d13736ad7afca711ed4636400f308b';
const run = promisify(execFile);
/** A program of a user, outside of the repository, with what is published and the types of Node. */
const folder = temporaryDirectory();
const tscs = { 7: 'node_modules/typescript/bin/tsc', 5: 'client/node_modules/typescript/bin/tsc' };
let files: readonly string[];

beforeAll(async () => {
  const args = ['pack', '--json', '--pack-destination', folder.path];
  const { stdout } = await run('npm', args, { cwd: join(ROOT, 'client') });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  files = packed.files.map(({ path }) => path);
  mkdirSync(folder.at('node_modules/@holdfast/client'), { recursive: true });
  mkdirSync(folder.at('node_modules/@types'));
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), folder.at(`node_modules/${name}`));
  const target = folder.at('node_modules/@holdfast/client');
  await run('tar', ['xzf', folder.at(packed.filename), '-C', target, '--strip-components', '1']);
  const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8');
  writeFileSync(folder.at('package.json'), '{"type": "module"}');
  writeFileSync(folder.at('example.ts'), /```ts\n(.*?)```/s.exec(readme)![1]!);
});
afterAll(() => folder[Symbol.dispose]());

it('has what is built, its types and its license, and nothing else', () => {
  const modules = [
    'amount',
    'error',
    'holdings-api',
    'index',
    'movements',
    'operations',
    'requests',
    'retry',
    'stream',
  ];
  const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  expect(files.toSorted()).toEqual(['LICENSE', 'README.md', ...built, 'package.json']);
});

it.each([
  ['TypeScript 7 in Node', tscs[7], { module: 'nodenext', types: ['node'] }],
  ['TypeScript 5 in Node', tscs[5], { module: 'nodenext', types: ['node'] }],
  ['TypeScript 5 and a bundler', tscs[5], { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom'] }],
])('has types that are strict in a program of %s', async (_, tsc, options) => {
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const compilerOptions = { ...strict, target: 'es2023', lib: ['es2023'], types: ['node'], noEmit: true, ...options };
  writeFileSync(folder.at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const check = run(process.execPath, [join(ROOT, tsc), '-p', folder.path]);
  await check.catch(({ stdout }: { stdout: string }) => expect.fail(stdout));
});

it('does what its page shows, with a key', async () => {
  const keys = folder.at('keys');
  const key = (await holdfast('api-key', 'wallet', '--api-keys-file', keys)).stdout.trim();
  const args = ['--data', folder.at('data'), '--file', fixture('story.scan.ndjson'), '--api-keys-file', keys];
  await using service = await startService(args);
  await service.until('/readyz', (status) => status === 200);
  const example = (env: object) =>
    spawnTied([process.execPath, folder.at('example.ts'), service.url, BOB], { ...process.env, ...env });
  const refused = await example({});
  await expect.poll(() => refused.said()).toMatch(/^401 Authorization: given nothing/);
  const wallet = await example({ HOLDFAST_API_KEY: key, LAST_EVENT_ID: '0 2025-02-12T00:10:00Z' });
  await expect
    .poll(() => wallet.said().trimEnd().split('\n'))
    .toEqual([
      'applied to 2025-02-12T01:12:00Z',
      '2025-02-12T01:10:00Z 1. alice 379.7500000000',
      '2025-02-12T01:10:00Z 2. carol 250.0038051801',
      '2025-02-12T01:10:00Z 3. bob 120.2500000001',
      'together 750.0038051802',
      'connected',
      'deposit of 120.2500000000 from alice',
    ]);
  await wallet.kill();
});
