import type { Context } from 'hono';
import { z } from 'zod';
import { readJsonBody } from './json-request.ts';
import { type Cors, HttpFault, jsonTextResponse, type Route, wrongValue } from './routing.ts';

/** An operation's names, from which its routes, its entry in the OpenAPI document and its name in /metrics follow. */
export interface OperationFacts extends Pick<Route, 'method' | 'path'> {
  /** Its id in the document. */
  readonly operationId: string;
  readonly summary: string;
  /** The store in PostgreSQL does not keep what it answers with: 501, and it is not in the document of such a service. */
  readonly needsDirectory?: true;
}

/** Settings that limit a request's content and size. */
export interface RequestLimits {
  readonly ownersMax: number;
}
export interface ServedLimits extends RequestLimits {
  readonly bodyBytesMax: number;
}

/** What examples are made of. */
export interface ExampleValues {
  readonly migrationId: number;
  /** Of a snapshot. */
  readonly recordTime: string;
  readonly owner: string;
}

/** The JSON text of a 200, or of another status with an answer of the same form. */
type Answer = string | { readonly status: number; readonly text: string };

/**
 * All about an operation with JSON requests and answers. `Call`: what its area gives a handler. Hono's validator, and
 * @hono/zod-openapi with it, would parse the body with a JSON.parse that rounds integers above 2^53, take a body of another
 * type for an empty one, and say neither in a message of ours.
 */
export interface JsonOperation<Call, Fields extends z.ZodObject = z.ZodObject, Schema extends z.ZodType = z.ZodType>
  extends OperationFacts {
  /** What a GET has in its query, a POST in its body; other fields are ignored. Without one, neither is read. */
  readonly request?: {
    readonly fields: (limits: RequestLimits) => Fields;
    /** An example for the document, of the fields that must be given. The service answers it with 200. */
    readonly example: (values: ExampleValues) => Readonly<Record<string, unknown>>;
  };
  /** The `id` in its meta is its name in the document. */
  readonly answer: Schema;
  /** Statuses other than 200 with an answer of the same form, and when they come. */
  readonly alsoAnswers?: Readonly<Record<number, string>>;
  /** Statuses with an error, other than 500, and when they come. */
  readonly faults?: Readonly<Record<number, string>>;
  /** Since when it is deprecated (RFC 9745), and the path that replaces it. */
  readonly deprecated?: { readonly since: string; readonly successor: string };
  /** Served under the path of a validator's scan-proxy too. */
  readonly scanProxy?: true;
  /** Why only programs may use it: pages of other origins get no CORS headers, and any request with an Origin is refused. */
  readonly programsOnly?: string;
  /** Throws an HttpFault for what the caller can fix. A method, so that one list can have operations with different requests. */
  handle(given: z.output<Fields>, call: Call): Answer | Promise<Answer>;
}

/** A field that `parse` reads (null: not valid). Its meta is its JSON Schema. */
export function field<Value>(parse: (given: unknown) => Value | null, expected: string, schema: z.GlobalMeta) {
  return z
    .unknown()
    .transform((given, context): Value => {
      const value = parse(given);
      if (value !== null) return value;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    })
    .meta(schema);
}

/** A field that may also be absent or null. */
export function optional<Field extends z.ZodType>(field: Field, documented: z.GlobalMeta = {}) {
  return field
    .nullish()
    .transform((value) => value ?? null)
    .meta({ ...documented, anyOf: [field.meta(), { type: 'null' }] });
}

/** An issue with this parameter is a whole message, and comes before those of all other fields. */
export const WHOLE_MESSAGE = { isWholeMessage: true };

/** Throws a 400 with the name of the first invalid field, its value and what is expected. Only a strict object refuses others. */
export function validated<Fields extends z.ZodObject>(fields: Fields, given: unknown): z.output<Fields> {
  const result = fields.safeParse(given);
  if (result.success) return result.data;
  const { issues } = result.error;
  const whole = issues.find((issue) => issue.code === 'custom' && issue.params === WHOLE_MESSAGE);
  if (whole !== undefined) throw new HttpFault(400, whole.message);
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')?.keys[0];
  if (unknown !== undefined) {
    const known = Object.keys(fields.shape).join(', ');
    throw wrongValue(unknown, (given as Record<string, unknown>)[unknown], `no such field, only ${known}`);
  }
  const { path, message } = issues[0]!;
  if (path.length === 0) throw wrongValue('body', given, 'a JSON object');
  const name = path.map((part) => (typeof part === 'number' ? `[${part}]` : String(part))).join('');
  const value = path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], given);
  throw wrongValue(name, value, message);
}

/** A path of Scan as a validator's scan-proxy serves it. */
export function scanProxyPath(path: string): string {
  return path.replace(/^\/v\d+/, '/api/validator$&/scan-proxy');
}

/** A path as Scan serves it under /api/scan. */
const scanPath = (path: string): string => `/api/scan${path}`;

/** The route of an operation, at the root and under /api/scan. */
export function jsonRoute<Call>(
  operation: JsonOperation<Call>,
  { callOf, limits, cors }: { callOf: (c: Context) => Call; limits: ServedLimits; cors: Cors },
): Route {
  const { method, path, programsOnly, scanProxy } = operation;
  const deprecationHeaders = createDeprecationHeaders(operation);
  const readRequest = createRequestReader(operation, limits);
  const open = programsOnly === undefined ? cors : undefined;
  return {
    method,
    path,
    aliases: [scanPath(path), ...(scanProxy === undefined ? [] : [scanProxyPath(path)])],
    cors: open,
    handle: async (c) => {
      // Any page may send a POST without a preflight.
      if (programsOnly !== undefined && c.req.header('origin') !== undefined)
        throw new HttpFault(403, `Origin: given, expected none: ${programsOnly}`);
      const answer = await operation.handle(await readRequest(c), callOf(c));
      const headers = { ...open?.headers(c), ...deprecationHeaders(c) };
      return typeof answer === 'string'
        ? jsonTextResponse(200, answer, headers)
        : jsonTextResponse(answer.status, answer.text, headers);
    },
  };
}

function createRequestReader(
  { method, request }: JsonOperation<never>,
  limits: ServedLimits,
): (c: Context) => Record<string, unknown> | Promise<Record<string, unknown>> {
  if (request === undefined) return () => ({});
  const fields = request.fields(limits);
  return method === 'GET'
    ? (c) => validated(fields, c.req.query())
    : async (c) => validated(fields, await readJsonBody(c, limits.bodyBytesMax));
}

/** The headers of a deprecated operation; the successor is named at the path of the request. */
function createDeprecationHeaders({ path, deprecated }: JsonOperation<never>): (c: Context) => object | undefined {
  if (deprecated === undefined) return () => undefined;
  const headersAt = (servedAt: (path: string) => string): [string, object] => [
    servedAt(path),
    {
      Deprecation: `@${Date.parse(deprecated.since) / 1000}`,
      'Access-Control-Expose-Headers': 'Deprecation, Link',
      Link: `<${servedAt(deprecated.successor)}>; rel="successor-version"`,
    },
  ];
  const byPath = new Map([(root: string) => root, scanPath, scanProxyPath].map(headersAt));
  return (c) => byPath.get(c.req.path);
}
