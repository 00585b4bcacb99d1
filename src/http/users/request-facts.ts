import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { invalidValue } from './invalid-value.ts';

export type UsersContext = Context<{ Bindings: HttpBindings }>;

const AUTHORIZATION = 'authorization';
/** Trace id of a W3C traceparent: it names the request in answers and in the log. */
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The path and query, percent-encoded as they were sent. */
export function targetOf({ req: { url } }: Context): { readonly path: string; readonly search: string } {
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  const query = target.indexOf('?');
  return query === -1 ? { path: target, search: '' } : { path: target.slice(0, query), search: target.slice(query) };
}

/**
 * The id in a request's path, decoded once; empty where the operation's path has none. What cannot be decoded is a
 * 400; Hono would leave it as it is.
 */
export function idOf(c: UsersContext, operationPath: string): string {
  const at = operationPath.split('/').findIndex((segment) => segment.startsWith('{'));
  if (at < 0) return '';
  try {
    return decodeURIComponent(targetOf(c).path.split('/')[at]!);
  } catch {
    throw invalidValue(`path parameter ${operationPath.split('/')[at]!.slice(1, -1)}`);
  }
}

export function requestIdOf(c: UsersContext): string {
  const given = c.req.header('traceparent');
  return (given === undefined ? null : TRACEPARENT.exec(given)?.[1]) ?? randomUUID().replaceAll('-', '');
}

/** Each Authorization line separately: joined, they could not be told apart. */
export function authorizationLines(c: UsersContext): readonly string[] {
  const { rawHeaders } = c.env.incoming;
  return rawHeaders.filter((_, i) => i % 2 === 1 && isAuthorization(rawHeaders[i - 1]!));
}

function isAuthorization(name: string): boolean {
  return name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION;
}
