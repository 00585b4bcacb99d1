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

/**
 * Takes a request through its steps (docs/rules.md, order of a request); throws the UsersError or HttpFault of
 * the first that fails. Synchronous where there is no body and the token was verified before.
 */
export function serveOperation(
  c: UsersContext,
  operation: UsersOperation,
  { deps: { users, verifier, failures, clientAddress }, traces }: { deps: ServeDeps; traces: Traces },
): object | Promise<object> {
  const id = idOf(c, operation.path);
  traces.subject = id;
  const query = parseQuery(operation.query ?? [], targetOf(c).search);
  const token = bearerToken({
    authorization: authorizationLines(c),
    webSocketProtocol: c.req.header('sec-websocket-protocol'),
  });

  /** The checks before the transaction, in which the caller is looked up again. */
  function check(caller: Caller | null, bodyText: string): { prepared: Prepared; token: string; caller: Caller } {
    const prepared = operation.prepare({ id, query, bodyText });
    traces.subject = prepared.subject;
    if (!acceptsJson(c.req.header('accept'))) throw new HttpFault(406, '');
    prepared.checkIds();
    if (token === null || caller === null) throw unauthenticated(token === null ? 'no token' : 'no valid token');
    return { prepared, token, caller };
  }

  async function serveWithBody(caller: Caller | null): Promise<object> {
    const { prepared, token } = check(caller, await readBody(c, bodyBytesMax(users, caller)));
    // The body may have taken long, and rights may have been revoked meanwhile.
    const still = await verifier.verify(token);
    if (still === null) throw unauthenticated('the token expired while the body was sent');
    return run(prepared, users, (reader) => resolveCaller(reader, still));
  }

  return settle<VerifiedToken | null, object | Promise<object>>(
    () => (token === null ? null : verifier.verify(token)),
    (verified) => {
      if (verified === null) failures.count(clientAddress(c));
      traces.userId = verified?.userId ?? null;
      // Null without a valid token.
      const known = verified === null ? null : resolveToken(users, verified);
      if (operation.body !== null) return serveWithBody(known);
      const { prepared, caller } = check(known, '');
      return run(prepared, users, () => caller);
    },
    unresolvable,
  );
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
