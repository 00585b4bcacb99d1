import type * as answers from './answers.ts';
import type { ApiRequest } from './ask.ts';

/** Every request of the page, by what it asks. Parameters that are undefined are left out. */

type Parameters = Readonly<Record<string, string | number | undefined>>;

function table<Answer>(path: string, parameters: Parameters): ApiRequest<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString().replaceAll('%3A', ':');
  return { path: `holdfast/v1/${path}${text === '' ? '' : `?${text}`}` };
}

const ownerPath = (party: string): string => `owners/${encodeURIComponent(party).replaceAll('%3A', ':')}`;

export const statusRequest: ApiRequest<answers.Status> = { path: 'status' };

export function snapshotsRequest(parameters: Parameters): ApiRequest<answers.Snapshots> {
  return table('snapshots', parameters);
}

export function topRequest(parameters: Parameters): ApiRequest<answers.Top> {
  return table('top', parameters);
}

export function ownersRequest(parameters: Parameters): ApiRequest<answers.Owners> {
  return table('owners', parameters);
}

export function historyRequest(party: string, parameters: Parameters): ApiRequest<answers.History> {
  return table(`${ownerPath(party)}/history`, parameters);
}

export function changesRequest(party: string, parameters: Parameters): ApiRequest<answers.Changes> {
  return table(`${ownerPath(party)}/changes`, parameters);
}

/** The same rows as one CSV, of all pages where there are pages. */
export function csvOf<Answer>({ path }: ApiRequest<Answer>, paged: boolean): ApiRequest<string> {
  const [route, query] = path.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('format', 'csv');
  if (paged) parameters.set('limit', 'all');
  return { path: `${route}?${parameters.toString().replaceAll('%3A', ':')}` };
}

/** One owner at a snapshot. */
export interface Holding {
  readonly migration: string;
  readonly time: string;
  readonly party: string;
}

const holdingBody = ({ migration, time, party }: Holding): object => ({
  migration_id: migration,
  record_time: time,
  record_time_match: 'at_or_before',
  owner_party_ids: [party],
});

export function totalsRequest(holding: Holding): ApiRequest<answers.SummaryV1> {
  return { path: 'v1/holdings/summary', body: holdingBody(holding) };
}

export function feesRequest(holding: Holding, round: string | undefined): ApiRequest<answers.SummaryV0> {
  const as_of = round === undefined ? {} : { as_of_round: round };
  return { path: 'v0/holdings/summary', body: { ...holdingBody(holding), ...as_of } };
}

export function contractsRequest(
  holding: Holding,
  { pageSize, after }: { readonly pageSize: number; readonly after?: unknown },
): ApiRequest<answers.State> {
  const from = after === undefined ? {} : { after };
  return { path: 'v0/holdings/state', body: { ...holdingBody(holding), page_size: pageSize, ...from } };
}
