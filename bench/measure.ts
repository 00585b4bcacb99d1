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

/** The median of each figure apart. */
export function medianReport(reports: readonly RunReport[]): RunReport {
  const of = (figure: keyof RunReport): number => median(reports.map((report) => report[figure]));
  return {
    wallMs: of('wallMs'),
    cpuMs: of('cpuMs'),
    threadCpuMs: of('threadCpuMs'),
    rssMb: of('rssMb'),
    bytes: of('bytes'),
  };
}
