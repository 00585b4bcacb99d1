import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { HOLDINGS_OPERATIONS } from '../../src/http/holdings-operations.ts';
import { DOCUMENTS, STORY_EXAMPLE, servedDocuments } from '../../src/http/openapi-documents.ts';
import { ERROR } from '../../src/http/routing.ts';
import { SERVICE_OPERATIONS } from '../../src/http/service-operations.ts';
import { TABLE_OPERATIONS } from '../../src/http/table-operations.ts';
import { readVersion } from '../../src/version.ts';
import { startAnswers } from '../../src/views/read/server-answers.ts';
import { openEventLoopStore } from '../../src/views/read/views-store.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { type HoldingsService, makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
const { app } = service;
afterAll(() => service[Symbol.dispose]());

test.each(Object.keys(DOCUMENTS))(
  'the committed document of %s is made by the code, and has what it refers to',
  (area) => {
    const document = DOCUMENTS[area]!.create(readVersion()) as { components: { schemas: object } };
    const committed = readFileSync(new URL(`../../schemas/openapi-${area}.json`, import.meta.url), 'utf8');
    expect(committed, 'run scripts/write-schemas.ts').toBe(`${JSON.stringify(document, null, 2)}\n`);
    const references = [...committed.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(document.components.schemas).toHaveProperty(name);
  },
);

test('the document of a service on PostgreSQL has what it refers to, and nothing that its store does not keep', () => {
  const document = DOCUMENTS.holdings!.create('1', STORY_EXAMPLE, false) as {
    paths: object;
    components: { schemas: object };
  };
  const ours = Object.keys(document.paths).filter((path) => path.startsWith('/holdfast/v1/'));
  const tables = ['snapshots', 'owners', 'owners/{party}/history', 'owners/{party}/changes', 'top'];
  const instruments = ['instruments', 'owners/{party}/instruments'];
  expect(ours).toEqual([...tables, ...instruments, 'stream'].map((name) => `/holdfast/v1/${name}`));
  for (const [, name] of JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g))
    expect(document.components.schemas).toHaveProperty(name!);
});

const OPERATIONS = [...HOLDINGS_OPERATIONS, ...SERVICE_OPERATIONS];

test.each(OPERATIONS.filter(({ path }) => !path.endsWith('/force')))(
  'what $path answers to the example of the document is what the document says',
  async ({ method, path, answer, request }) => {
    const example = request?.example(STORY_EXAMPLE) ?? {};
    const search = Object.entries(example).map(([name, value]) => `${name}=${value}`);
    const response =
      method === 'POST' ? await post(app, path, example) : await app.request(`${path}?${search.join('&')}`);
    expect(response.status).toBe(200);
    checkAnswer(answer, JSON.parse(await response.text()));
  },
);

test.each(TABLE_OPERATIONS)(
  'what $path answers to the example of the document is what the document says',
  async ({ path, table, answer }) => {
    const target = path.replace('{party}', encodeURIComponent(STORY_EXAMPLE.owner));
    // Later there are none.
    const response = await app.request(
      table === 'locks' ? `${target}?record_time=${STORY_EXAMPLE.recordTime}` : target,
    );
    expect(response.status).toBe(200);
    const body = await response.text();
    checkAnswer(answer, JSON.parse(body));
    const lists = Object.values(JSON.parse(body)).filter((value) => Array.isArray(value) && value.length > 0);
    expect(lists).toHaveLength(['balance', 'unreadable', 'found'].includes(table) ? 0 : 1);
  },
);

test('what a fault answers is what the document says', async () => {
  checkAnswer(ERROR, JSON.parse(await (await post(app, '/v1/holdings/summary', {})).text()));
});

describe('the document of a service', () => {
  /** What one reads, and all that it asks as it stands: no parameter that need not be given. */
  async function examplesOf({
    app,
  }: HoldingsService): Promise<{ document: string; requests: [string, RequestInit][] }> {
    const document = await (await app.request('/openapi/holdings.json')).text();
    const requests: [string, RequestInit][] = [];
    const { paths } = JSON.parse(document) as { paths: Readonly<Record<string, Readonly<Record<string, Documented>>>> };
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        expect(parameters.filter((each) => 'example' in each !== each.required)).toEqual([]);
        const content = requestBody?.content['application/json'];
        if (content !== undefined)
          expect(Object.keys(content.example)).toEqual(expect.arrayContaining(content.schema.required));
        const filled = path.replace(/\{(.*?)\}/, (_, name) =>
          encodeURIComponent(String(parameters.find((each) => each.name === name)!.example)),
        );
        const query = parameters.filter((each) => each.in === 'query' && 'example' in each);
        const search = new URLSearchParams(query.map(({ name, example }): [string, string] => [name, String(example)]));
        const headers = { 'content-type': 'application/json' };
        const body = content === undefined ? {} : { headers, body: JSON.stringify(content.example) };
        if (!/force$|stream$/.test(path))
          requests.push([`${filled}?${search}`, { method: method.toUpperCase(), ...body }]);
      }
    return { document, requests };
  }

  interface Documented {
    readonly parameters?: readonly { name: string; in: string; required: boolean; example?: unknown }[];
    readonly requestBody?: {
      readonly content: { 'application/json': { schema: { required: string[] }; example: object } };
    };
  }

  const serve = (dataDir: string): HoldingsService & AsyncDisposable => {
    const store = openEventLoopStore(dataDir);
    const answers = startAnswers(store, { dataDir, rules: { emptyOwners: 'zero' }, logger: pino({ level: 'silent' }) });
    const documents = servedDocuments({ version: '1', areas: ['holdings'], answers });
    const opened = openHoldings(dataDir, { answers, documents });
    const end = async (): Promise<void> => {
      opened[Symbol.dispose]();
      await answers[Symbol.asyncDispose]();
      store[Symbol.dispose]();
    };
    return { ...opened, [Symbol.asyncDispose]: end };
  };

  test.each([
    ['a random ledger', () => linesOf(randomLedger(oddLedger(3, { updates: 200, migrations: 2 })), 'scan')],
    [
      'a ledger without coin in its newest snapshot',
      () => linesOf(parseLedger('00:01 : +a alice 1\n00:31 : -a ; +r round 7\n00:52 :'), 'scan'),
    ],
  ])('has examples that are answered with 200 as they stand, on %s', async (_, lines) => {
    using folder = temporaryDirectory();
    await using other = serve(await makeDataDirectory([folder.writeLines('feed.ndjson', lines())]));
    const { requests } = await examplesOf(other);
    expect(requests.length).toBeGreaterThan(14);
    for (const [target, init] of requests) {
      const response = await other.app.request(target, init);
      expect([target, response.status], await response.text()).toEqual([target, 200]);
    }
  });

  test('names the newest snapshot, its largest owner and no other; without a snapshot the story', async () => {
    await using empty = serve(await makeDataDirectory([]));
    const { document } = await examplesOf(empty);
    expect(document).toBe(JSON.stringify(DOCUMENTS.holdings!.create('1')));
    const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
    await using live = serve(dataDir);
    const before = await examplesOf(live);
    expect(before.document).toContain('"record_time":"2025-02-12T01:10:00Z"');
    await replayInto(dataDir, [fixture('story-migration.scan.ndjson')]);
    const { document: after } = await examplesOf(live);
    expect(after).not.toContain('2025-02-12T01:10:00Z');
    expect(after).toContain('"migration_id":1,');
  });
});

function checkAnswer(schema: z.ZodType, given: unknown): void {
  expect(schema.safeParse(given).error?.issues ?? []).toEqual([]);
}
