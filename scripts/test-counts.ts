/** What the closing line of `npm test` says. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** The part of vitest's JSON report that is counted. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Counts a run of vitest. A test that did not run (skipped, todo) counts as failed, and so does a file that could not be
 * loaded, a run without a test, and a run that failed outside of its tests or left no report.
 */
export function countTests(report: VitestReport | null, exitCode: number | null): TestCounts {
  if (report === null || report.numTotalTests === 0) return { passed: report?.numPassedTests ?? 0, failed: 1 };
  const passed = report.numPassedTests;
  const brokenFiles = report.testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
  });
  const failed = report.numTotalTests - passed + brokenFiles.length;
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}
