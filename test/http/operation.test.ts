import { Hono } from 'hono';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HOLDINGS_OPERATIONS } from '../../src/http/holdings-operations.ts';
import { field, type JsonOperation, jsonRoute, type OperationFacts } from '../../src/http/json-operation.ts';
import { answerSchemas, describeJsonOperation, STORY_EXAMPLE } from '../../src/http/openapi-documents.ts';
import { createMetrics } from '../../src/http/prometheus.ts';
import { addRoutes, createCors, methodsOf } from '../../src/http/routing.ts';
import { SERVICE_OPERATIONS } from '../../src/http/service-operations.ts';
import { USERS_OPERATIONS } from '../../src/http/users-operations.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { startWorld } from '../support/users/world.ts';

/** An operation as one would be added: it doubles a number. */
const FIELDS = z.object({ n: field((given) => Number(given) || null, 'a number', { type: 'number' }) });
const DOUBLE: JsonOperation<{ readonly factor: number }, typeof FIELDS> = {
  method: 'GET',
  path: '/v0/doubled',
  operationId: 'getDoubled',
  summary: 'A number, doubled.',
  request: {
    fields: () => FIELDS,
    example: () => ({ n: 21 }),
  },
  answer: z.strictObject({ doubled: z.number() }).meta({ id: 'Doubled' }),
  faults: { 400: 'It is no number.' },
  handle: ({ n }, { factor }) => JSON.stringify({ doubled: n * factor }),
};

describe('an operation that is added to a list', () => {
  const metrics = createMetrics();
  const app = new Hono();
  const served = { callOf: () => ({ factor: 2 }), limits: { ownersMax: 1, bodyBytesMax: 1 }, cors: createCors(['*']) };
  addRoutes(app, [jsonRoute(DOUBLE, served)], { logger: pino({ level: 'silent' }), metrics: metrics.requests });
  app.notFound((c) => c.text(methodsOf(app, c).join(' ')));

  test.each(['/v0/doubled', '/api/scan/v0/doubled'])('is served as %s, with its preflight', async (path) => {
    const response = await app.request(`${path}?n=21`);
    expect([response.status, await response.json()]).toEqual([200, { doubled: 42 }]);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const preflight = await app.request(path, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(await (await app.request(path, { method: 'PUT' })).text()).toBe('GET HEAD OPTIONS');
  });

  test('is validated by its fields', async () => {
    const response = await app.request('/v0/doubled?n=x');
    expect([response.status, await response.json()]).toEqual([400, { error: 'n: given "x", expected a number' }]);
  });

  test('is counted by its path, whatever its prefix', async () => {
    await app.request('/api/scan/v0/doubled?n=1');
    const counted = await metrics.registry.metrics();
    expect(counted).toMatch(/holdfast_http_requests_total\{method="GET",operation="\/v0\/doubled",status="200"\} \d/);
    expect(counted).not.toContain('operation="/api/scan');
  });

  test('is documented with its parameters, answers and faults', () => {
    expect(describeJsonOperation(DOUBLE, served.limits, STORY_EXAMPLE)).toMatchObject({
      parameters: [{ name: 'n', in: 'query', required: true, example: 21 }],
      responses: { 200: {}, 400: { description: 'It is no number.' }, 500: {} },
    });
    expect(Object.keys(answerSchemas([DOUBLE]))).toEqual(['Doubled', 'Error']);
  });
});

interface Area {
  readonly operations: readonly OperationFacts[];
  readonly ask: (path: string, init: RequestInit) => Response | Promise<Response>;
}

test('every operation of the lists is served, and no other method of its path', async () => {
  await using world = await startWorld();
  using holdings = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
  const areas: readonly Area[] = [
    { operations: [...HOLDINGS_OPERATIONS, ...SERVICE_OPERATIONS], ask: holdings.app.request },
    { operations: USERS_OPERATIONS, ask: (path: string, init: RequestInit) => fetch(`${world.area.url}${path}`, init) },
  ];
  for (const { operations, ask } of areas) {
    for (const [path, same] of Map.groupBy(operations, ({ path }) => path)) {
      const response = await ask(path, { method: 'PUT' });
      const methods = response.headers.get('allow')?.split(', ') ?? [];
      expect(response.status, path).toBe(405);
      const own = methods.filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
      expect(own.sort()).toEqual(same.map(({ method }) => method).sort());
    }
  }
});
