import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Users } from '../../users/open-users.ts';
import { isForParticipant, isUserAdmin, requireParticipant } from '../../users/rules/authorize.ts';
import { type Caller, resolveCaller } from '../../users/rules/caller.ts';
import type { UsersReader } from '../../users/store/users-reader.ts';
import type { TokenVerifier, VerifiedToken } from '../../users/tokens/token-verifier.ts';
import { UsersError, unauthenticated } from '../../users/users-error.ts';
import { HttpFault } from '../server/http-fault.ts';
import { settle } from '../server/settle.ts';
import { decodeBody, readBody } from './body.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import type { UsersOperation } from './operation.ts';
import { acceptsJson, bearerToken, idOf, parseQuery, targetOf, type UsersContext } from './request.ts';

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
  const token = bearerToken(c);

  /** The checks before the transaction. */
  function check(caller: Caller | null, body: unknown): { token: string; caller: Caller } {
    traces.subject = operation.subject?.(body) ?? id;
    if (!acceptsJson(c.req.header('accept'))) throw new HttpFault(406, '');
    operation.checkIds?.({ id, body });
    if (token === null || caller === null) throw unauthenticated(token === null ? 'no token' : 'no valid token');
    return { token, caller };
  }

  function run(body: unknown, findCaller: (users: UsersReader) => Caller): object {
    return operation.run(users, (store) => {
      const caller = findCaller(store);
      requireParticipant(caller, users.participantId);
      return { users: store, caller, config: users.config, id, query, body };
    });
  }

  async function serveWithBody(schema: z.ZodType, known: Caller | null): Promise<object> {
    const body = decodeBody(schema, await readBody(c, bodyBytesMax(users, known)));
    const { token } = check(known, body);
    // The body may have taken long, and rights may have been revoked meanwhile.
    const still = await verifier.verify(token);
    if (still === null) throw unauthenticated('the token expired while the body was sent');
    return run(body, (reader) => resolveCaller(reader, still));
  }

  return settle<VerifiedToken | null, object | Promise<object>>(
    () => (token === null ? null : verifier.verify(token)),
    (verified) => {
      if (verified === null) failures.count(clientAddress(c));
      traces.userId = verified?.userId ?? null;
      // Null without a valid token.
      const known = verified === null ? null : resolveToken(users, verified);
      if (operation.body !== null) return serveWithBody(operation.body, known);
      const { caller } = check(known, null);
      return run(null, () => caller);
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

function bodyBytesMax({ config: { bodyBytesMax }, participantId }: Users, caller: Caller | null): number {
  const hasPower = caller !== null && isUserAdmin(caller) && isForParticipant(caller, participantId);
  return hasPower ? bodyBytesMax : Math.min(bodyBytesMax, POWERLESS_BODY_BYTES_MAX);
}

/** An unexpected error is answered as INTERNAL, without its text; the log has it under the request's id. */
export function asKnownError(error: unknown): UsersError | HttpFault {
  if (error instanceof UsersError || error instanceof HttpFault) return error;
  return new UsersError('INTERNAL', 'unforeseen');
}
