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
  new Gauge({
    name: 'holdfast_http_connections',
    help: 'Connections that are open.',
    registers: [registry],
    collect() {
      this.set(connections.openCount());
    },
  });
  new Gauge({
    name: 'holdfast_http_answers_waiting_bytes',
    help: 'Bytes of answers that clients have not read yet.',
    registers: [registry],
    collect() {
      this.set(connections.waitingBytes());
    },
  });
}

export function measureStreams(registry: Registry, openCount: () => number): void {
  new Gauge({
    name: 'holdfast_http_streams',
    help: 'Streams of events that are open.',
    registers: [registry],
    collect() {
      this.set(openCount());
    },
  });
}
