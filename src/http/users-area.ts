import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { BoundedMap } from '../users/bounded-map.ts';
import { type Caller, isForParticipant, isUserAdmin, requireParticipant, resolveCaller } from '../users/caller.ts';
import type { Users } from '../users/open-users.ts';
import { createTokenVerifier, type TokenVerifier, type VerifiedToken } from '../users/token-verifier.ts';
import { ERROR_CODES, UsersError, unauthenticated } from '../users/users-error.ts';
import type { UsersReader, UsersWriter } from '../users/users-store.ts';
import { counters, gauges, type Metrics } from './prometheus.ts';
import { addRoutes, HttpFault, jsonResponse, jsonTextResponse, methodsOf, type Route } from './routing.ts';
import {
  acceptsJson,
  bearerToken,
  decodeBody,
  idOf,
  parseQuery,
  readBody,
  requestIdOf,
  targetOf,
  type UsersContext,
} from './users-area-request.ts';
import { USERS_OPERATIONS, type UsersOperation, VERSION_OPERATION, versionAnswer } from './users-operations.ts';

interface UsersAreaDeps extends Pick<ServeDeps, 'users' | 'logger' | 'clientAddress'> {
  readonly metrics: Metrics;
  /** The time of day, for checking tokens. */
  readonly nowMs?: () => number;
}

const SHOWN_CHARS_MAX = 200;

/** Everything under /v2, 404 and 405 in the form of the JSON Ledger API included. */
export function createUsersArea(deps: UsersAreaDeps): Hono {
  const { users, logger, metrics, clientAddress, nowMs = Date.now } = deps;
  const verifier = createTokenVerifier({ users, logger, nowMs });
  const failures = createFailures(users.config.failedAuthPerMinuteMax);
  const serveDeps = { users, verifier, failures, clientAddress, logger };
  const version = JSON.stringify(versionAnswer(users.config));
  // Not strict: a trailing slash makes no difference.
  const app = new Hono({ strict: false });
  const routes: readonly Route[] = [
    {
      ...VERSION_OPERATION,
      handle: (c) => (acceptsJson(c.req.header('accept')) ? jsonTextResponse(200, version) : plainText(406, '')),
    },
    ...USERS_OPERATIONS.map((operation) => ({
      method: operation.method,
      path: operation.path,
      handle: (c: UsersContext) => answer(c, operation, serveDeps),
    })),
  ];
  addRoutes(app, routes, { logger, metrics: metrics.requests, admit: null });
  counters(metrics.registry, {
    holdfast_users_failed_authentications_total: {
      help: 'Requests of the users area without a valid token.',
      read: failures.total,
    },
  });
  gauges(metrics.registry, {
    holdfast_users_remembered_tokens: {
      help: 'Verified tokens that are remembered.',
      read: verifier.rememberedCount,
    },
  });
  app.notFound((c) => {
    const methods = methodsOf(app, c);
    if (methods.length > 0) return plainText(405, 'Method Not Allowed', { Allow: methods.join(', ') });
    const uri = targetOf(c).path.slice(0, SHOWN_CHARS_MAX);
    const errors = [`HttpMethod(${c.req.method}), uri: ${uri}`];
    return jsonResponse(404, { errors, status: 404, ledgerApiError: null });
  });
  return app;
}

async function answer(c: UsersContext, operation: UsersOperation, deps: ServeDeps): Promise<Response> {
  const { users, verifier, failures, clientAddress, logger } = deps;
  // What the log says, collected step by step; the user is the verified token's, whether it exists here or not.
  let requestId: string | null = null;
  let userId: string | null = null;
  let subject = '';
  const logFields = (status: number, rest: object = {}): object => {
    requestId ??= requestIdOf(c);
    const shown = {
      userId: userId?.slice(0, SHOWN_CHARS_MAX) ?? null,
      subject: subject.slice(0, SHOWN_CHARS_MAX),
    };
    return { requestId, operation: operation.operationId, ...shown, status, ...rest };
  };

  /** Takes the request through its steps (docs/rules.md, order of a request); throws the error of the first that fails. */
  async function serve(): Promise<object> {
    const id = idOf(c, operation.path);
    subject = id;
    const query = parseQuery(operation.query ?? [], targetOf(c).search);
    const token = bearerToken(c);
    const verified = await verify(token, verifier);
    if (verified === null) failures.count(clientAddress(c));
    userId = verified?.userId ?? null;
    let caller = verified === null ? null : resolveToken(users, verified);
    let body: unknown = null;
    if (operation.body !== null) body = decodeBody(operation.body, await readBody(c, bodyBytesMax(users, caller)));

    subject = operation.subject?.(body) ?? id;
    if (!acceptsJson(c.req.header('accept'))) throw new HttpFault(406, '');
    operation.checkIds?.({ id, body });
    if (caller === null) throw unauthenticated(token === null ? 'no token' : 'no valid token');
    // The body may have taken long, and rights may have been revoked meanwhile.
    const still = operation.body === null ? verified : await verify(token, verifier);
    if (still === null) throw unauthenticated('the token expired while the body was sent');
    const run = (store: UsersReader): object => {
      caller = operation.body === null ? caller! : resolveCaller(store, still);
      requireParticipant(caller, users.participantId);
      return operation.run({ users: store as UsersWriter, caller, config: users.config, id, query, body });
    };
    return operation.method === 'GET' ? run(users.reader) : users.write(run);
  }

  try {
    const result = await serve();
    const level = operation.ownRecordOnly === true ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) logger[level](logFields(200), 'ledger request answered');
    return jsonResponse(200, result);
  } catch (error) {
    if (error instanceof HttpFault) {
      logger.info(logFields(error.status, { reason: error.message }), 'ledger request refused');
      return plainText(error.status, error.message, error.headers);
    }
    // An unexpected error is answered without its text; the log has it under the request's id.
    const known = error instanceof UsersError ? error : new UsersError('INTERNAL', 'unforeseen');
    requestId ??= requestIdOf(c);
    const { status, body } = errorAnswer(known, { requestId, participantId: users.participantId, operation });
    // Other messages than those of redacted refusals may repeat what was given.
    const reason = 'redacted' in ERROR_CODES[known.code] ? { reason: known.message } : {};
    if (status >= 500) logger.error(logFields(status, { err: error }), 'ledger request failed');
    else logger.info(logFields(status, { code: known.code, ...reason }), 'ledger request refused');
    return jsonResponse(status, body);
  }
}

function plainText(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  if (text === '') return new Response(null, { status, headers });
  return new Response(text, { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8', ...headers } });
}

/** The limit for callers who are no administrators: no operation with a body admits them, and its own faults come first. */
const POWERLESS_BODY_BYTES_MAX = 65_536;

interface ServeDeps {
  readonly users: Users;
  readonly verifier: TokenVerifier;
  readonly failures: ReturnType<typeof createFailures>;
  /** The client that failed authentications are counted for; behind trusted proxies the one they name. */
  readonly clientAddress: (c: UsersContext) => string;
  readonly logger: Logger;
}

async function verify(token: string | null, verifier: TokenVerifier): Promise<VerifiedToken | null> {
  try {
    return token === null ? null : await verifier.verify(token);
  } catch (error) {
    return unresolvable(error);
  }
}

function resolveToken(users: Users, verified: VerifiedToken): Caller {
  try {
    return resolveCaller(users.reader, verified);
  } catch (error) {
    if (error instanceof UsersError) throw error;
    return unresolvable(error);
  }
}

/** Resolving the token failed through our fault; the body says that there was one (docs/rules.md, tokens). */
function unresolvable(cause: unknown): never {
  throw new UsersError('INTERNAL', 'the token could not be resolved', { raisedBy: 'token', cause });
}

function bodyBytesMax({ config: { bodyBytesMax }, participantId }: Users, caller: Caller | null): number {
  const hasPower = caller !== null && isUserAdmin(caller) && isForParticipant(caller, participantId);
  return hasPower ? bodyBytesMax : Math.min(bodyBytesMax, POWERLESS_BODY_BYTES_MAX);
}

const STATUS_OF_GRPC = { 3: 400, 5: 404, 6: 409, 7: 403, 9: 400, 10: 409, 13: 500, 14: 503, 16: 401 } as const;
/** Categories of errors that may pass: a fault of the machine, and a concurrent change after which the caller may try again. */
const PASSING: ReadonlySet<number> = new Set([1, 2]);
const CAUSE_CHARS_MAX = 512;
const TOKEN_CONTEXT = { ledger_api_error: 'invalid token' };

/** The parts of a request that its error body contains. */
interface ErrorParts {
  readonly requestId: string;
  readonly participantId: string;
  readonly operation: UsersOperation;
}

/** The error body of the JSON Ledger API, in the form that depends on the code and on who raised it (docs/rules.md, errors). */
function errorAnswer(error: UsersError, request: ErrorParts): { status: number; body: object } {
  const { grpc, category } = ERROR_CODES[error.code];
  const { requestId } = request;
  const { message } = error;
  const general = {
    code: error.code,
    cause: message.length <= CAUSE_CHARS_MAX ? message : `${message.slice(0, CAUSE_CHARS_MAX)}...`,
    correlationId: null,
    traceId: requestId,
    context: contextOf(error, request),
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
  const differing =
    'redacted' in ERROR_CODES[error.code] ? redacted : error.raisedBy === 'json-layer' ? ofJsonLayer : {};
  return { status: STATUS_OF_GRPC[grpc], body: { ...general, ...differing } };
}

function contextOf(error: UsersError, { requestId, participantId, operation }: ErrorParts): object {
  const inService = error.raisedBy === 'service';
  return {
    category: String(ERROR_CODES[error.code].category),
    ...('indefinite' in ERROR_CODES[error.code] ? {} : { definite_answer: 'false' }),
    ...(error.fieldName === undefined ? {} : { field_name: error.fieldName }),
    participant: inService && operation.service === 'user' ? `'${participantId}'` : participantId,
    ...(inService && operation.submission ? { submissionId: `'${randomUUID()}'` } : {}),
    tid: requestId,
    ...(error.raisedBy === 'token' ? TOKEN_CONTEXT : {}),
  };
}

const WINDOW_MS = 60_000;
/** Above this many addresses in a window the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

/** Counts the requests without a valid token: of all addresses, and of each per minute, where 0 is no limit. */
function createFailures(perMinuteMax: number) {
  const failures = new BoundedMap<string, { startedAtMs: number; count: number }>(ADDRESSES_MAX);
  let total = 0;
  return {
    total: () => total,
    /** Counts one more; throws a 429 where the address has used up its limit for this minute. */
    count(address: string): void {
      total += 1;
      if (perMinuteMax === 0) return;
      const nowMs = performance.now();
      const known = failures.get(address);
      if (known === undefined || nowMs - known.startedAtMs >= WINDOW_MS) {
        failures.delete(address);
        failures.set(address, { startedAtMs: nowMs, count: 1 });
      } else if (known.count < perMinuteMax) {
        known.count += 1;
      } else {
        const waitS = Math.ceil((known.startedAtMs + WINDOW_MS - nowMs) / 1000);
        throw new HttpFault(429, 'Too many failed authentications', { 'Retry-After': String(waitS) });
      }
    },
  };
}
