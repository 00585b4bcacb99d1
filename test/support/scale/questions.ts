import type { Snapshot } from '../../../src/holdings/facts.ts';
import type { HoldingsService } from '../http/holdings-service.ts';

export interface Ask {
  readonly path: string;
  readonly body?: unknown;
}

/** A snapshot's place, as requests name it. */
export interface Place {
  readonly migration_id: number;
  readonly record_time: string;
}

export function holdingsRequests(place: Place, owners: readonly string[]): Ask[] {
  const request = { ...place, owner_party_ids: owners };
  const query = `migration_id=${place.migration_id}&before=${place.record_time}`;
  return [
    { path: '/v1/holdings/summary', body: request },
    { path: '/v0/holdings/summary', body: request },
    ...[0, 19_831, 19_850, 20_000, 10 ** 9].map((as_of_round) => ({
      path: '/v0/holdings/summary',
      body: { ...request, as_of_round },
    })),
    {
      path: '/v1/holdings/summary',
      body: { ...request, record_time: '2030-01-01T00:00:00Z', record_time_match: 'at_or_before' },
    },
    { path: '/v1/holdings/summary', body: { ...request, record_time: '2030-01-01T00:00:00Z' } },
    { path: '/v1/holdings/state', body: { ...request, page_size: 1000 } },
    { path: '/v0/holdings/state', body: { ...request, page_size: 1000 } },
    { path: '/v2/holdings/state', body: { ...request, page_size: 1000 } },
    { path: '/v2/holdings/state', body: { ...request, page_size: 2, after: 'no token' } },
    { path: '/v1/holdings/state', body: { ...request, page_size: 2, after: 999_999 } },
    { path: `/v0/state/acs/snapshot-timestamp?${query}` },
    { path: `/v0/state/acs/snapshot-timestamp-after?${query.replace('before', 'after')}` },
    { path: '/v0/migrations/last' },
    { path: '/v0/dso-party-id' },
    { path: '/api/validator/v1/scan-proxy/holdings/summary', body: request },
  ];
}

export function tableRequests({ migration_id, record_time }: Place, owners: readonly string[]): Ask[] {
  const at = `migration_id=${migration_id}&record_time=${record_time}`;
  const until = `migration_id=${migration_id}&to=${record_time}`;
  const paths = [
    `/holdfast/v1/snapshots?${until}&limit=3`,
    `/holdfast/v1/snapshots?${until}&order=asc&every=1h`,
    `/holdfast/v1/owners?${at}`,
    `/holdfast/v1/owners?${at}&limit=2&prefix=${owners[0]!.slice(0, 2)}`,
    ...['total', 'unlocked', 'locked'].map((by) => `/holdfast/v1/top?${at}&by=${by}&limit=5`),
    `/holdfast/v1/top?${at}&contains=${owners[0]!.slice(1, 3).toUpperCase()}&limit=2`,
    ...owners.slice(0, 4).flatMap((owner) => {
      const party = encodeURIComponent(owner);
      return [
        `/holdfast/v1/owners/${party}/history?${until}`,
        `/holdfast/v1/owners/${party}/history?${until}&every=70m`,
        `/holdfast/v1/owners/${party}/history?${until}&every=1d&format=csv`,
        `/holdfast/v1/owners/${party}/changes?${until}`,
        `/holdfast/v1/owners/${party}/changes?migration_id=${migration_id}&from=${record_time}&order=asc`,
      ];
    }),
  ];
  return paths.map((path) => ({ path }));
}

export async function answer({ app }: HoldingsService, { path, body }: Ask): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await app.request(path, body === undefined ? {} : init);
  const text = await response.text();
  return `${response.status} ${text}`;
}

/** All pages of a state, without the tokens, which are each store's own. */
export async function pages(
  service: HoldingsService,
  place: Place,
  owners: readonly string[],
  path = '/v1/holdings/state',
): Promise<string[]> {
  const found: string[] = [];
  for (let after: unknown = null; ; ) {
    const body = { ...place, owner_party_ids: owners, page_size: 3, after };
    const answered = await answer(service, { path, body });
    if (!answered.startsWith('200 ')) throw new Error(answered);
    const text = answered.slice(4);
    const { next_page_token = null } = JSON.parse(text) as { next_page_token?: unknown };
    found.push(text.replace(/"next_page_token":(?:\d+|"[^"]+")/, '"next_page_token":"a token"'));
    if (next_page_token === null) return found;
    after = next_page_token;
  }
}

/** A snapshot without its number, which is each store's own. */
export function plain(snapshot: Snapshot): object {
  const { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest } = snapshot;
  return { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest };
}
