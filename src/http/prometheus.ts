import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { HoldingsFault } from '../holdings/holdings-fault.ts';

/** What is wrong with the service itself. */
const FAULTS = [500, 503];
/** Bounds of the time from a request to its answer. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];
/** Sums of other metrics, named as if they were counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The registry of a process, and the counts of its requests. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return { registry, requests: countRequests(registry) };
}

/** Counts every request by its route's method and path, not its own, so that labels stay few. */
function countRequests(registry: Registry) {
  const requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['method', 'operation', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'Time from a request to its answer, by operation.',
    labelNames: ['method', 'operation'],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    /** Counts an answer of an operation, whose faults are counted from 0 on, so that the first one is seen as an increase. */
    of({ method, path: operation }: { readonly method: string; readonly path: string }) {
      for (const status of FAULTS) requests.inc({ method, operation, status }, 0);
      return (status: number, seconds: number): void => {
        requests.inc({ method, operation, status });
        durations.observe({ method, operation }, seconds);
      };
    },
  };
}

/** One value, or one for each value of the metric's only label. Null: not known now, and left out. */
type Measured = number | null | Readonly<Record<string, number>>;

/** Metrics by their names. */
type Readings<Value> = Readonly<
  Record<string, { readonly help: string; readonly label?: string; readonly read: () => Value | Promise<Value> }>
>;

/** Metrics that are read when they are requested. */
export function gauges(registry: Registry, metrics: Readings<Measured>): void {
  collect(Gauge, registry, metrics);
}

/** Counts that another part keeps, read when they are requested. */
export function counters(registry: Registry, metrics: Readings<number | Readonly<Record<string, number>>>): void {
  collect(Counter as unknown as typeof Gauge, registry, metrics);
}

function collect(Kind: typeof Gauge, registry: Registry, metrics: Readings<Measured>): void {
  for (const [name, { help, label, read }] of Object.entries(metrics))
    new Kind({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const measured = await read();
        this.reset();
        if (measured === null) this.remove();
        else if (typeof measured === 'number') this.inc(measured);
        else for (const [value, figure] of Object.entries(measured)) this.inc({ [label!]: value }, figure);
      },
    });
}

/** Null where the store cannot be asked now. */
export async function knownNow<T>(facts: Promise<T>): Promise<T | null> {
  try {
    return await facts;
  } catch (error) {
    if (error instanceof HoldingsFault) return null;
    throw error;
  }
}

/** Several metrics of one request are of the same reading, which is shared while it is under way. */
export function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}
