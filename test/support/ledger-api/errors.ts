/** An error of a participant: its body over HTTP and within a stream. */
export interface ApiError {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Told {
  readonly status: number;
  readonly grpc: number;
  readonly cause?: string;
  readonly context?: Readonly<Record<string, unknown>>;
}

export function apiError(code: string, { status, grpc, cause = `about ${code}`, context = {} }: Told): ApiError {
  const ids = { correlationId: null, traceId: '3a8f', errorCategory: 9, retryInfo: null, definiteAnswer: null };
  return { status, body: { code, cause, context, resources: [], grpcCodeValue: grpc, ...ids } };
}

const SECURITY = 'A security-sensitive error has been received';

/** Every error that a reader may meet, by the name of its case. */
export const ERRORS = {
  expired: apiError('ACCESS_TOKEN_EXPIRED', { status: 409, grpc: 10 }),
  stale: apiError('STALE_STREAM_AUTHORIZATION', { status: 409, grpc: 10 }),
  unauthenticated: apiError('NA', { status: 401, grpc: 16, cause: SECURITY }),
  denied: apiError('NA', { status: 403, grpc: 7, cause: SECURITY }),
  starting: apiError('SERVICE_NOT_RUNNING', { status: 503, grpc: 14 }),
  overloaded: apiError('PARTICIPANT_BACKPRESSURE', { status: 503, grpc: 10 }),
  invalid: apiError('INVALID_ARGUMENT', { status: 400, grpc: 3 }),
  tooMany: apiError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', { status: 413, grpc: 3 }),
} as const;

export function pruned(earliest: number): ApiError {
  const context = { earliest_offset: String(earliest), category: '9' };
  return apiError('PARTICIPANT_PRUNED_DATA_ACCESSED', { status: 400, grpc: 9, context });
}

export function pastEnd(asked: number, end: number): ApiError {
  const cause = `Begin offset (${asked}) is after ledger end (${end})`;
  return apiError('OFFSET_AFTER_LEDGER_END', { status: 400, grpc: 11, cause });
}

/** `name`: of a template or an interface. */
export function unknownTemplate(name: string): ApiError {
  const [what, code] = name.includes('Token') ? ['interface', 'NO_INTERFACE'] : ['template', 'NO_TEMPLATES'];
  const cause = `The following package-name/${what} qualified-name pairs do not reference any ${what}: ${name}`;
  return apiError(`${code}_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME`, { status: 404, grpc: 5, cause });
}

export function unknownPackage(name: string): ApiError {
  return apiError('PACKAGE_NAMES_NOT_FOUND', { status: 404, grpc: 5, cause: `Package names not found: ${name}` });
}
