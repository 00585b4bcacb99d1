import { ScanClient, ScanProxyClient } from '@canton-network/core-splice-client';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { readExpected } from '../support/http/expected-answers.ts';
import { listenHoldings } from '../support/http/holdings-service.ts';

const service = await listenHoldings();
const logger = pino({ level: 'silent' });
afterAll(() => service[Symbol.asyncDispose]());

const token = { getAccessToken: async () => 'not.a.token' } as ConstructorParameters<typeof ScanClient>[2];
const DSO = 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928';
const { owner_party_ids, snapshots, last_migration } = readExpected('story');
const last = snapshots.at(-1)!;
const request = {
  migration_id: last.migration_id,
  record_time: last.record_time,
  record_time_match: 'exact',
  owner_party_ids: [...owner_party_ids],
} as const;

interface Page {
  readonly created_events: readonly unknown[];
  readonly next_page_token: number | null;
}

describe.each(['', '/api/scan'])("Scan's own client under %j", (prefix) => {
  const client = new ScanClient(new URL(`http://127.0.0.1:${service.port}${prefix}`), logger as never, token);

  test('finds snapshots', async () => {
    const query = { before: '2030-01-01T00:00:00Z', migration_id: '0' };
    const newest = await client.get('/v0/state/acs/snapshot-timestamp', { query });
    expect(newest).toEqual({ record_time: last.record_time });
    const after = { after: '2000-01-01T00:00:00Z', migration_id: '0' };
    const first = await client.get('/v0/state/acs/snapshot-timestamp-after', { query: after });
    expect(first).toEqual({ record_time: snapshots[0]!.record_time });
  });

  test('finds the DSO', async () => {
    expect(await client.get('/v0/dso-party-id')).toEqual({ dso_party_id: DSO });
  });

  test('sums up owners', async () => {
    const expected = last.summaries_v0[0]!;
    const as_of_round = expected.computed_as_of_round;
    expect(
      await client.post('/v0/holdings/summary', { ...request, owner_party_ids: [...owner_party_ids], as_of_round }),
    ).toEqual(expected);
  });

  test('walks through the state, page by page', async () => {
    const body = { ...request, owner_party_ids: [...owner_party_ids], page_size: 2 };
    const found: unknown[] = [];
    let after: object = {};
    for (;;) {
      const page = (await client.post('/v1/holdings/state', { ...body, ...after })) as Page;
      found.push(...page.created_events);
      if (page.next_page_token === null) break;
      after = { after: page.next_page_token };
    }
    expect(found).toEqual(last.state_v1);
  });

  test('finds what is wrong in the field that it reads', async () => {
    const failed = client.post('/v0/holdings/summary', {
      ...request,
      migration_id: last_migration + 7,
      owner_party_ids: ['a::b'],
    });
    await expect(failed).rejects.toEqual({
      error: `Failed to find ACS snapshot for migration id ${last_migration + 7} at ${last.record_time}`,
    });
  });
});

describe("the client of a validator's scan-proxy", () => {
  const url = new URL(`http://127.0.0.1:${service.port}/api/validator`);
  const client = new ScanProxyClient(url, logger as never, token);

  test('finds the DSO', async () => {
    expect(await client.get('/v0/scan-proxy/dso-party-id')).toEqual({ dso_party_id: DSO });
  });

  test.each([
    ['/v0/scan-proxy/holdings/summary', last.summaries_v0[0]!],
    // The client does not name it yet.
    ['/v1/scan-proxy/holdings/summary', last.summary_v1],
  ])('sums up owners by %s', async (path, expected) => {
    const { computed_as_of_round: as_of_round } = last.summaries_v0[0]!;
    const body = { ...request, owner_party_ids: [...owner_party_ids], as_of_round };
    expect(await client.post(path as '/v0/scan-proxy/holdings/summary', body)).toEqual(expected);
  });
});
