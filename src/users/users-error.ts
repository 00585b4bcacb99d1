import { mayPass } from '../machine-errors.ts';

/** Of each error code its gRPC status and category, whether its body tells nothing, and whether definite_answer is missing (docs/rules.md, errors). */
export const ERROR_CODES = {
  UNAUTHENTICATED: { grpc: 16, category: 6, redacted: true },
  PERMISSION_DENIED: { grpc: 7, category: 7, redacted: true },
  INTERNAL: { grpc: 13, category: 4, redacted: true },
  INVALID_TOKEN: { grpc: 3, category: 8 },
  INVALID_ARGUMENT: { grpc: 3, category: 8 },
  INVALID_FIELD: { grpc: 3, category: 8 },
  MISSING_FIELD: { grpc: 3, category: 8 },
  INVALID_USER_UPDATE_REQUEST: { grpc: 3, category: 8, indefinite: true },
  MAX_USER_ANNOTATIONS_SIZE_EXCEEDED: { grpc: 9, category: 9, indefinite: true },
  TOO_MANY_USER_RIGHTS: { grpc: 9, category: 9 },
  TOO_MANY_USERS: { grpc: 9, category: 9 },
  CONCURRENT_USER_UPDATE_DETECTED: { grpc: 10, category: 2, indefinite: true },
  USER_NOT_FOUND: { grpc: 5, category: 11 },
  USER_ALREADY_EXISTS: { grpc: 6, category: 10 },
  UNKNOWN_RESOURCE: { grpc: 5, category: 11 },
  INVALID_IDENTITY_PROVIDER_UPDATE_REQUEST: { grpc: 3, category: 8, indefinite: true },
  IDP_CONFIG_NOT_FOUND: { grpc: 5, category: 11 },
  IDP_CONFIG_ALREADY_EXISTS: { grpc: 6, category: 10 },
  IDP_CONFIG_ISSUER_ALREADY_EXISTS: { grpc: 6, category: 10 },
  TOO_MANY_IDENTITY_PROVIDER_CONFIGS: { grpc: 9, category: 9 },
  INDEX_DB_SQL_TRANSIENT_ERROR: { grpc: 14, category: 1 },
} as const;

export type UsersErrorCode = keyof typeof ERROR_CODES;
type Resource = readonly [type: string, name: string];

/** Where a request was refused; the body's form depends on it (docs/rules.md, errors: forms G, R and J). */
type RaisedBy = 'token' | 'json-layer' | 'authorizer' | 'service';

interface Details {
  readonly raisedBy?: RaisedBy;
  readonly fieldName?: string;
  readonly resources?: readonly Resource[];
  readonly cause?: unknown;
}

/** A refused request. The message is the body's `cause`, unless the code is redacted. */
export class UsersError extends Error {
  override readonly name = 'UsersError';
  readonly code: UsersErrorCode;
  readonly raisedBy: RaisedBy;
  readonly fieldName: string | undefined;
  readonly resources: readonly Resource[];

  constructor(
    code: UsersErrorCode,
    message: string,
    { raisedBy = 'service', fieldName, resources = [], ...options }: Details = {},
  ) {
    super(message, options);
    this.code = code;
    this.raisedBy = raisedBy;
    this.fieldName = fieldName;
    this.resources = resources;
  }
}

export function missingField(fieldName: string): UsersError {
  return new UsersError('MISSING_FIELD', `The submitted command is missing a mandatory field: ${fieldName}`, {
    fieldName,
  });
}

export function invalidField(fieldName: string, reason: string): UsersError {
  return new UsersError(
    'INVALID_FIELD',
    `The submitted command has a field with invalid value: Invalid field ${fieldName}: ${reason}`,
  );
}

export function invalidArgument(reason: string, raisedBy: RaisedBy = 'service'): UsersError {
  return new UsersError('INVALID_ARGUMENT', `The submitted request has invalid arguments: ${reason}`, { raisedBy });
}

/** The reason goes to the log only: the caller gets the redacted body. */
export function permissionDenied(reason: string, raisedBy: RaisedBy = 'authorizer'): UsersError {
  return new UsersError('PERMISSION_DENIED', reason, { raisedBy });
}

export function unauthenticated(reason: string): UsersError {
  return new UsersError('UNAUTHENTICATED', reason, { raisedBy: 'authorizer' });
}

/** A fault of the machine that may pass, as an error that the caller may retry; any other error as it is. */
export function unavailable(error: unknown): unknown {
  if (!(error instanceof Error) || !mayPass(error, 'running')) return error;
  const message = `nothing was changed: users.db cannot be written now (${error.message})`;
  return new UsersError('INDEX_DB_SQL_TRANSIENT_ERROR', message, { cause: error });
}
