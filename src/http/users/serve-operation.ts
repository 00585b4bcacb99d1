import type { Logger } from 'pino';
import type { Users } from '../../users/open-users.ts';
import { isForParticipant, isUserAdmin, requireParticipant } from '../../users/rules/authorize.ts';
import { type Caller, resolveCaller } from '../../users/rules/caller.ts';
import type { UsersReader } from '../../users/store/users-reader.ts';
import type { TokenVerifier, VerifiedToken } from '../../users/tokens/token-verifier.ts';
import { UsersError, unauthenticated } from '../../users/users-error.ts';
import { HttpFault } from '../server/http-fault.ts';
import { settle } from '../server/settle.ts';
import { readBody } from './body.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import type { Prepared, UsersOperation } from './operation.ts';
import {
  acceptsJson,
  authorizationLines,
  bearerToken,
  idOf,
  parseQuery,
  type Query,
  targetOf,
  type UsersContext,
} from './request.ts';

/**
 * The limit for callers who are no administrators, whom no operation with a body admits; they are refused only after the
 * body's own faults. Enough for any honest request.
 */
const POWERLESS_BODY_BYTES_MAX = 65_536;

export interface ServeDeps {
  readonly users: Users;
  readonly verifier: TokenVerifier;
  readonly failures: FailedAuthentications;
  readonly clientAddress: (c: UsersContext) => string;
  readonly logger: Logger;
}

/** What the log says of a request, collected step by step; the user is the verified token's, whether it exists here or not. */
export interface Traces {
  userId: string | null;
  subject: string;
}

/** A request whose token was verified. */
interface Verified {
  readonly c: UsersContext;
  readonly operation: UsersOperation;
  readonly id: string;
  readonly query: Query;
  readonly token: string | null;
  /** Null without a valid token. */
  readonly caller: Caller | null;
  readonly deps: ServeDeps;
  readonly traces: Traces;
}

/**
 * Takes a request through its steps (docs/rules.md, order of a request); throws the UsersError or HttpFault of
 * the first that fails. Synchronous where there is no body and the token was verified before.
 */
export function serveOperation(
  c: UsersContext,
  operation: UsersOperation,
  { deps, traces }: { deps: ServeDeps; traces: Traces },
): object | Promise<object> {
  const id = idOf(c, operation.path);
  traces.subject = id;
  const query = parseQuery(operation.query ?? [], targetOf(c).search);
  const token = bearerToken({
    authorization: authorizationLines(c),
    webSocketProtocol: c.req.header('sec-websocket-protocol'),
  });
  return settle<VerifiedToken | null, object | Promise<object>>(
    () => (token === null ? null : deps.verifier.verify(token)),
    (verified) => {
      if (verified === null) deps.failures.count(deps.clientAddress(c));
      traces.userId = verified?.userId ?? null;
      const caller = verified === null ? null : resolveToken(deps.users, verified);
      const request = { c, operation, id, query, token, caller, deps, traces };
      return operation.body === null ? serveWithoutBody(request) : serveWithBody(request);
    },
    unresolvable,
  );
}

function serveWithoutBody(request: Verified): object {
  const { prepared, caller } = checkRequest(request, '');
  return run(prepared, request.deps.users, () => caller);
}

async function serveWithBody(request: Verified): Promise<object> {
  const { users, verifier } = request.deps;
  const { prepared, token } = checkRequest(request, await readBody(request.c, bodyBytesMax(users, request.caller)));
  // The body may have taken long, and rights may have been revoked meanwhile.
  const still = await verifier.verify(token);
  if (still === null) throw unauthenticated('the token expired while the body was sent');
  return run(prepared, users, (reader) => resolveCaller(reader, still));
}

/** The checks before the transaction, in which the caller is looked up again. */
function checkRequest({ c, operation, id, query, token, caller, traces }: Verified, bodyText: string): CheckedRequest {
  const prepared = operation.prepare({ id, query, bodyText });
  traces.subject = prepared.subject;
  if (!acceptsJson(c.req.header('accept'))) throw new HttpFault(406, '');
  prepared.checkIds();
  if (token === null || caller === null) throw unauthenticated(token === null ? 'no token' : 'no valid token');
  return { prepared, token, caller };
}

interface CheckedRequest {
  readonly prepared: Prepared;
  readonly token: string;
  readonly caller: Caller;
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

function run(prepared: Prepared, users: Users, findCaller: (users: UsersReader) => Caller): object {
  return prepared.run(users, (reader) => {
    const caller = findCaller(reader);
    requireParticipant(caller, users.participantId);
    return caller;
  });
}

function bodyBytesMax({ config: { bodyBytesMax }, participantId }: Users, caller: Caller | null): number {
  const hasPower = caller !== null && isUserAdmin(caller) && isForParticipant(caller, participantId);
  return hasPower ? bodyBytesMax : Math.min(bodyBytesMax, POWERLESS_BODY_BYTES_MAX);
}

/** An unexpected error is answered as INTERNAL, without its text; the log has it under the request's id. */
export function asKnownError(error: unknown): UsersError | HttpFault {
  if (error instanceof UsersError || error instanceof HttpFault) return error;
  return new UsersError('INTERNAL', 'unforeseen');
}
