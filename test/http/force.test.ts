import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ForceSnapshot } from '../../src/http/holdings-operations.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { type HoldingsService, openHoldings } from '../support/http/holdings-service.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const FIRST = '00:01 m4 =a : +a alice 10';
const PATH = '/api/scan/v0/state/acs/force';

let folder: TemporaryDirectory;
let nowMs = 0;
let service: HoldingsService;

const dataDir = (): string => folder.at('data');
const force: ForceSnapshot = async (wish) => {
  using writer = new ViewsWriter(dataDir(), WRITER_OPTIONS);
  return writer.force(wish);
};

/** Applies a ledger; what it repeats is skipped. */
async function apply(text: string): Promise<void> {
  const feed = folder.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
  expect((await replayInto(dataDir(), text === '' ? [] : [feed])).halted).toBeNull();
}

async function ask(
  headers: Record<string, string> = {},
): Promise<[status: number, body: unknown, retryAfter: string | null]> {
  const response = await service.app.request(PATH, { method: 'POST', headers });
  return [response.status, await response.json(), response.headers.get('retry-after')];
}

beforeEach(async () => {
  folder = temporaryDirectory();
  nowMs = 1_000_000;
  await apply(FIRST);
  service = openHoldings(dataDir(), { force, clockMs: () => nowMs });
});
afterEach(() => {
  service[Symbol.dispose]();
  folder[Symbol.dispose]();
});

test('a forced snapshot is at the last applied record time and is served at once', async () => {
  const sealed = { record_time: '2025-02-12T00:01:00Z', migration_id: 4 };
  expect(await ask()).toEqual([200, sealed, null]);
  const found = await service.app.request(
    '/v0/state/acs/snapshot-timestamp?before=2025-02-12T00:01:00Z&migration_id=4',
  );
  expect(await found.json()).toEqual({ record_time: sealed.record_time });
});

test('it needs neither a body nor a type, and minds neither', async () => {
  const given = { method: 'POST', body: 'anything', headers: { 'content-type': 'text/plain' } };
  expect((await service.app.request(PATH, given)).status).toBe(200);
});

test('repeated with nothing new it has the same answer, however soon', async () => {
  const first = await ask();
  expect(await ask()).toEqual(first);
  expect(await ask()).toEqual(first);
});

test('a new one is sealed at most once in ten seconds', async () => {
  await ask();
  await apply(`${FIRST}\n00:02 m4 =b : +b bob 20`);
  nowMs += 7_500;
  const [status, body, retryAfter] = await ask();
  expect([status, retryAfter]).toEqual([429, '3']);
  expect(body).toEqual({ error: 'a new snapshot is forced at most once in 10 s' });
  nowMs += 2_500;
  expect(await ask()).toEqual([200, { record_time: '2025-02-12T00:02:00Z', migration_id: 4 }, null]);
});

test('of requests at once one seals, and the others get its answer', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask()));
  expect(answers).toEqual(Array(5).fill([200, { record_time: '2025-02-12T00:01:00Z', migration_id: 4 }, null]));
  expect(await service.store.facts({ kind: 'snapshots' })).toHaveLength(1);
});

test('a page of any origin is refused', async () => {
  expect((await ask({ origin: 'http://localhost' }))[0]).toBe(403);
  expect(await service.store.facts({ kind: 'snapshots' })).toEqual([]);
});

test('where it is disabled it says so as Scan does', async () => {
  using disabled = openHoldings(dataDir());
  const response = await disabled.app.request(PATH, { method: 'POST' });
  expect([response.status, await response.json()]).toEqual([400, { error: 'Forced ACS snapshots are disabled.' }]);
});

test('where nothing was applied it is refused', async () => {
  using empty = temporaryDirectory();
  await replayInto(empty.at('data'), []);
  const forceThere: ForceSnapshot = async (wish) => {
    using writer = new ViewsWriter(empty.at('data'), WRITER_OPTIONS);
    return writer.force(wish);
  };
  using there = openHoldings(empty.at('data'), { force: forceThere });
  expect((await there.app.request(PATH, { method: 'POST' })).status).toBe(400);
});
