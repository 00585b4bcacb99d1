import {
  type AnswerOf,
  createClient,
  type HoldfastError,
  type HoldfastRequest,
  type ParametersOf,
  type Path,
} from '../../../client/src/index.ts';
import { linkTo, type Query } from './address.ts';

export const client = createClient({ url: linkTo('') });

export type Snapshots = AnswerOf<'/holdfast/v1/snapshots'>;
export type Snapshot = Snapshots['snapshots'][number];
export type Changes = AnswerOf<'/holdfast/v1/owners/{party}/changes'>;
export type Top = AnswerOf<'/holdfast/v1/top'>;
export type Movements = AnswerOf<'/holdfast/v1/owners/{party}/movements'>;
export type OwnerInstruments = AnswerOf<'/holdfast/v1/owners/{party}/instruments'>;
export type Instruments = AnswerOf<'/holdfast/v1/instruments'>;
/** A row of a table's answer. */
export type AnswerRow<Rows extends readonly unknown[]> = Rows[number];
export type Locks = AnswerOf<'/holdfast/v1/owners/{party}/locks'>;
export type Statement = AnswerOf<'/holdfast/v1/owners/{party}/statement'>;
export type FoundById = AnswerOf<'/holdfast/v1/ids/{id}'>;
export type SummaryV0 = AnswerOf<'/v0/holdings/summary'>;
export type State = AnswerOf<'/v0/holdings/state'>;
export type ApiRequest<Answer> = HoldfastRequest<Answer>;
export type RequestError = HoldfastError;

/** The fields of /status that the page uses. */
export interface Status {
  readonly version: string;
  readonly phase: string;
  /** Null if nothing is read, or if another process reads. */
  readonly source: {
    readonly name: string;
    readonly network?: { readonly errors_in_a_row: number; readonly next_attempt_at?: string | null };
  } | null;
  readonly snapshots: readonly { readonly migration_id: unknown; readonly record_time: string }[];
  readonly dso: string | null;
  /** Of a store in PostgreSQL it is not known. */
  readonly tokens?: 'on' | 'off' | null;
  readonly counts?: Readonly<Record<string, unknown>>;
  readonly dead_letters: Readonly<Record<string, number>>;
  readonly halted?: { readonly next: string } | null;
}

/** The migration that is shown, with its newest snapshot and the one that all pages show. */
export interface Shown {
  readonly migration: string;
  /** Milliseconds between two snapshots. */
  readonly periodMs: number;
  readonly newest: Snapshot;
  /** The newest, unless a time was chosen. */
  readonly snapshot: Snapshot;
  /** The chosen time. */
  readonly at: string | null;
}

const table =
  <P extends Path>(path: P) =>
  (query: Query): ApiRequest<AnswerOf<P>> =>
    client.requestFor(path, query as ParametersOf<P>);

const ownerTable =
  <P extends Path>(path: P) =>
  (party: string, query: Query): ApiRequest<AnswerOf<P>> =>
    table(path)({ party, ...query });

export const statusRequest: ApiRequest<Status> = { url: linkTo('status') };
export const snapshotsRequest = table('/holdfast/v1/snapshots');
export const topRequest = table('/holdfast/v1/top');
export const historyRequest = ownerTable('/holdfast/v1/owners/{party}/history');
export const ownerInstrumentsRequest = ownerTable('/holdfast/v1/owners/{party}/instruments');
export const instrumentsRequest = table('/holdfast/v1/instruments');
export const changesRequest = ownerTable('/holdfast/v1/owners/{party}/changes');
export const movementsRequest = ownerTable('/holdfast/v1/owners/{party}/movements');
export const locksRequest = ownerTable('/holdfast/v1/owners/{party}/locks');
export const statementRequest = ownerTable('/holdfast/v1/owners/{party}/statement');
export const allMovementsRequest = table('/holdfast/v1/movements');
const byId = table('/holdfast/v1/ids/{id}');
export const foundRequest = (id: string): ApiRequest<FoundById> => byId({ id });

/** The same rows as one CSV, of all pages if there are pages. */
export function csvOf({ url }: ApiRequest<unknown>, paged: boolean): ApiRequest<string> {
  return { url: linkTo(url, { format: 'csv', limit: paged ? 'all' : undefined }) };
}

/** One owner at a snapshot. */
export interface Holding {
  readonly migration: string;
  readonly time: string;
  readonly party: string;
}

const CONTRACTS = '/v0/holdings/state';

const holdingFields = ({ migration, time, party }: Holding) => ({
  migration_id: migration,
  record_time: time,
  record_time_match: 'at_or_before' as const,
  owner_party_ids: [party],
});

/** Of the owner, or of others at the same snapshot. */
export function totalsRequest(
  holding: Holding,
  owners = [holding.party],
): ApiRequest<AnswerOf<'/v1/holdings/summary'>> {
  return client.requestFor('/v1/holdings/summary', { ...holdingFields(holding), owner_party_ids: owners });
}

export function feesRequest(holding: Holding, round: string | undefined): ApiRequest<SummaryV0> {
  return client.requestFor('/v0/holdings/summary', { ...holdingFields(holding), as_of_round: round });
}

/** The first page alone. */
export function contractsRequest(holding: Holding, pageSize: number): ApiRequest<State> {
  return client.requestFor(CONTRACTS, { ...holdingFields(holding), page_size: pageSize });
}

export function contractPages(
  holding: Holding,
  { pageSize, signal }: { readonly pageSize: number; readonly signal: AbortSignal },
): AsyncIterable<State> {
  return client.pages(CONTRACTS, { ...holdingFields(holding), page_size: pageSize }, { signal });
}

export function send<Answer>(request: ApiRequest<Answer>, signal: AbortSignal): Promise<Answer> {
  return client.send(request, { signal });
}

/** The same request for programs. */
export const COMMANDS = {
  curl({ url, body }: ApiRequest<unknown>): string {
    const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
    const data = body && ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
    return `curl ${quoted(url)}${data ?? ''}`;
  },
  JavaScript({ url, body }: ApiRequest<unknown>): string {
    const headers = "headers: { 'Content-Type': 'application/json' }";
    const how = body && `, { method: 'POST', ${headers}, body: ${JSON.stringify(JSON.stringify(body))} }`;
    return `await (await fetch(${JSON.stringify(url)}${how ?? ''})).json()`;
  },
  Python({ url, body }: ApiRequest<unknown>): string {
    return body
      ? `requests.post(${JSON.stringify(url)}, json=${JSON.stringify(body)}).json()`
      : `requests.get(${JSON.stringify(url)}).json()`;
  },
} as const;
