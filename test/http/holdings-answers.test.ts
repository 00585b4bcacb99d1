import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const story = { ...readExpected('story'), dataDir: await makeDataDirectory([fixture('story.scan.ndjson')]) };
const files = [fixture('story.scan.ndjson'), fixture('story-migration.scan.ndjson')];
const migrated = { ...readExpected('story-migration'), dataDir: await makeDataDirectory(files) };

describe.each([
  ['the story', story],
  ['the story after a migration', migrated],
])('%s', (_name, expected) => {
  const { dataDir, owner_party_ids, snapshots } = expected;
  const service = openHoldings(dataDir);
  const { app } = service;
  afterAll(() => service[Symbol.dispose]());
  const requestOf = ({ migration_id, record_time }: (typeof snapshots)[number]): Record<string, unknown> => {
    return { migration_id, record_time, owner_party_ids };
  };

  test.each(snapshots)('the summaries of $record_time are those of the oracle', async (snapshot) => {
    const v1 = await post(app, '/v1/holdings/summary', requestOf(snapshot));
    expect(v1.status).toBe(200);
    expect(await v1.text()).toBe(JSON.stringify(snapshot.summary_v1));
    for (const answer of snapshot.summaries_v0) {
      const request = { ...requestOf(snapshot), as_of_round: answer.computed_as_of_round };
      const v0 = await post(app, '/api/scan/v0/holdings/summary', request);
      expect(JSON.parse(await v0.text())).toEqual(answer);
    }
  });

  test.each(snapshots)(
    'the pages of $record_time, one after the other, are the state of the oracle',
    async (snapshot) => {
      for (const version of ['v1', 'v2'])
        for (const page_size of [1, 2, 1000]) {
          const found: unknown[] = [];
          let after: unknown = null;
          do {
            const page = await post(app, `/${version}/holdings/state`, { ...requestOf(snapshot), page_size, after });
            const answer = JSON.parse(await page.text());
            found.push(...answer.created_events);
            after = answer.next_page_token ?? null;
            expect([version, 'next_page_token' in answer]).toEqual([version, version === 'v1' || after !== null]);
            if (after !== null) expect(answer.created_events).toHaveLength(page_size);
          } while (after !== null);
          expect(found).toEqual(snapshot.state_v1);
        }
    },
  );

  test.each(snapshots)('v0 gives the state of $record_time as events', async (snapshot) => {
    const page = await post(app, '/v0/holdings/state', { ...requestOf(snapshot), page_size: 1000 });
    const { created_events } = JSON.parse(await page.text());
    const expected = snapshot.state_v1.map(({ created_in_update_id: _, ...rest }, i) => {
      return { event_type: 'created_event', event_id: snapshot.state_v0_event_ids[i], ...rest };
    });
    expect(created_events).toEqual(expected);
    for (const event of created_events) expect(Object.keys(event)).toEqual(EVENT_FIELDS);
  });

  test('without a round the lowest open one counts, and the largest migration is known', async () => {
    const v0 = await post(app, '/v0/holdings/summary', requestOf(snapshots[0]!));
    expect(JSON.parse(await v0.text()).computed_as_of_round).toBe(expected.lowest_open_round);
    const last = await app.request('/v0/migrations/last');
    expect(await last.text()).toBe(`{"migration_id":${expected.last_migration}}`);
  });
});

const EVENT_FIELDS = [
  'event_type',
  'event_id',
  'contract_id',
  'template_id',
  'package_name',
  'create_arguments',
  'created_at',
  'signatories',
  'observers',
];

describe('which snapshot answers', () => {
  const service = openHoldings(migrated.dataDir);
  const { app } = service;
  afterAll(() => service[Symbol.dispose]());

  test.each([
    ['snapshot-timestamp', 'before=2025-02-12T00:10:00Z&migration_id=0', '2025-02-12T00:10:00Z'],
    ['snapshot-timestamp', 'before=2025-02-12T00:19:59.999999Z&migration_id=0', '2025-02-12T00:10:00Z'],
    ['snapshot-timestamp', 'before=2030-01-01T00:00Z&migration_id=0', '2025-02-12T01:10:00Z'],
    ['snapshot-timestamp', 'before=2025-02-12T02:10:00%2B02:00&migration_id=0', '2025-02-12T00:10:00Z'],
    ['snapshot-timestamp-after', 'after=0001-01-01T00:00:00Z&migration_id=0', '2025-02-12T00:10:00Z'],
    ['snapshot-timestamp-after', 'after=2025-02-12T00:10:00Z&migration_id=0', '2025-02-12T00:20:00Z'],
    ['snapshot-timestamp-after', 'after=2025-02-12T01:10:00Z&migration_id=0', '2025-02-12T01:10:00Z'],
    ['snapshot-timestamp-after', 'after=2030-01-01T00:00:00Z&migration_id=-5', '2025-02-12T00:10:00Z'],
  ])('%s?%s is %s', async (route, query, time) => {
    const response = await app.request(`/v0/state/acs/${route}?${query}`);
    expect(await response.text()).toBe(`{"record_time":"${time}"}`);
  });

  test('at_or_before takes the newest snapshot, and says which', async () => {
    const request = { migration_id: 0, record_time: '2025-02-12T00:15:00Z', owner_party_ids: ['nobody::1'] };
    const response = await post(app, '/v1/holdings/summary', { ...request, record_time_match: 'at_or_before' });
    expect(JSON.parse(await response.text()).record_time).toBe('2025-02-12T00:10:00Z');
  });
});

describe('owners', () => {
  const service = openHoldings(story.dataDir);
  afterAll(() => service[Symbol.dispose]());
  const [alice, bob] = story.owner_party_ids as [string, string];
  const request = { migration_id: 0, record_time: '2025-02-12T00:10:00Z' };
  const answered = async (app: typeof service.app, owner_party_ids: readonly string[]): Promise<string[]> => {
    const response = await post(app, '/v1/holdings/summary', { ...request, owner_party_ids });
    return JSON.parse(await response.text()).summaries.map(({ party_id }: { party_id: string }) => party_id);
  };

  test('are answered in the order requested, each once', async () => {
    expect(await answered(service.app, [bob, alice, bob, 'nobody::1', alice])).toEqual([bob, alice, 'nobody::1']);
  });

  test('without coin are left out where the service is set so', async () => {
    using omitting = openHoldings(story.dataDir, { emptyOwners: 'omit' });
    expect(await answered(omitting.app, ['nobody::1', alice])).toEqual([alice]);
    expect(await answered(omitting.app, ['nobody::1'])).toEqual([]);
  });
});

const PATH = '/v2/holdings/state';
const { owner_party_ids, snapshots } = story;
const { migration_id, record_time } = snapshots.at(-1)!;
const pageRequest = { migration_id, record_time, owner_party_ids, page_size: 1 };

interface Page {
  readonly record_time: string;
  readonly created_events: readonly unknown[];
  readonly next_page_token: string;
}

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

describe('the token of a page', async () => {
  const service = openHoldings(story.dataDir);
  afterAll(() => service[Symbol.dispose]());
  const ask = async (body: object): Promise<{ status: number; text: string }> => {
    const response = await post(service.app, PATH, body);
    return { status: response.status, text: await response.text() };
  };
  const { next_page_token } = JSON.parse((await ask(pageRequest)).text) as Page;

  test.each([
    ['the same values', {}],
    ['another page size', { page_size: 1000 }],
    ['a default value that is given', { record_time_match: 'exact' }],
    ['the same time written in another way', { record_time: record_time.replace('Z', '+00:00') }],
    ['an owner twice', { owner_party_ids: [...owner_party_ids, owner_party_ids[0]] }],
  ])('is valid beside %s', async (_, change) => {
    const { status, text } = await ask({ ...pageRequest, after: next_page_token, ...change });
    expect(status, text).toBe(200);
  });

  test.each([
    ['owner', { owner_party_ids: owner_party_ids.slice(1) }],
    ['time', { record_time: snapshots.at(-2)!.record_time }],
    ['match', { record_time_match: 'at_or_before' }],
    ['migration', { migration_id: migration_id + 1 }],
  ])('is refused beside another %s', async (_, change) => {
    const { status, text } = await ask({ ...pageRequest, after: next_page_token, ...change });
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatch(/^after: given "[\w-]+(\.\.\.)?"?, expected a next_page_token of .*same/);
  });
});

test('all pages of at_or_before are of the snapshot of the first, also where a newer one is sealed meanwhile', async () => {
  const lines = readFileSync(fixture('story.scan.ndjson'), 'utf8').trimEnd().split('\n');
  const dataDir = await makeDataDirectory([folder.writeLines('first.ndjson', lines.slice(0, 7))]);
  using service = openHoldings(dataDir);
  const late = { ...pageRequest, record_time: '2030-01-01T00:00:00Z', record_time_match: 'at_or_before' };
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
