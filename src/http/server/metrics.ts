import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Connections } from './connections.ts';

/** Counts every request; `operation` is the path of a route, not of a request, so that labels stay few. */
export interface RequestMetrics {
  observe(operation: string, status: number, seconds: number): void;
}

export interface Metrics {
  readonly registry: Registry;
  readonly requests: RequestMetrics;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const answered = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'Time from a request to its answer, by operation.',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  });
  // Finding a metric by its labels costs more than counting.
  const known = new Map<string, { count: Counter.Internal; time: Histogram.Internal<'operation'> }>();
  return {
    registry,
    requests: {
      observe(operation, status, duration) {
        const key = `${operation} ${status}`;
        let metrics = known.get(key);
        if (metrics === undefined) {
          metrics = { count: answered.labels(operation, String(status)), time: seconds.labels(operation) };
          known.set(key, metrics);
        }
        metrics.count.inc();
        metrics.time.observe(duration);
      },
    },
  };
}

/** Both are read when the metrics are requested. */
export function measureConnections(registry: Registry, connections: Connections): void {
  gauges(registry, [
    { name: 'holdfast_http_connections', help: 'Connections that are open.', read: () => connections.openCount() },
    {
      name: 'holdfast_http_answers_waiting_bytes',
      help: 'Bytes of answers that clients have not read yet.',
      read: () => connections.waitingBytes(),
    },
  ]);
}

/** One value, or one for each value of the metric's only label. Null: not known now, and left out. */
type Measured = number | null | Readonly<Record<string, number>>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: () => Measured | Promise<Measured>;
}

/** Metrics that are read when they are requested. */
export function gauges(registry: Registry, metrics: readonly Metric[]): void {
  for (const { name, help, label, read } of metrics) {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const measured = await read();
        this.reset();
        if (measured === null) this.remove();
        else if (typeof measured === 'number') this.set(measured);
        else for (const [value, figure] of Object.entries(measured)) this.set({ [label!]: value }, figure);
      },
    });
  }
}

/** Counts that somebody else keeps, read when they are requested. */
export function counters(registry: Registry, metrics: readonly Metric[]): void {
  for (const { name, help, label, read } of metrics) {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const counted = await read();
        this.reset();
        if (typeof counted === 'number') this.inc(counted);
        else for (const [value, count] of Object.entries(counted ?? {})) this.inc({ [label!]: value }, count);
      },
    });
  }
}

export function measureStreams(registry: Registry, openCount: () => number): void {
  gauges(registry, [{ name: 'holdfast_http_streams', help: 'Streams of events that are open.', read: openCount }]);
}
