import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { ANSWER_SCHEMAS, type AnswerName } from '../../src/http/holdings/openapi/answer-schemas.ts';
import { createHoldingsDocument } from '../../src/http/holdings/openapi/document.ts';
import { REQUEST_EXAMPLES } from '../../src/http/holdings/openapi/examples.ts';
import { DOCUMENTED_OPERATIONS } from '../../src/http/holdings/openapi/operations.ts';
import { readVersion } from '../../src/version.ts';
import { fixture } from './expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from './holdings-service.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
const { app } = service;
afterAll(() => service[Symbol.dispose]());

test('the committed document is the one that the code makes', () => {
  const committed = readFileSync(new URL('../../schemas/openapi-holdings.json', import.meta.url), 'utf8');
  const made = `${JSON.stringify(createHoldingsDocument(readVersion()), null, 2)}\n`;
  expect(committed, 'run `holdfast openapi holdings > schemas/openapi-holdings.json`').toBe(made);
});

test('the document names every operation that is served under /api/scan, and no other', () => {
  const served = app.routes.filter(({ method, path }) => method !== 'OPTIONS' && path.startsWith('/api/scan/'));
  const servedNames = served.map(({ method, path }) => `${method} ${path.slice('/api/scan'.length)}`);
  const documented = DOCUMENTED_OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(documented.sort()).toEqual(servedNames.sort());
});

test.each(DOCUMENTED_OPERATIONS.filter(({ path }) => !path.endsWith('/force')))(
  'what $path answers to the example of the document is what the document says',
  async ({ path, answer, body, query }) => {
    const parameters = query === undefined ? {} : REQUEST_EXAMPLES[query];
    const search = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
    const response =
      body === undefined
        ? await app.request(`${path}?${search.join('&')}`)
        : await post(app, path, REQUEST_EXAMPLES[body]);
    expect(response.status).toBe(200);
    checkAnswer(answer, JSON.parse(await response.text()));
  },
);

test('what a fault answers is what the document says', async () => {
  checkAnswer('Error', JSON.parse(await (await post(app, '/v1/holdings/summary', {})).text()));
});

function checkAnswer(name: AnswerName, given: unknown): void {
  const parsed = ANSWER_SCHEMAS[name].safeParse(given);
  expect(parsed.error?.issues ?? []).toEqual([]);
}
