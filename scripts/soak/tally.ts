/** How long requests of one class took, in one window. */
export interface Latency {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

export interface TallyReport {
  readonly latencies: Readonly<Record<string, Latency>>;
  readonly statuses: Readonly<Record<string, number>>;
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

const FAULTS_TOLD_MAX = 5;
/** No answer may take so long: reads have a limit of 10 s to begin and of 10 s to end. */
const HANG_MS = 30_000;

/** Counts the answers between one report and the next. */
export class Tally {
  #times = new Map<string, number[]>();
  #statuses = new Map<string, number>();
  #faults: string[] = [];
  #faultCount = 0;

  answered(group: string, status: number | string, ms: number): void {
    const times = this.#times.get(group);
    if (times === undefined) this.#times.set(group, [ms]);
    else times.push(ms);
    const name = String(status);
    this.#statuses.set(name, (this.#statuses.get(name) ?? 0) + 1);
    if (ms > HANG_MS) this.fault(`a request of the ${group} took ${Math.round(ms / 1000)} s`);
  }

  fault(text: string): void {
    this.#faultCount++;
    if (this.#faults.length < FAULTS_TOLD_MAX) this.#faults.push(text.slice(0, 1_000));
  }

  /** What was counted since the last report. */
  report(): TallyReport {
    const report = {
      latencies: Object.fromEntries([...this.#times].map(([group, times]) => [group, latencyOf(times)])),
      statuses: Object.fromEntries(this.#statuses),
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
    [this.#times, this.#statuses, this.#faults, this.#faultCount] = [new Map(), new Map(), [], 0];
    return report;
  }
}

function latencyOf(times: number[]): Latency {
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { requests: times.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: times.at(-1)! };
}
