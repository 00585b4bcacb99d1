import { randomUUID } from 'node:crypto';
import { ERROR_CODES, type UsersError } from '../../users/users-error.ts';

const STATUS_OF_GRPC = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  9: 400,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
} as const;
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
  const { grpc, category } = ERROR_CODES[error.code];
  const { requestId } = place;
  const general = {
    code: error.code,
    cause: shorten(error.message),
    correlationId: null,
    traceId: requestId,
    context: contextOf(error, place),
    resources: error.resources,
    errorCategory: category,
    grpcCodeValue: grpc,
    retryInfo: PASSING.has(category) ? '1 second' : null,
    definiteAnswer: null,
  };
  const redacted = {
    code: 'NA',
    cause: 'A security-sensitive error has been received',
    correlationId: requestId,
    context: error.raisedBy === 'token' ? TOKEN_CONTEXT : {},
    resources: [],
    errorCategory: -1,
    retryInfo: null,
  };
  const ofJsonLayer = { correlationId: requestId, context: {}, definiteAnswer: false };
  // Spread over the general form, which has the fields in their order.
  const differing = REDACTED.has(error.code) ? redacted : error.raisedBy === 'json-layer' ? ofJsonLayer : {};
  return { status: STATUS_OF_GRPC[grpc], body: { ...general, ...differing } };
}

function contextOf(error: UsersError, { requestId, participantId, service, submission }: ErrorPlace): object {
  const inService = error.raisedBy === 'service';
  return {
    category: String(ERROR_CODES[error.code].category),
    ...(INDEFINITE.has(error.code) ? {} : { definite_answer: 'false' }),
    ...(error.fieldName === undefined ? {} : { field_name: error.fieldName }),
    participant: inService && service === 'user' ? `'${participantId}'` : participantId,
    ...(inService && submission ? { submissionId: `'${randomUUID()}'` } : {}),
    tid: requestId,
    ...(error.raisedBy === 'token' ? TOKEN_CONTEXT : {}),
  };
}

function shorten(cause: string): string {
  return cause.length <= CAUSE_CHARS_MAX ? cause : `${cause.slice(0, CAUSE_CHARS_MAX)}...`;
}
