import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Connections } from './connections.ts';

/** Counts every request by its route's method and path, not its own, so that labels stay few. */
export interface RequestMetrics {
  /** Counts its faults from 0 on, so that the first one is seen as an increase. */
  expect(operation: Operation): void;
  observe(operation: Operation, status: number, seconds: number): void;
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
const FAULTS = ['500', '503'];
/** Sums of other metrics, named as if they were counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const answered = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['method', 'operation', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'Time from a request to its answer, by operation.',
    labelNames: ['method', 'operation'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  });
  // Finding a metric by its labels costs more than counting.
  const known = new Map<string, { count: Counter.Internal; time: Histogram.Internal<'method' | 'operation'> }>();
  return {
    registry,
    requests: {
      expect({ method, path }) {
        for (const status of FAULTS) answered.inc({ method, operation: path, status }, 0);
      },
      observe({ method, path }, status, duration) {
        const key = `${method} ${path} ${status}`;
        let metrics = known.get(key);
        if (metrics === undefined) {
          metrics = { count: answered.labels(method, path, String(status)), time: seconds.labels(method, path) };
          known.set(key, metrics);
        }
        metrics.count.inc();
        metrics.time.observe(duration);
      },
    },
  };
}

/** All are read when the metrics are requested. */
export function measureConnections(registry: Registry, connections: Connections): void {
  gauges(registry, {
    holdfast_http_connections: {
      help: 'Connections that are open: busy with a request or a stream, or idle.',
      label: 'state',
      read: () => connections.count(),
    },
    holdfast_http_answers_waiting_bytes: {
      help: 'Bytes of answers that clients have not read yet.',
      read: () => connections.waitingBytes(),
    },
  });
}

export function measureStreams(registry: Registry, openCount: () => number): void {
  gauges(registry, { holdfast_http_streams: { help: 'Streams of events that are open.', read: openCount } });
}

/** One value, or one for each value of the metric's only label. Null: not known now, and left out. */
type Measured = number | null | Readonly<Record<string, number>>;

/** Metrics by their names. */
type Readings<Value> = Readonly<
  Record<string, { readonly help: string; readonly label?: string; readonly read: () => Value | Promise<Value> }>
>;

/** Metrics that are read when they are requested. */
export function gauges(registry: Registry, metrics: Readings<Measured>): void {
  readOnRequest(Gauge, registry, metrics);
}

/** Counts that somebody else keeps, read when they are requested. */
export function counters(registry: Registry, metrics: Readings<Measured>): void {
  readOnRequest(Counter, registry, metrics);
}

function readOnRequest(Kind: typeof Gauge | typeof Counter, registry: Registry, metrics: Readings<Measured>): void {
  for (const [name, { help, label, read }] of Object.entries(metrics)) {
    const metric = new Kind({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const measured = await read();
        metric.reset();
        if (measured === null) metric.remove();
        else if (typeof measured === 'number') metric.inc(measured);
        else for (const [value, figure] of Object.entries(measured)) metric.inc({ [label!]: value }, figure);
      },
    });
  }
}

/** How often something took at most as long as each of the bounds, in seconds; one more count for what took longer. */
export interface DurationCounts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Durations that somebody else counts, read when they are requested: prom-client's own histogram counts itself. */
export function histograms(registry: Registry, metrics: Readings<DurationCounts>): void {
  for (const [name, { help, read }] of Object.entries(metrics)) {
    const get = async (): Promise<object> => ({ name, help, type: 'histogram', values: samplesOf(name, await read()) });
    registry.registerMetric({ name, get } as unknown as Gauge);
  }
}

function samplesOf(name: string, { bounds, counts, sum }: DurationCounts): object[] {
  let value = 0;
  const buckets = counts.map((count, i) => {
    value += count;
    return { metricName: `${name}_bucket`, labels: { le: bounds[i] ?? '+Inf' }, value };
  });
  return [...buckets, { metricName: `${name}_sum`, value: sum }, { metricName: `${name}_count`, value }];
}
