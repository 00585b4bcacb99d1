import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Users } from '../../users/open-users.ts';
import { KeySetCache } from '../../users/tokens/key-set-cache.ts';
import { createTokenVerifier } from '../../users/tokens/token-verifier.ts';
import type { UsersError } from '../../users/users-error.ts';
import { HttpFault } from '../server/http-fault.ts';
import { jsonResponse, jsonTextResponse } from '../server/json-response.ts';
import { counters, gauges, type Metrics } from '../server/metrics.ts';
import { addRoutes, methodsOf, type Route } from '../server/routes.ts';
import { settle } from '../server/settle.ts';
import { versionAnswer } from './answers.ts';
import { errorAnswer } from './error-body.ts';
import { FailedAuthentications } from './failed-authentications.ts';
import type { UsersOperation } from './operation.ts';
import { USERS_OPERATIONS, VERSION_OPERATION } from './operations.ts';
import { acceptsJson, requestIdOf, targetOf, type UsersContext } from './request.ts';
import { asKnownError, type ServeDeps, serveOperation, type Traces } from './serve-operation.ts';

export interface UsersAreaDeps {
  readonly users: Users;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The client that failed authentications are counted for; behind trusted proxies the one they name. */
  readonly clientAddress: (c: UsersContext) => string;
  /** The time of day, for checking tokens. */
  readonly nowMs?: () => number;
  /** A monotonic clock, for the age of key sets and of failed authentications. */
  readonly elapsedMs?: () => number;
}

const SHOWN_CHARS_MAX = 200;

/** Everything under /v2, 404 and 405 in the form of the JSON Ledger API included. */
export function createUsersArea(deps: UsersAreaDeps): Hono {
  const { users, logger, metrics, clientAddress, nowMs = Date.now, elapsedMs = () => performance.now() } = deps;
  const keySets = new KeySetCache({ logger, nowMs: elapsedMs, closed: users.closed });
  const serveDeps: ServeDeps = {
    users,
    verifier: createTokenVerifier({ users, keySets, nowMs }),
    failures: new FailedAuthentications(users.config.failedAuthPerMinuteMax, elapsedMs),
    clientAddress,
    logger,
  };
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
  addRoutes(app, routes, { logger, metrics: metrics.requests });
  measureTokens(metrics, serveDeps);
  app.notFound((c) => {
    const methods = methodsOf(app, c);
    if (methods.length > 0) return plainText(405, 'Method Not Allowed', { Allow: methods.join(', ') });
    return unknownPath(c.req.method, targetOf(c).path);
  });
  return app;
}

function measureTokens({ registry }: Metrics, { verifier, failures }: ServeDeps): void {
  counters(registry, {
    holdfast_users_failed_authentications_total: {
      help: 'Requests of the users area whose token nobody verifies, or that have none.',
      read: () => failures.total,
    },
  });
  gauges(registry, {
    holdfast_users_remembered_tokens: {
      help: 'Verified tokens that are remembered.',
      read: () => verifier.rememberedCount,
    },
  });
}

function answer(c: UsersContext, operation: UsersOperation, deps: ServeDeps): Response | Promise<Response> {
  let requestId: string | null = null;
  const traces: Traces = { userId: null, subject: '' };
  const logFields = (status: number, rest: object = {}): object => {
    requestId ??= requestIdOf(c);
    return {
      requestId,
      operation: operation.operationId,
      userId: traces.userId?.slice(0, SHOWN_CHARS_MAX) ?? null,
      subject: traces.subject.slice(0, SHOWN_CHARS_MAX),
      status,
      ...rest,
    };
  };
  const answered = (result: object): Response => {
    const level = operation.ownRecordOnly === true ? 'debug' : 'info';
    if (deps.logger.isLevelEnabled(level)) deps.logger[level](logFields(200), 'ledger request answered');
    return jsonResponse(200, result);
  };
  const refused = (error: unknown): Response => {
    const known = asKnownError(error);
    if (known instanceof HttpFault) {
      deps.logger.info(logFields(known.status, { reason: known.message }), 'ledger request refused');
      return plainText(known.status, known.message, known.headers);
    }
    requestId ??= requestIdOf(c);
    const { status, body } = errorAnswer(known, {
      requestId,
      participantId: deps.users.participantId,
      service: operation.service,
      submission: operation.submission === true,
    });
    if (status >= 500) deps.logger.error(logFields(status, { err: error }), 'ledger request failed');
    else deps.logger.info(logFields(status, refusalOf(known)), 'ledger request refused');
    return jsonResponse(status, body);
  };
  return settle(() => serveOperation(c, operation, { deps, traces }), answered, refused);
}

/** The log has the reason only of redacted refusals: other messages may repeat what was given. */
function refusalOf({ code, message }: UsersError): object {
  return code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED' ? { code, reason: message } : { code };
}

function unknownPath(method: string, path: string): Response {
  const uri = path.slice(0, SHOWN_CHARS_MAX);
  return jsonResponse(404, { errors: [`HttpMethod(${method}), uri: ${uri}`], status: 404, ledgerApiError: null });
}

function plainText(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  if (text === '') return new Response(null, { status, headers });
  return new Response(text, { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8', ...headers } });
}
