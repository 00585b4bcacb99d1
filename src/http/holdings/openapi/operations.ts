import type { AnswerName } from './answer-schemas.ts';

/** What the document says of one operation beside the schemas. */
export interface DocumentedOperation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: true;
  /** The request's schema by its name in `RequestSchemas`. */
  readonly body?: 'summaryV0' | 'summaryV1' | 'state';
  readonly query?: 'before' | 'after';
  readonly answer: AnswerName;
  /** Statuses other than 200 and 500, and when they come. */
  readonly faults: Readonly<Record<number, string>>;
}

const BODY_FAULTS = {
  400: 'A field is wrong, or the body is no JSON; the message says where.',
  413: 'The body is larger than the limit.',
  415: 'A Content-Type is given, and it is not JSON; or the body is compressed.',
};
const NO_SNAPSHOT = { 404: 'No such snapshot.' };
const TIME_LIMIT = { 503: 'The read took longer than its time limit.' };
const PAGE_LIMITS = {
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

export const DOCUMENTED_OPERATIONS: readonly DocumentedOperation[] = [
  {
    method: 'post',
    path: '/v0/holdings/summary',
    operationId: 'getHoldingsSummaryAt',
    summary: 'Coin totals and holding fees of owners at a snapshot. Superseded by /v1/holdings/summary.',
    deprecated: true,
    body: 'summaryV0',
    answer: 'HoldingsSummaryV0',
    faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, ...TIME_LIMIT },
  },
  {
    method: 'post',
    path: '/v1/holdings/summary',
    operationId: 'getHoldingsSummaryAtV1',
    summary: 'Coin totals of owners at a snapshot, without fees.',
    body: 'summaryV1',
    answer: 'HoldingsSummaryV1',
    faults: { ...BODY_FAULTS, ...NO_SNAPSHOT },
  },
  {
    method: 'post',
    path: '/v0/holdings/state',
    operationId: 'getHoldingsStateAt',
    summary: "The owners' coin contracts at a snapshot, page by page, as the events that created them.",
    body: 'state',
    answer: 'HoldingsStateV0',
    faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, ...PAGE_LIMITS },
  },
  {
    method: 'post',
    path: '/v1/holdings/state',
    operationId: 'getHoldingsStateAtV1',
    summary: "The owners' coin contracts at a snapshot, page by page.",
    body: 'state',
    answer: 'HoldingsStateV1',
    faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, ...PAGE_LIMITS },
  },
  {
    method: 'get',
    path: '/v0/state/acs/snapshot-timestamp',
    operationId: 'getDateOfMostRecentSnapshotBefore',
    summary: 'The time of the newest snapshot at or before a time, in that migration only.',
    query: 'before',
    answer: 'SnapshotTime',
    faults: { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT },
  },
  {
    method: 'get',
    path: '/v0/state/acs/snapshot-timestamp-after',
    operationId: 'getDateOfFirstSnapshotAfter',
    summary:
      'The time of the first snapshot strictly after a time in that migration, else the first of the next migration that has one.',
    query: 'after',
    answer: 'SnapshotTime',
    faults: { 400: 'A parameter is missing or wrong.', ...NO_SNAPSHOT },
  },
  {
    method: 'post',
    path: '/v0/state/acs/force',
    operationId: 'forceAcsSnapshotNow',
    summary:
      'Seals a snapshot at the last applied record time, where that is allowed; the newest one where nothing came since.',
    answer: 'ForcedSnapshot',
    faults: {
      400: 'Forced snapshots are disabled, or nothing has been applied.',
      403: 'The request comes from a web page (it has an Origin header).',
      429: 'A new snapshot was forced less than 10 s ago.',
      503: 'The disk is full or the database is locked; nothing was sealed.',
    },
  },
  {
    method: 'get',
    path: '/v0/migrations/last',
    operationId: 'getLastMigration',
    summary: 'The largest migration seen.',
    answer: 'LastMigration',
    faults: { 404: 'No migration has been seen.' },
  },
  {
    method: 'get',
    path: '/livez',
    operationId: 'isLive',
    summary: 'Whether the process can answer.',
    answer: 'Live',
    faults: {},
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Whether a snapshot is served and the source is caught up.',
    answer: 'Readiness',
    faults: { 503: 'Not ready; the answer is of the same form and says why.' },
  },
  {
    method: 'get',
    path: '/status',
    operationId: 'getStatus',
    summary: 'Where the service stands.',
    answer: 'Status',
    faults: {},
  },
  {
    method: 'get',
    path: '/version',
    operationId: 'getVersion',
    summary: "The program's version.",
    answer: 'Version',
    faults: {},
  },
];
