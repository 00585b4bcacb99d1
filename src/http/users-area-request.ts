import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import type { z } from 'zod';
import { endOfString, isDeeperThan } from '../json/exact-number.ts';
import type { Query } from '../users/caller.ts';
import { userIdFault } from '../users/user.ts';
import { invalidArgument } from '../users/users-error.ts';
import { contentCoding, readBodyText } from './json-request.ts';
import { HttpFault } from './routing.ts';

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

/** The id in a request's path, decoded once; empty where the operation's path has none. What cannot be decoded is a 400; Hono would leave it as it is. */
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

/**
 * 400 for something that cannot be decoded; `what` is for example `query parameter pageSize` or `body`. Like every HttpFault
 * of this area it is answered in plain text, not with the error body of the JSON Ledger API.
 */
function invalidValue(what: string, reason?: string): HttpFault {
  return new HttpFault(400, `Invalid value for: ${what}${reason === undefined ? '' : ` (${reason})`}`);
}

const BEARER = /^bearer(?: +|$)/i;
/** A proxy may join two lines with a comma; no token has one. */
const JOINED = /,\s*(?=bearer(?:\s|$))/i;
const PROTOCOL_PREFIX = 'jwt.token.';

/**
 * The token of a request, or null where it has none: of the Authorization header, else of an entry of
 * Sec-WebSocket-Protocol. Throws a 400 for a bearer without a token and for two bearers (docs/rules.md, tokens).
 */
export function bearerToken(c: UsersContext): string | null {
  // Each line separately: joined, they cannot be separated.
  const { rawHeaders } = c.env.incoming;
  const [bearer, second] = rawHeaders
    .filter((_, i) => i % 2 === 1 && isAuthorization(rawHeaders[i - 1]!))
    .flatMap((line) => (line.includes(',') ? line.split(JOINED) : line))
    .map((line) => line.trim())
    .filter((line) => BEARER.test(line));
  if (bearer !== undefined) {
    const token = bearer.replace(BEARER, '');
    if (second !== undefined || token === '') throw invalidValue('header Authorization');
    return token;
  }
  const protocols = c.req
    .header('sec-websocket-protocol')
    ?.split(',')
    .map((part) => part.trim());
  return protocols?.find((part) => part.startsWith(PROTOCOL_PREFIX))?.slice(PROTOCOL_PREFIX.length) ?? null;
}

/** The length is compared first, because every header of every request is. */
function isAuthorization(name: string): boolean {
  return name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION;
}

export type PathParameter = 'user-id' | 'idp-id';
export type QueryParameter = 'pageSize' | 'pageToken' | 'identity-provider-id';

const INT32 = /^[+-]?\d{1,20}$/;
const INT32_MAX = 2_147_483_647;

/** Decodes those that the operation has, and ignores others; throws a 400 for one given twice or a page size that is no int32. */
export function parseQuery(parameters: readonly QueryParameter[], search: string): Query {
  if (parameters.length === 0 || search === '') return { pageSize: 0, pageToken: '', identityProviderId: '' };
  const given = new URLSearchParams(search);
  const one = (name: QueryParameter): string | null => {
    const values = parameters.includes(name) ? given.getAll(name) : [];
    if (values.length > 1) throw invalidValue(`query parameter ${name}`);
    return values[0] ?? null;
  };
  const text = one('pageSize') ?? '0';
  const pageSize = INT32.test(text) ? Number(text) : Number.NaN;
  if (!(pageSize >= -INT32_MAX - 1 && pageSize <= INT32_MAX)) throw invalidValue('query parameter pageSize');
  return { pageSize, pageToken: one('pageToken') ?? '', identityProviderId: one('identity-provider-id') ?? '' };
}

/** Throws INVALID_ARGUMENT for a malformed user id in a path; only where no body has the id too. */
export function checkPathUserId({ id }: { readonly id: string }): void {
  const fault = userIdFault(id);
  if (fault !== null) throw invalidArgument(`Malformed user-id: ${fault}`, 'json-layer');
}

/** Throws INVALID_ARGUMENT where the body names another user or provider than the path, or none (null). */
export function checkSameId(id: string, given: string | null, what: 'user' | 'idp' = 'user'): void {
  if (given === id) return;
  const shown = given === null ? 'None' : `Some(${given})`;
  throw invalidArgument(`${id} does not match ${what} in body: ${shown} `, 'json-layer');
}

/** Media ranges from the most specific: a less specific one counts only where this is not given. */
const RANGES = ['application/json', 'application/*', '*/*'];

/** Whether an Accept header allows JSON: no header does, and a range with q=0 does not. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const given = parseAccept(accept);
  const most = RANGES.map((range) => given.find(({ type }) => type.toLowerCase() === range)).find(
    (found) => found !== undefined,
  );
  return most !== undefined && most.q > 0;
}

/** The text of a request's body. Throws a 413 above the limit, a 400 where it is compressed or not UTF-8. */
export async function readBody(c: Context, bytesMax: number): Promise<string> {
  const text = await readBodyText(c, bytesMax, (reason) => invalidValue('body', reason));
  const coding = contentCoding(c);
  if (coding !== null) throw invalidValue('body', `Content-Encoding: given ${JSON.stringify(coding)}, expected none`);
  return text;
}

/** No request of this area needs deeper nesting, which is costly to process. */
const DEPTH_MAX = 64;
/** More than any request needs; many small values cost far more time than their bytes. */
const VALUES_MAX = 200_000;

/** A body by its schema; throws a 400 in plain text for invalid JSON, too deep nesting, or another form. */
export function decodeBody<Body>(schema: z.ZodType<Body>, bodyText: string): Body {
  // Checked on the text, so that no value too deep or too large is created.
  if (isDeeperThan(bodyText, DEPTH_MAX)) throw invalidValue('body', `nested deeper than ${DEPTH_MAX} levels`);
  if (hasMoreValuesThan(bodyText, VALUES_MAX)) throw invalidValue('body', `more than ${VALUES_MAX} values`);
  let value: unknown;
  try {
    value = JSON.parse(bodyText);
  } catch {
    throw invalidValue('body', `expected json value, given ${bodyText === '' ? 'nothing' : 'something else'}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalidValue('body', path.length === 0 ? message : `${message} at '${path.map(String).join('.')}'`);
}

/** Counts commas outside strings. */
function hasMoreValuesThan(text: string, valuesMax: number): boolean {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === ',' && ++values > valuesMax) return true;
  }
  return false;
}
