import type { Context } from 'hono';
import { z } from 'zod';
import type { Answers } from '../holdings/answer.ts';
import type { Question } from '../holdings/question.ts';
import { formatTime } from '../ledger/time.ts';
import { mayPass } from '../machine-errors.ts';
import type { ForceOutcome } from '../views/write/seals.ts';
import * as fields from './holdings-fields.ts';
import type { HoldAnswer } from './http-server.ts';
import {
  field,
  type JsonOperation,
  jsonRoute,
  type OperationFacts,
  optional,
  type ServedLimits,
} from './json-operation.ts';
import { type Cors, HttpFault, type Route, throwAsHttpFault } from './routing.ts';

/** An operation of this area; its fields and its answer say their own types. */
function holdingsOperation<Fields extends z.ZodObject, Schema extends z.ZodType>(
  operation: JsonOperation<HoldingsCall, Fields, Schema>,
): JsonOperation<HoldingsCall, Fields, Schema> {
  return operation;
}

/** What a handler can use for one request. */
interface HoldingsCall {
  /** The JSON text of a question's answer; one without a bound of its size is held (HoldAnswer). Rejects with an HttpFault. */
  readonly ask: (question: Question, size?: 'large') => Promise<string>;
  /** Seals a snapshot now; the JSON text of the answer. Rejects with an HttpFault. */
  readonly force: () => Promise<string>;
}

/** Faults that several operations have, by status. */
const BODY_FAULTS = {
  400: 'A field is wrong, or the body is no JSON; the message says where.',
  413: 'The body is larger than the limit.',
  415: 'A Content-Type is given, and it is not JSON; or the body is compressed.',
} as const;
const NO_SNAPSHOT = { 404: 'No such snapshot.' } as const;

const totals = {
  party_id: fields.party,
  total_unlocked_coin: fields.amount('Initial amounts of the unlocked coins.'),
  total_locked_coin: fields.amount('Initial amounts of the locked coins; an expired lock is still locked.'),
  total_coin_holdings: fields.amount('Both together.'),
};

const fees = {
  accumulated_holding_fees_unlocked: fields.amount(
    'Holding fees of the unlocked coins as of the round; may be negative.',
  ),
  accumulated_holding_fees_locked: fields.amount('Holding fees of the locked coins as of the round; may be negative.'),
  accumulated_holding_fees_total: fields.amount('Both together.'),
  total_available_coin: fields.amount('total_unlocked_coin - accumulated_holding_fees_unlocked'),
};

export const summaryV0 = holdingsOperation({
  method: 'POST',
  path: '/v0/holdings/summary',
  operationId: 'getHoldingsSummaryAt',
  summary: 'Coin totals and holding fees of owners at a snapshot. Superseded by /v1/holdings/summary.',
  // The day of the first release.
  deprecated: { since: '2026-11-21', successor: '/v1/holdings/summary' },
  scanProxy: true,
  request: {
    fields: (limits) => fields.ownersAtSnapshot(limits).extend({ as_of_round: optional(fields.givenInt64) }),
    example: fields.ownersExample,
  },
  answer: z
    .strictObject({
      ...fields.snapshot,
      computed_as_of_round: fields.int64('The round that the fees are of.', 20203),
      summaries: z.array(z.strictObject({ ...totals, ...fees })),
    })
    .meta({ id: 'HoldingsSummaryV0' }),
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, 503: 'The read took longer than its time limit.' },
  handle: (given, { ask }) =>
    ask({ answer: 'summary v0', query: { ...fields.ownersQuery(given), asOfRound: given.as_of_round } }),
});

export const summaryV1 = holdingsOperation({
  method: 'POST',
  path: '/v1/holdings/summary',
  operationId: 'getHoldingsSummaryAtV1',
  summary: 'Coin totals of owners at a snapshot, without fees.',
  scanProxy: true,
  request: { fields: fields.ownersAtSnapshot, example: fields.ownersExample },
  answer: z
    .strictObject({ ...fields.snapshot, summaries: z.array(z.strictObject(totals)) })
    .meta({ id: 'HoldingsSummaryV1' }),
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT },
  handle: (given, { ask }) => ask({ answer: 'summary v1', query: fields.ownersQuery(given) }),
});

const contract = {
  contract_id: z.string(),
  template_id: z.string().meta({ examples: ['979ec710:Splice.Amulet:Amulet'] }),
  package_name: z.string().meta({ examples: ['splice-amulet'] }),
  create_arguments: z.looseObject({}).meta({ description: 'The create arguments; Decimals with ten decimals.' }),
  created_at: fields.time('When the contract was created.'),
  signatories: z.array(fields.party),
  observers: z.array(fields.party),
};

/** Contracts page by page; `first` are the fields of a contract that come before those that all versions have. */
const stateOperation = <First extends z.ZodRawShape, Next extends z.ZodType>(
  version: 'v0' | 'v1' | 'v2',
  {
    first,
    after,
    next,
    ...facts
  }: Pick<OperationFacts, 'operationId' | 'summary'> & { first: First; after: z.ZodType; next: Next },
) =>
  holdingsOperation({
    ...facts,
    method: 'POST',
    path: `/${version}/holdings/state`,
    // Splice 0.9 has only version 2.
    ...(version !== 'v2' && { deprecated: { since: '2026-11-24', successor: '/v2/holdings/state' } }),
    request: {
      fields: (limits) =>
        fields.ownersAtSnapshot(limits).extend({ page_size: fields.pageSize, after: optional<z.ZodType>(after) }),
      example: (values) => ({ ...fields.ownersExample(values), page_size: 100 }),
    },
    answer: z
      .strictObject({
        ...fields.snapshot,
        created_events: z.array(z.strictObject({ ...first, ...contract })),
        next_page_token: next,
      })
      .meta({ id: `HoldingsState${version.toUpperCase()}` }),
    faults: {
      ...BODY_FAULTS,
      ...NO_SNAPSHOT,
      503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
    },
    handle: ({ page_size: pageSize, after, ...given }, { ask }) =>
      ask(
        { answer: `state ${version}`, query: { ...fields.ownersQuery(given), pageSize, after } } as Question,
        'large',
      ),
  });

/** The token in a request, and in an answer. */
const numbered = {
  after: fields.givenInt64,
  next: z.union([fields.int64('Give it as `after` for the next page.', 1234), z.null()]).meta({
    description: 'Null at the end.',
  }),
};

const createdIn = {
  created_in_update_id: z.union([z.string(), z.null()]).meta({ description: 'Null for imports.' }),
};

export const stateV0 = stateOperation('v0', {
  operationId: 'getHoldingsStateAt',
  summary:
    "The owners' coin contracts at a snapshot, page by page, as the events that created them. Superseded by /v2/holdings/state.",
  first: {
    event_type: z.literal('created_event'),
    event_id: z.string().meta({ description: '#<update id>:<node>' }),
  },
  ...numbered,
});

const stateV1 = stateOperation('v1', {
  operationId: 'getHoldingsStateAtV1',
  summary: "The owners' coin contracts at a snapshot, page by page. Superseded by /v2/holdings/state.",
  first: createdIn,
  ...numbered,
});

const stateV2 = stateOperation('v2', {
  operationId: 'getHoldingsStateAtV2',
  summary: "The owners' coin contracts at a snapshot, page by page, with opaque tokens.",
  first: createdIn,
  after: field(
    (given) => (typeof given === 'string' ? given : null),
    'a next_page_token of the page before, a string',
    { type: 'string' },
  ),
  next: z.string().optional().meta({
    description: 'Give it as `after` for the next page, with the same values but `page_size`. The last page has none.',
  }),
});

const snapshotTime = z
  .strictObject({ record_time: fields.time('The time of the snapshot.') })
  .meta({ id: 'SnapshotTime' });

/** Asks about a time and a migration; the time has the operation's own name for it. */
const askingForTime = (
  name: 'before' | 'after',
  facts: Pick<OperationFacts, 'path' | 'operationId' | 'summary'>,
): JsonOperation<HoldingsCall> =>
  holdingsOperation({
    ...facts,
    method: 'GET',
    request: {
      fields: () => z.object({ [name]: fields.queryTime, migration_id: fields.givenInt64 }),
      // No snapshot is after the newest.
      example: ({ recordTime, migrationId }) => ({
        [name]: name === 'before' ? recordTime : '1970-01-01T00:00:00Z',
        migration_id: migrationId,
      }),
    },
    answer: snapshotTime,
    faults: { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT },
    handle: (given, { ask }) =>
      ask({ answer: `snapshot ${name}`, query: { recordTime: given[name]!, migrationId: given.migration_id! } }),
  });

const snapshotBefore = askingForTime('before', {
  path: '/v0/state/acs/snapshot-timestamp',
  operationId: 'getDateOfMostRecentSnapshotBefore',
  summary: 'The time of the newest snapshot at or before a time, in that migration only.',
});

const snapshotAfter = askingForTime('after', {
  path: '/v0/state/acs/snapshot-timestamp-after',
  operationId: 'getDateOfFirstSnapshotAfter',
  summary:
    'The time of the first snapshot strictly after a time in that migration, else the first of the next migration that has one.',
});

const lastMigration = holdingsOperation({
  method: 'GET',
  path: '/v0/migrations/last',
  operationId: 'getLastMigration',
  summary: 'The largest migration seen.',
  answer: z
    .strictObject({ migration_id: fields.int64('The largest migration seen.', 4) })
    .meta({ id: 'LastMigration' }),
  faults: { 404: 'No migration has been seen.' },
  handle: (_, { ask }) => ask({ answer: 'last migration' }),
});

const dsoPartyId = holdingsOperation({
  method: 'GET',
  path: '/v0/dso-party-id',
  operationId: 'getDsoPartyId',
  summary: 'The DSO, whose coins count.',
  scanProxy: true,
  answer: z.strictObject({ dso_party_id: fields.party }).meta({ id: 'DsoPartyId' }),
  faults: { 404: 'The DSO is not known yet.' },
  handle: (_, { ask }) => ask({ answer: 'dso' }),
});

const forceSnapshot = holdingsOperation({
  method: 'POST',
  path: '/v0/state/acs/force',
  operationId: 'forceAcsSnapshotNow',
  summary:
    'Seals a snapshot at the last applied record time, where that is allowed; the newest one where nothing came since.',
  programsOnly: 'snapshots are not forced from web pages',
  answer: z.strictObject(fields.snapshot).meta({ id: 'ForcedSnapshot' }),
  faults: {
    400: 'Forced snapshots are disabled, or nothing has been applied; or only what is of the first time of the grid.',
    403: 'The request comes from a web page (it has an Origin header).',
    429: 'A new snapshot was forced less than 10 s ago.',
    503: 'The disk is full or the database is locked; nothing was sealed.',
  },
  handle: (_, { force }) => force(),
});

/** The writer's answer to a request for a snapshot now (docs/rules.md, rule 12). */
export type ForceSnapshot = (options: { readonly maySeal: boolean }) => Promise<ForceOutcome>;

/** A snapshot costs a row for every owner that changed; requested in a loop they would fill the disk. */
const SEAL_INTERVAL_MS_MIN = 10_000;

function createForce({ force, clockMs }: Pick<HoldingsDeps, 'force' | 'clockMs'>): HoldingsCall['force'] {
  let sealedAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time: of two requests at once only the first may seal. */
  const forceInTurn = (force: ForceSnapshot): Promise<ForceOutcome> => {
    const turn = last.then(async () => {
      const outcome = await force({ maySeal: clockMs() - sealedAtMs >= SEAL_INTERVAL_MS_MIN });
      if (outcome.kind === 'snapshot' && outcome.sealed) sealedAtMs = clockMs();
      return outcome;
    });
    last = turn.catch(() => {});
    return turn;
  };

  return async () => {
    if (force === null) throw new HttpFault(400, 'Forced ACS snapshots are disabled.');
    const outcome = await forceInTurn(force).catch((error: Error) => {
      if (!mayPass(error, 'running')) throw error;
      throw new HttpFault(503, `no snapshot can be written now (${error.message}); try again later`);
    });
    switch (outcome.kind) {
      case 'snapshot':
        return JSON.stringify({ record_time: formatTime(outcome.recordTime), migration_id: outcome.migrationId });
      case 'too_soon': {
        const seconds = Math.ceil((sealedAtMs + SEAL_INTERVAL_MS_MIN - clockMs()) / 1000);
        throw new HttpFault(429, `a new snapshot is forced at most once in ${SEAL_INTERVAL_MS_MIN / 1000} s`, {
          'Retry-After': String(Math.max(1, seconds)),
        });
      }
      case 'nothing_applied':
        throw new HttpFault(400, 'There is no snapshot yet, and no update off the grid that one could be forced at.');
    }
  };
}

/** Every operation of the area: routes, requests, the document and the names in /metrics follow from this list. */
export const HOLDINGS_OPERATIONS: readonly JsonOperation<HoldingsCall>[] = [
  summaryV0,
  summaryV1,
  stateV0,
  stateV1,
  stateV2,
  snapshotBefore,
  snapshotAfter,
  forceSnapshot,
  lastMigration,
  dsoPartyId,
];

export interface HoldingsDeps {
  readonly answers: Answers;
  readonly holdAnswer: HoldAnswer;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  readonly limits: ServedLimits;
  /** A monotonic clock, for intervals. */
  readonly clockMs: () => number;
}

/** The routes of the holdings area. */
export function holdingsRoutes(deps: HoldingsDeps, cors: Cors): readonly Route[] {
  const { answers, holdAnswer, limits } = deps;
  const force = createForce(deps);
  const callOf = (c: Context): HoldingsCall => ({
    async ask(question, size) {
      const text = await answers.json(question, () => c.req.raw.signal).catch(throwAsHttpFault);
      if (size === 'large') holdAnswer(c, text);
      return text;
    },
    force,
  });
  return HOLDINGS_OPERATIONS.map((operation) => jsonRoute(operation, { callOf, limits, cors }));
}
