import type { z } from 'zod';
import type { stateV0, summaryV0, summaryV1 } from '../../../src/http/holdings-operations.ts';
import type { instruments } from '../../../src/http/instrument-operations.ts';
import type * as tables from '../../../src/http/table-operations.ts';
import { linkTo, type Query } from './address.ts';

/** The answers of the service, by the schemas with which it documents them. */
type AnswerOf<Operation extends { readonly answer: z.ZodType }> = z.infer<Operation['answer']>;

export type Snapshots = AnswerOf<typeof tables.snapshots>;
export type Snapshot = Snapshots['snapshots'][number];
export type History = AnswerOf<typeof tables.history>;
export type Changes = AnswerOf<typeof tables.changes>;
export type Top = AnswerOf<typeof tables.top>;
export type Movements = AnswerOf<typeof tables.movements>;
export type Instruments = AnswerOf<typeof instruments>;
/** A row of a table's answer. */
export type AnswerRow<Rows extends readonly unknown[]> = Rows[number];
export type Locks = AnswerOf<typeof tables.locks>;
export type Statement = AnswerOf<typeof tables.statement>;
export type AllMovements = AnswerOf<typeof tables.allMovements>;
export type SummaryV0 = AnswerOf<typeof summaryV0>;
export type State = AnswerOf<typeof stateV0>;

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

/** A request to the service. `Answer` is the body of a 200. */
export interface ApiRequest<Answer> {
  readonly url: string;
  /** Sent as JSON with POST; a GET has none. */
  readonly body?: object;
  /** Never set: it only ties a request to the type of its answer. */
  readonly answer?: Answer;
}

const table =
  <Answer>(path: string) =>
  (query: Query): ApiRequest<Answer> => ({ url: linkTo(`holdfast/v1/${path}`, query) });

const ownerTable =
  <Answer>(name: string) =>
  (party: string, query: Query): ApiRequest<Answer> =>
    table<Answer>(`owners/${encodeURIComponent(party)}/${name}`)(query);

export const statusRequest: ApiRequest<Status> = { url: linkTo('status') };
export const snapshotsRequest = table<Snapshots>('snapshots');
export const topRequest = table<Top>('top');
export const historyRequest = ownerTable<History>('history');
export const instrumentsRequest = table<Instruments>('instruments');
export const changesRequest = ownerTable<Changes>('changes');
export const movementsRequest = ownerTable<Movements>('movements');
export const locksRequest = ownerTable<Locks>('locks');
export const statementRequest = ownerTable<Statement>('statement');
export const allMovementsRequest = table<AllMovements>('movements');

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

const holdingRequest = (path: string, { migration, time, party }: Holding, more: object) => ({
  url: linkTo(path),
  body: {
    migration_id: migration,
    record_time: time,
    record_time_match: 'at_or_before',
    owner_party_ids: [party],
    ...more,
  },
});

/** Of the owner, or of others at the same snapshot. */
export function totalsRequest(holding: Holding, owners = [holding.party]): ApiRequest<AnswerOf<typeof summaryV1>> {
  return holdingRequest('v1/holdings/summary', holding, { owner_party_ids: owners });
}

export function feesRequest(holding: Holding, round: string | undefined): ApiRequest<SummaryV0> {
  return holdingRequest('v0/holdings/summary', holding, { as_of_round: round });
}

export function contractsRequest(
  holding: Holding,
  { pageSize, after }: { readonly pageSize: number; readonly after?: unknown },
): ApiRequest<State> {
  return holdingRequest('v0/holdings/state', holding, { page_size: pageSize, after });
}

/** A request that was not answered with 200. */
export class RequestError extends Error {
  /** Null: no answer came. */
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RequestError';
    this.status = status;
  }

  get isTemporary(): boolean {
    return this.status === null || this.status >= 500;
  }
}

export async function send<Answer>(request: ApiRequest<Answer>, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(request.url, {
    ...(request.body && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request.body),
    }),
    signal,
  }).catch((cause: unknown) => {
    throw new RequestError('No connection to Holdfast.', null, { cause });
  });
  const text = await response.text();
  if (!response.ok)
    throw new RequestError(messageOf(text) ?? `${response.status} ${response.statusText}`, response.status);
  return JSON.parse(text, exactIntegers) as Answer;
}

function messageOf(text: string): string | null {
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return null;
  }
}

/** Integers above 2^53 stay exact as their digits, which the service accepts as well. */
function exactIntegers(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
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
