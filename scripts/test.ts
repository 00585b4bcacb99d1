import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { countTests, type TestCounts, type VitestReport } from './test-counts.ts';

/** Each of these counts as one test. */
const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', 'tsc', '-p', 'tsconfig.json'],
  ['types of the dashboard', 'tsc', '-p', 'tsconfig.web.json'],
  ['lint and format', 'biome', 'check', '--error-on-warnings'],
  ['unused code', 'knip', '--no-progress'],
];

const root = join(import.meta.dirname, '..');
const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` };

/** Runs a program of node_modules/.bin in the project's folder, its output on ours. */
function run(command: string, args: readonly string[], more: Record<string, string> = {}): number | null {
  const { status, error } = spawnSync(command, args, { cwd: root, env: { ...env, ...more }, stdio: 'inherit' });
  if (error !== undefined) console.error(String(error));
  return status;
}

function runChecks(): TestCounts {
  const failed = CHECKS.filter(([name, command, ...args]) => {
    const passed = run(command, args) === 0;
    console.log(`${passed ? 'passed' : 'FAILED'}: ${name}`);
    return !passed;
  });
  return { passed: CHECKS.length - failed.length, failed: failed.length };
}

function runTests(filters: readonly string[]): TestCounts {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const file = join(folder, 'report.json');
  // Tests of what may not be written run the program as another user, who must still reach its files.
  chmodSync(folder, 0o755);
  try {
    // What tests leave in the folder for temporary files, killed ones too, goes with it.
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${file}`];
    const exitCode = run('vitest', ['run', ...reporters, ...filters], { TMPDIR: folder });
    return countTests(readReport(file), exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string): VitestReport | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch (error) {
    console.error(`vitest left no report: ${String(error)}`);
    return null;
  }
}

const checks = runChecks();
const tests = runTests(process.argv.slice(2));
const failed = checks.failed + tests.failed;
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${checks.passed + tests.passed} passed, ${failed} failed`);
