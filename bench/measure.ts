import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median } from './median.ts';
import type { RunReport } from './run-report.ts';

/** Runs one measured process to its end and returns what it says of itself. */
export function measure<Report = RunReport>(script: string, ...args: readonly string[]): Report {
  const file = join(import.meta.dirname, `${script}.ts`);
  const output = execFileSync(process.execPath, [file, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });
  return JSON.parse(output.trim().split('\n').at(-1)!) as Report;
}

/** Runs each in turn, again and again, so that load from elsewhere hits all of them alike; the medians of each. */
export function alternate<Run extends string>(
  part: string,
  runs: Readonly<Record<Run, () => RunReport>>,
  rounds: number,
): Record<Run, RunReport> {
  const entries = Object.entries(runs) as [Run, () => RunReport][];
  const reports = new Map<Run, RunReport[]>(entries.map(([run]) => [run, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const [run, once] of entries) {
      console.error(`${part}, round ${round} of ${rounds}: ${run}`);
      reports.get(run)!.push(once());
    }
  }
  return Object.fromEntries([...reports].map(([run, all]) => [run, medianReport(all)])) as Record<Run, RunReport>;
}

/** The median of each figure apart. */
function medianReport(reports: readonly RunReport[]): RunReport {
  const of = (figure: keyof RunReport): number => median(reports.map((report) => report[figure]));
  return {
    wallMs: of('wallMs'),
    cpuMs: of('cpuMs'),
    threadCpuMs: of('threadCpuMs'),
    rssMb: of('rssMb'),
    bytes: of('bytes'),
  };
}
