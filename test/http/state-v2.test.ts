import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const PATH = '/v2/holdings/state';
const { owner_party_ids, snapshots } = readExpected('story');
const { migration_id, record_time } = snapshots.at(-1)!;
const request = { migration_id, record_time, owner_party_ids, page_size: 1 };

interface Page {
  readonly record_time: string;
  readonly created_events: readonly unknown[];
  readonly next_page_token: string;
}

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

describe('the token of a page', async () => {
  const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
  afterAll(() => service[Symbol.dispose]());
  const ask = async (body: object): Promise<{ status: number; text: string }> => {
    const response = await post(service.app, PATH, body);
    return { status: response.status, text: await response.text() };
  };
  const { next_page_token } = JSON.parse((await ask(request)).text) as Page;

  test.each([
    ['the same values', {}],
    ['another page size', { page_size: 1000 }],
    ['a default value that is given', { record_time_match: 'exact' }],
    ['the same time written in another way', { record_time: record_time.replace('Z', '+00:00') }],
    ['an owner twice', { owner_party_ids: [...owner_party_ids, owner_party_ids[0]] }],
  ])('is valid beside %s', async (_, change) => {
    const { status, text } = await ask({ ...request, after: next_page_token, ...change });
    expect(status, text).toBe(200);
  });

  test.each([
    ['owner', { owner_party_ids: owner_party_ids.slice(1) }],
    ['time', { record_time: snapshots.at(-2)!.record_time }],
    ['match', { record_time_match: 'at_or_before' }],
    ['migration', { migration_id: migration_id + 1 }],
  ])('is refused beside another %s', async (_, change) => {
    const { status, text } = await ask({ ...request, after: next_page_token, ...change });
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatch(/^after: given "[\w-]+(\.\.\.)?"?, expected a next_page_token of .*same/);
  });
});

test('all pages of at_or_before are of the snapshot of the first, also where a newer one is sealed meanwhile', async () => {
  const lines = readFileSync(fixture('story.scan.ndjson'), 'utf8').trimEnd().split('\n');
  const dataDir = await makeDataDirectory([folder.writeLines('first.ndjson', lines.slice(0, 7))]);
  using service = openHoldings(dataDir);
  const late = { ...request, record_time: '2030-01-01T00:00:00Z', record_time_match: 'at_or_before' };
  const ask = async (given: object): Promise<Page> => {
    const response = await post(service.app, PATH, given);
    expect(response.status).toBe(200);
    return JSON.parse(await response.text()) as Page;
  };
  const whole = await ask({ ...late, page_size: 1000 });
  expect(whole.created_events.length).toBeGreaterThan(1);
  const found: Page[] = [await ask(late)];
  await replayInto(dataDir, [fixture('story.scan.ndjson')]);
  expect((await ask(late)).record_time).not.toBe(whole.record_time);
  while (found.at(-1)!.next_page_token !== undefined)
    found.push(await ask({ ...late, after: found.at(-1)!.next_page_token }));
  expect(found.map((page) => page.record_time)).toEqual(found.map(() => whole.record_time));
  expect(found.flatMap((page) => page.created_events)).toEqual(whole.created_events);
});
