import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { Durations } from '../durations.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';

/** Counts every request by its route's method and path, not its own, so that labels stay few. */
export interface RequestMetrics {
  /** Counts an answer of an operation, whose faults are counted from 0 on, so that the first one is seen as an increase. */
  of(operation: Operation): (status: number, seconds: number) => void;
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

export interface Metrics {
  readonly registry: Registry;
  readonly requests: RequestMetrics;
}

/** What is wrong with the service itself. */
const FAULTS = [500, 503];
/** Bounds of the time from a request to its answer. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];
/** Sums of other metrics, named as if they were counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return { registry, requests: countRequests(registry) };
}

/** Counted here, and given to prom-client when they are requested: its counter and histogram take 5 us at each request. */
function countRequests(registry: Registry): RequestMetrics {
  const operations = new Map<string, { labels: Labels; byStatus: Map<number, number>; durations: Durations }>();
  const requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['method', 'operation', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, byStatus } of operations.values())
        for (const [status, value] of byStatus) requests.inc({ ...labels, status: String(status) }, value);
    },
  });
  histogram(registry, 'holdfast_http_request_seconds', 'Time from a request to its answer, by operation.', () =>
    [...operations.values()].filter(({ durations }) => durations.counts.some((count) => count > 0)),
  );
  return {
    of({ method, path }) {
      const name = `${method} ${path}`;
      const known = operations.get(name) ?? {
        labels: { method, operation: path },
        byStatus: new Map(FAULTS.map((status) => [status, 0])),
        durations: { bounds: SECONDS, counts: Array<number>(SECONDS.length + 1).fill(0), sum: 0 },
      };
      operations.set(name, known);
      return (status, duration) => {
        known.byStatus.set(status, (known.byStatus.get(status) ?? 0) + 1);
        const above = SECONDS.findIndex((bound) => duration <= bound);
        known.durations.counts[above < 0 ? SECONDS.length : above]! += 1;
        known.durations.sum += duration;
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
  collectors(metrics, (options) => {
    const gauge = new Gauge({ ...options, registers: [registry] });
    return { metric: gauge, put: (labels, value) => gauge.set(labels, value) };
  });
}

/** Counts that another part keeps, read when they are requested. */
export function counters(registry: Registry, metrics: Readings<number | Readonly<Record<string, number>>>): void {
  collectors(metrics, (options) => {
    const counter = new Counter({ ...options, registers: [registry] });
    return { metric: counter, put: (labels, value) => counter.inc(labels, value) };
  });
}

interface Collected {
  readonly metric: Gauge | Counter;
  readonly put: (labels: Labels, value: number) => void;
}

function collectors(
  metrics: Readings<Measured>,
  create: (options: { name: string; help: string; labelNames: string[]; collect: () => Promise<void> }) => Collected,
): void {
  for (const [name, { help, label, read }] of Object.entries(metrics)) {
    const collect = async (): Promise<void> => {
      const measured = await read();
      metric.reset();
      if (measured === null) metric.remove();
      else if (typeof measured === 'number') put({}, measured);
      else for (const [value, figure] of Object.entries(measured)) put({ [label!]: value }, figure);
    };
    const { metric, put } = create({ name, help, labelNames: label === undefined ? [] : [label], collect });
  }
}

/** Durations that another part counts, read when they are requested: prom-client's own histogram counts itself. */
export function histograms(registry: Registry, metrics: Readings<Durations>): void {
  for (const [name, { help, read }] of Object.entries(metrics))
    histogram(registry, name, help, async () => [{ labels: {}, durations: await read() }]);
}

type Labels = Readonly<Record<string, string>>;
type Series = readonly { readonly labels: Labels; readonly durations: Durations }[];

function histogram(registry: Registry, name: string, help: string, read: () => Series | Promise<Series>): void {
  const get = async (): Promise<object> => {
    const values = (await read()).flatMap(({ labels, durations: { bounds, counts, sum } }) => {
      let value = 0;
      const buckets = counts.map((count, i) => {
        value += count;
        return { metricName: `${name}_bucket`, labels: { le: String(bounds[i] ?? '+Inf'), ...labels }, value };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value },
      ];
    });
    return { name, help, type: 'histogram', values };
  };
  registry.registerMetric({ name, get } as unknown as Metric);
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
