import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { DOCUMENTS } from '../../src/http/documents.ts';
import { HOLDINGS_OPERATIONS } from '../../src/http/holdings/operations.ts';
import { TABLE_OPERATIONS } from '../../src/http/insight/operations.ts';
import { ERROR } from '../../src/http/server/openapi.ts';
import { SERVICE_OPERATIONS } from '../../src/http/service/operations.ts';
import { readVersion } from '../../src/version.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
const { app } = service;
afterAll(() => service[Symbol.dispose]());

test('the committed document is the one that the code makes', () => {
  const committed = readFileSync(new URL('../../schemas/openapi-holdings.json', import.meta.url), 'utf8');
  const made = `${JSON.stringify(DOCUMENTS.holdings!.create(readVersion()), null, 2)}\n`;
  expect(committed, 'run `holdfast openapi holdings > schemas/openapi-holdings.json`').toBe(made);
});

const OPERATIONS = [...HOLDINGS_OPERATIONS, ...SERVICE_OPERATIONS];

test.each(OPERATIONS.filter(({ path }) => !path.endsWith('/force')))(
  'what $path answers to the example of the document is what the document says',
  async ({ method, path, answer, request }) => {
    const search = Object.entries(request?.example ?? {}).map(([name, value]) => `${name}=${value}`);
    const response =
      method === 'POST' ? await post(app, path, request?.example) : await app.request(`${path}?${search.join('&')}`);
    expect(response.status).toBe(200);
    checkAnswer(answer, JSON.parse(await response.text()));
  },
);

test.each(TABLE_OPERATIONS)(
  'what $path answers to the example of the document is what the document says',
  async ({ path, answer, example }) => {
    const { party = '', ...query } = example;
    const target = path.replace('{party}', encodeURIComponent(party));
    const response = await app.request(`${target}?${new URLSearchParams(query)}`);
    expect(response.status).toBe(200);
    const body = await response.text();
    checkAnswer(answer, JSON.parse(body));
    expect(Object.values(JSON.parse(body)).filter((value) => Array.isArray(value) && value.length > 0)).toHaveLength(1);
  },
);

test('what a fault answers is what the document says', async () => {
  checkAnswer(ERROR, JSON.parse(await (await post(app, '/v1/holdings/summary', {})).text()));
});

function checkAnswer(schema: z.ZodType, given: unknown): void {
  expect(schema.safeParse(given).error?.issues ?? []).toEqual([]);
}
