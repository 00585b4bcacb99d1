import type * as answers from './answers.ts';
import type { ApiRequest } from './ask.ts';
import { linkTo, type Query } from './place.ts';

/** Every request of the page, by what it asks. */

const table =
  <Answer>(path: string) =>
  (query: Query): ApiRequest<Answer> => ({ url: linkTo(`holdfast/v1/${path}`, query) });

const ofOwner =
  <Answer>(what: string) =>
  (party: string, query: Query): ApiRequest<Answer> =>
    table<Answer>(`owners/${encodeURIComponent(party)}/${what}`)(query);

export const statusRequest: ApiRequest<answers.Status> = { url: linkTo('status') };
export const snapshotsRequest = table<answers.Snapshots>('snapshots');
export const topRequest = table<answers.Top>('top');
export const ownersRequest = table<answers.Owners>('owners');
export const historyRequest = ofOwner<answers.History>('history');
export const changesRequest = ofOwner<answers.Changes>('changes');

/** The same rows as one CSV, of all pages where there are pages. */
export function csvOf({ url }: ApiRequest<unknown>, paged: boolean): ApiRequest<string> {
  return { url: linkTo(url, { format: 'csv', limit: paged ? 'all' : undefined }) };
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
  return { url: linkTo('v1/holdings/summary'), body: holdingBody(holding) };
}

export function feesRequest(holding: Holding, round: string | undefined): ApiRequest<answers.SummaryV0> {
  return { url: linkTo('v0/holdings/summary'), body: { ...holdingBody(holding), as_of_round: round } };
}

export function contractsRequest(
  holding: Holding,
  { pageSize, after }: { readonly pageSize: number; readonly after?: unknown },
): ApiRequest<answers.State> {
  return { url: linkTo('v0/holdings/state'), body: { ...holdingBody(holding), page_size: pageSize, after } };
}
