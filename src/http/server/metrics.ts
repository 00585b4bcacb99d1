import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { addDuration, type Durations, noDurations } from '../../durations.ts';
import type { Connections } from './connections.ts';

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

/** The requests of one operation. */
interface Answered {
  readonly labels: Labels;
  readonly byStatus: Map<number, number>;
  readonly durations: Durations;
}

/** Requests are counted here and read from here: prom-client would look for the metric by its labels at each of them. */
function countRequests(registry: Registry): RequestMetrics {
  const operations = new Map<string, Answered>();
  const all = <Value>(of: (answered: Answered) => readonly Value[]): Value[] => [...operations.values()].flatMap(of);
  register(registry, 'holdfast_http_requests_total', {
    type: 'counter',
    help: 'Requests answered, by operation and status.',
    read: () =>
      all(({ labels, byStatus }) =>
        [...byStatus].map(([status, value]) => ({ labels: { ...labels, status: String(status) }, value })),
      ),
  });
  const seconds = 'holdfast_http_request_seconds';
  register(registry, seconds, {
    type: 'histogram',
    help: 'Time from a request to its answer, by operation.',
    read: () =>
      all(({ labels, durations }) =>
        durations.counts.some((count) => count > 0) ? samplesOf(seconds, durations, labels) : [],
      ),
  });
  return {
    of({ method, path }) {
      const name = `${method} ${path}`;
      const answered = operations.get(name) ?? {
        labels: { method, operation: path },
        byStatus: new Map(FAULTS.map((status) => [status, 0])),
        durations: noDurations(SECONDS),
      };
      operations.set(name, answered);
      const { byStatus, durations } = answered;
      return (status, duration) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        addDuration(durations, duration);
      };
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
  readOnRequest('gauge', registry, metrics);
}

/** Counts that somebody else keeps, read when they are requested. */
export function counters(registry: Registry, metrics: Readings<Measured>): void {
  readOnRequest('counter', registry, metrics);
}

function readOnRequest(type: 'gauge' | 'counter', registry: Registry, metrics: Readings<Measured>): void {
  for (const [name, { help, label, read }] of Object.entries(metrics)) {
    const samples = (measured: Measured): Sample[] => {
      if (measured === null) return [];
      if (typeof measured === 'number') return [{ value: measured }];
      return Object.entries(measured).map(([value, figure]) => ({ labels: { [label!]: value }, value: figure }));
    };
    register(registry, name, { type, help, read: async () => samples(await read()) });
  }
}

/** Durations that somebody else counts, read when they are requested: prom-client's own histogram counts itself. */
export function histograms(registry: Registry, metrics: Readings<Durations>): void {
  for (const [name, { help, read }] of Object.entries(metrics)) {
    register(registry, name, { type: 'histogram', help, read: async () => samplesOf(name, await read(), {}) });
  }
}

type Labels = Readonly<Record<string, string>>;

interface Sample {
  /** Where it is not the metric's own. */
  readonly metricName?: string;
  readonly labels?: Labels;
  readonly value: number;
}

/** A metric that prom-client only writes: its samples are read when it is requested. */
function register(
  registry: Registry,
  name: string,
  {
    read,
    ...rest
  }: { type: 'gauge' | 'counter' | 'histogram'; help: string; read: () => Sample[] | Promise<Sample[]> },
): void {
  const get = async (): Promise<object> => ({ name, ...rest, values: await read() });
  registry.registerMetric({ name, get } as unknown as Metric);
}

function samplesOf(name: string, { bounds, counts, sum }: Durations, labels: Labels): Sample[] {
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
}
