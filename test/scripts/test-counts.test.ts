import { describe, expect, it } from 'vitest';
import { countTests, type VitestReport } from '../../scripts/test-counts.ts';

/** A report of files, each given as the statuses of its tests; `!` is a file that could not be loaded. */
function report(...files: readonly string[]): VitestReport {
  const testResults = files.map((tests, at) => {
    const statuses = tests === '!' || tests === '' ? [] : tests.split(' ');
    const status = tests === '!' || statuses.includes('failed') ? 'failed' : 'passed';
    return { name: `${at}.test.ts`, message: '', status, assertionResults: statuses.map((test) => ({ status: test })) };
  });
  const all = testResults.flatMap((file) => file.assertionResults.map((test) => test.status));
  return { testResults, numTotalTests: all.length, numPassedTests: all.filter((test) => test === 'passed').length };
}

describe('the closing line counts', () => {
  it.each([
    ['passed tests', ['passed passed', 'passed'], 0, 3, 0],
    ['failed tests', ['passed failed', 'failed'], 1, 1, 2],
    ['a skipped test as failed', ['passed pending'], 0, 1, 1],
    ['a test still to be written as failed', ['passed todo'], 0, 1, 1],
    ['a file that could not be loaded as failed', ['passed', '!'], 1, 1, 1],
    ['a run without a test as failed', [''], 0, 0, 1],
    ['an error outside of the tests as failed', ['passed'], 1, 1, 1],
  ])('%s', (_, files, exitCode, passed, failed) => {
    expect(countTests(report(...files), exitCode)).toEqual({ passed, failed });
  });

  it('a run that left no report as failed', () => {
    expect(countTests(null, null)).toEqual({ passed: 0, failed: 1 });
  });
});
