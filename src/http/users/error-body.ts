import { randomUUID } from 'node:crypto';
import type { UsersError } from '../../users/users-error.ts';

const STATUS_OF_GRPC: Readonly<Record<UsersError['grpcCode'], number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  9: 400,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
};
const REDACTED: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'PERMISSION_DENIED', 'INTERNAL']);
/** Codes whose context has no definite_answer, as in the reference. */
const INDEFINITE: ReadonlySet<string> = new Set([
  'INVALID_USER_UPDATE_REQUEST',
  'INVALID_IDENTITY_PROVIDER_UPDATE_REQUEST',
  'CONCURRENT_USER_UPDATE_DETECTED',
  'MAX_USER_ANNOTATIONS_SIZE_EXCEEDED',
]);
/** Categories of errors that may pass: a fault of the machine, and a concurrent change after which the caller may try again. */
const PASSING: ReadonlySet<number> = new Set([1, 2]);
const CAUSE_CHARS_MAX = 512;
const TOKEN_CONTEXT = { ledger_api_error: 'invalid token' };

/** The parts of a request that its error body contains. */
export interface ErrorPlace {
  readonly requestId: string;
  readonly participantId: string;
  readonly service: 'user' | 'identity provider';
  readonly submission: boolean;
}

/** The error body of the JSON Ledger API, in the form that depends on the code and the place (docs/rules.md, errors). */
export function errorAnswer(error: UsersError, place: ErrorPlace): { status: number; body: object } {
  const status = STATUS_OF_GRPC[error.grpcCode];
  const body = REDACTED.has(error.code) ? redacted(error, place) : plain(error, place);
  return { status, body };
}

function redacted(error: UsersError, { requestId }: ErrorPlace): object {
  return {
    code: 'NA',
    cause: 'A security-sensitive error has been received',
    correlationId: requestId,
    traceId: requestId,
    context: error.raisedBy === 'token' ? TOKEN_CONTEXT : {},
    resources: [],
    errorCategory: -1,
    grpcCodeValue: error.grpcCode,
    retryInfo: null,
    definiteAnswer: null,
  };
}

/** Errors of the JSON layer have no context. */
function plain(error: UsersError, place: ErrorPlace): object {
  const byJsonLayer = error.raisedBy === 'json-layer';
  return {
    code: error.code,
    cause: shorten(error.message),
    correlationId: byJsonLayer ? place.requestId : null,
    traceId: place.requestId,
    context: byJsonLayer ? {} : contextOf(error, place),
    resources: error.resources,
    errorCategory: error.category,
    grpcCodeValue: error.grpcCode,
    retryInfo: PASSING.has(error.category) ? '1 second' : null,
    definiteAnswer: byJsonLayer ? false : null,
  };
}

function contextOf(error: UsersError, { requestId, participantId, service, submission }: ErrorPlace): object {
  const inService = error.raisedBy === 'service';
  return {
    category: String(error.category),
    ...(INDEFINITE.has(error.code) ? {} : { definite_answer: 'false' }),
    ...(error.fieldName === null ? {} : { field_name: error.fieldName }),
    participant: inService && service === 'user' ? `'${participantId}'` : participantId,
    ...(inService && submission ? { submissionId: `'${randomUUID()}'` } : {}),
    tid: requestId,
    ...(error.raisedBy === 'token' ? TOKEN_CONTEXT : {}),
  };
}

function shorten(cause: string): string {
  return cause.length <= CAUSE_CHARS_MAX ? cause : `${cause.slice(0, CAUSE_CHARS_MAX)}...`;
}
