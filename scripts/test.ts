import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { countTests, type TestCounts, type VitestReport } from './test-counts.ts';

/** Each of these counts as one test. The threads of tsc would each work out the same types, which takes twice as much of the processor. */
const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', 'tsc', '-p', 'tsconfig.json', '--singleThreaded'],
  ['types of the dashboard', 'tsc', '-p', 'web', '--singleThreaded'],
  ['lint and format', 'biome', 'check', '--error-on-warnings'],
  ['unused code', 'knip', '--no-progress'],
];

/** Files here are in memory. Tests make thousands of databases, and on a disk each waits eight times until it is written. */
const MEMORY = '/dev/shm';
/** Several times what all temporary files of a run take at once. */
const MEMORY_LEFT_MIN = 4 * 2 ** 30;

const root = join(import.meta.dirname, '..');
const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` };

const interrupted = new AbortController();

interface Ended {
  /** Null where a signal ended it, or it could not be started. */
  readonly code: number | null;
  /** Why it could not be started, or what it said, where that is not on our output already. */
  readonly said: string;
}

/** Runs a program of node_modules/.bin in the project's folder. */
function run(
  [command, ...args]: readonly [string, ...string[]],
  { more = {}, stdio, signal }: { more?: Record<string, string>; stdio: 'inherit' | 'pipe'; signal?: AbortSignal },
): Promise<Ended> {
  const child = spawn(command, args, { cwd: root, env: { ...env, ...more }, stdio: ['ignore', stdio, stdio], signal });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (said += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, said: `${error}\n` }));
    child.once('close', (code) => resolve({ code, said }));
  });
}

/** One after the other, beside the tests, which often wait. */
async function runChecks(): Promise<TestCounts & { readonly names: readonly string[] }> {
  const names: string[] = [];
  for (const [name, ...command] of CHECKS) {
    const { code, said } = await run(command, { stdio: 'pipe', signal: interrupted.signal });
    console.log(`${said}${code === 0 ? 'passed' : 'FAILED'}: ${name}`);
    if (code !== 0) names.push(name);
  }
  return { passed: CHECKS.length - names.length, failed: names.length, names };
}

async function runTests(filters: readonly string[]): Promise<TestCounts> {
  const folder = mkdtempSync(join(temporaryFolder(), 'holdfast-test-'));
  const file = join(folder, 'report.json');
  // Tests of what may not be written run the program as another user, who must still reach its files.
  chmodSync(folder, 0o755);
  try {
    // What tests leave in the folder for temporary files, killed ones too, goes with it.
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${file}`];
    const vitest = await run(['vitest', 'run', ...reporters, ...filters], {
      more: { TMPDIR: folder },
      stdio: 'inherit',
    });
    if (vitest.code === null) console.error(vitest.said);
    return countTests(readReport(file), vitest.code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function temporaryFolder(): string {
  // Flink loads a library that it has unpacked there.
  const isThere = /^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(readFileSync('/proc/mounts', 'utf8'));
  if (!isThere) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_LEFT_MIN ? MEMORY : tmpdir();
}

function readReport(file: string): VitestReport | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch (error) {
    console.error(`vitest left no report: ${String(error)}`);
    return null;
  }
}

// Ctrl-C ends the tests too; what is left to do here is to remove their temporary files.
process.on('SIGINT', () => interrupted.abort());
const [checks, tests] = await Promise.all([runChecks(), runTests(process.argv.slice(2))]);
const failed = checks.failed + tests.failed;
// What they said is far above.
for (const name of checks.names) console.log(`FAILED: ${name}`);
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${checks.passed + tests.passed} passed, ${failed} failed`);
