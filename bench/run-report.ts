/** What one measured process says of itself, as one line of JSON on its standard output. */
export interface RunReport {
  readonly wallMs: number;
  /** User and system time of the whole process. */
  readonly cpuMs: number;
  /** The part of it that the main thread took. */
  readonly threadCpuMs: number;
  /** The largest resident memory it ever had. */
  readonly rssMb: number;
  /** Of the database it left, 0 where it leaves none. */
  readonly bytes: number;
}

/** Runs the work of a measured process once and prints its report, with what the work reports itself. */
export async function reportRun<Found extends { bytes: number }>(
  path: string,
  work: (path: string) => Found | Promise<Found>,
): Promise<void> {
  const [started, cpu, thread] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
  const found = await work(path);
  const [wallMs, all, own] = [performance.now() - started, process.cpuUsage(cpu), process.threadCpuUsage(thread)];
  const report: RunReport & Found = {
    wallMs,
    cpuMs: (all.user + all.system) / 1000,
    threadCpuMs: (own.user + own.system) / 1000,
    rssMb: process.resourceUsage().maxRSS / 1024,
    ...found,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
