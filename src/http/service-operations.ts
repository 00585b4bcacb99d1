import type { Registry } from 'prom-client';
import { z } from 'zod';
import type { HoldingsStore, Snapshot } from '../holdings/facts.ts';
import { formatTime } from '../ledger/time.ts';
import { type JsonOperation, jsonRoute, type ServedLimits } from './json-operation.ts';
import { metricsResponse } from './metrics-server.ts';
import { type Cors, get, type Route } from './routing.ts';
import { docsRoutes, type ServedDocument } from './web-pages.ts';

/** The service's health, answered by /readyz and /status. */
export interface Health {
  ready(): Promise<Readiness>;
  status(): Promise<object & { readonly dso?: string | null }>;
}

/** Why a service is not ready, as `/metrics` names it. */
export const NOT_READY_CAUSES = [
  'starting',
  /** The source was not applied to its end. */
  'behind',
  'halted',
  'waiting_for_clock',
  /** The source does not continue what is in the views. */
  'refused',
  /** The views cannot be written for now. */
  'retrying',
  'stopped',
  /** The writer has ended by a fault. */
  'failed',
  'no_snapshot',
  /** A store in PostgreSQL cannot be reached, or has another form. */
  'store_unavailable',
] as const;
export type NotReadyCause = (typeof NOT_READY_CAUSES)[number];

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, in sentences; the cause of each. */
  readonly reasons: readonly string[];
  readonly causes: readonly NotReadyCause[];
  /** Faults with which it is still ready, such as quarantined updates. */
  readonly degraded: readonly string[];
}

/** Why a process is not ready. */
export type Obstacle = readonly [cause: NotReadyCause, ...reasons: readonly string[]];

const NO_SNAPSHOT: Obstacle = ['no_snapshot', 'no snapshot is sealed yet'];

/** Ready with a snapshot and without an obstacle. */
export async function readiness(
  store: HoldingsStore,
  obstacle: Obstacle | null,
  degraded: readonly string[],
): Promise<Readiness> {
  const hasSnapshot = (await store.facts({ kind: 'newest snapshots' })).length > 0;
  const obstacles = [...(obstacle === null ? [] : [obstacle]), ...(hasSnapshot ? [] : [NO_SNAPSHOT])];
  return {
    ready: obstacles.length === 0,
    reasons: obstacles.flatMap(([, ...reasons]) => reasons),
    causes: obstacles.map(([cause]) => cause),
    degraded,
  };
}

export function newestSnapshots(newest: readonly Snapshot[]): object {
  return newest.map(({ migrationId, recordTime }) => ({
    migration_id: migrationId,
    record_time: formatTime(recordTime),
  }));
}

interface ServiceCall {
  readonly health: Health;
  readonly version: string;
}

/** The operations of the service itself. */
export const SERVICE_OPERATIONS: readonly JsonOperation<ServiceCall>[] = [
  {
    method: 'GET',
    path: '/livez',
    operationId: 'isLive',
    summary: 'Whether the process can answer.',
    answer: z.strictObject({}).meta({ id: 'Live' }),
    handle: () => '{}',
  },
  {
    method: 'GET',
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Whether a snapshot is served and the source is caught up.',
    answer: z
      .strictObject({
        ready: z.boolean(),
        reasons: z.array(z.string()).meta({ description: 'Why it is not ready.' }),
        degraded: z.array(z.string()).meta({ description: 'What is wrong although it may be ready.' }),
      })
      .meta({ id: 'Readiness' }),
    alsoAnswers: { 503: 'Not ready; the answer is of the same form and says why.' },
    handle: async (_, { health }) => {
      const { ready, reasons, degraded } = await health.ready();
      return { status: ready ? 200 : 503, text: JSON.stringify({ ready, reasons, degraded }) };
    },
  },
  {
    method: 'GET',
    path: '/status',
    operationId: 'getStatus',
    summary: 'The status of the service.',
    answer: z
      .looseObject({})
      .meta({ id: 'Status', description: 'Source, position, lag, newest snapshots, counts and the last error.' }),
    handle: async (_, { health }) => {
      const { degraded } = await health.ready();
      return JSON.stringify({ ...(await health.status()), degraded });
    },
  },
  {
    method: 'GET',
    path: '/version',
    operationId: 'getVersion',
    summary: "The program's version.",
    answer: z.strictObject({ version: z.string().meta({ examples: ['0.1.0'] }) }).meta({ id: 'Version' }),
    handle: (_, { version }) => JSON.stringify({ version }),
  },
];

export interface ServiceDeps extends ServiceCall {
  readonly registry: Registry;
  /** Whether /metrics is here, and not at an address of its own. */
  readonly hasMetrics: boolean;
  /** The documents of /docs and /openapi/; the page opens with the first. */
  readonly documents: readonly ServedDocument[];
  readonly limits: ServedLimits;
}

/** Every route of the service itself. Metrics and documents are not under /api/scan, and not for pages of other origins. */
export function serviceRoutes(deps: ServiceDeps, cors: Cors): readonly Route[] {
  const { registry, hasMetrics, documents, limits } = deps;
  return [
    ...SERVICE_OPERATIONS.map((operation) => jsonRoute(operation, { callOf: () => deps, limits, cors })),
    ...(hasMetrics ? [get('/metrics', () => metricsResponse(registry))] : []),
    ...docsRoutes(documents),
  ];
}
