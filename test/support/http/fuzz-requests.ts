import { readFileSync } from 'node:fs';
import type { Random } from '../ledger/random.ts';
import { type Components, damaged, jsonOf, oddText, type Schema } from './fuzz-values.ts';

/** One operation of an OpenAPI document. */
export interface FuzzedOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Null where it takes no body. */
  readonly body: Schema | null;
  readonly components: Components;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
  readonly schema?: Schema & { readonly default?: unknown };
}

export interface FuzzedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Components };
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example?: Example } };
  };
}

type Example = Readonly<Record<string, unknown>>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const TYPES = ['application/json; charset=utf-8', 'text/plain', '', 'application/xml', 'application/json, text/plain'];
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['Accept', 'text/html'],
  ['Accept', ''],
  ['Content-Encoding', 'gzip'],
  ['Origin', 'https://evil.example'],
  ['Authorization', 'Bearer x.y.z'],
  ['Authorization', 'Basic eDp5'],
  ['Authorization', ''],
  ['X-Forwarded-For', '1,2,,3'],
  ['Range', 'bytes=0-0'],
  ['Cookie', 'a=b; '.repeat(200)],
];

/** The operations of a published document. */
export function operationsOf(name: string): FuzzedOperation[] {
  const text = readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8');
  const { paths, components } = JSON.parse(text) as Document;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const content = requestBody?.content['application/json'];
      const body = content === undefined ? null : withExample(content.schema, content.example);
      const given = parameters.map((each) => ({ ...each, example: each.example ?? usualValue(each) }));
      return { method: method.toUpperCase(), path, parameters: given, body, components: components.schemas };
    }),
  );
}

/** A body's schema with its example, and each member's with that member of it. */
function withExample(schema: Schema, example: Example | undefined): Schema {
  if (example === undefined) return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    return [name, name in example ? { ...property, examples: [example[name]] } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties), examples: [example] };
}

/** A valid value of a parameter that need not be given; undefined where the schema has none. */
function usualValue({ schema }: Parameter): unknown {
  if (schema?.format === 'date-time') return '2025-02-12T00:40:00Z';
  return schema?.type === 'integer' ? 0 : schema?.default;
}

/** A request for an operation that is right, nearly right or quite wrong. */
export function fuzzedRequest(operation: FuzzedOperation, authorization: string, random: Random): FuzzedRequest {
  const oddShare = random.pick([0, 0.02, 0.1, 0.3]);
  const method = random.chance(oddShare / 4) ? random.pick(METHODS) : operation.method;
  const body = operation.body === null && !random.chance(oddShare) ? null : bodyOf(operation, random, oddShare);
  const odd = random.chance(oddShare) ? [random.pick(ODD_HEADERS)] : [];
  const type = random.chance(oddShare / 4) ? random.pick(TYPES) : 'application/json';
  return {
    method,
    target: targetOf(operation, random, oddShare),
    headers: {
      ...(authorization === '' ? {} : { Authorization: authorization }),
      ...(body === null ? {} : { 'Content-Type': type, 'Content-Length': String(body.length) }),
      ...Object.fromEntries(odd),
    },
    body,
  };
}

function targetOf({ path, parameters }: FuzzedOperation, random: Random, oddShare: number): string {
  const filled = path.replaceAll(/\{.*?\}/g, () =>
    escaped(random.chance(oddShare) ? oddText(random) : random.pick(IDS)),
  );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && random.chance(parameter.example === undefined ? 0.4 : 0.95))
    .map(({ name, example }) => {
      const value = example === undefined || random.chance(oddShare) ? oddText(random) : String(example);
      return `${name}=${escaped(value)}`;
    });
  if (random.chance(oddShare / 2)) query.push(random.pick(['&', '=', '%', '%zz=%ff', 'pageSize=', '__proto__=x']));
  const wholePath = random.chance(oddShare / 8) ? `${filled}/${escaped(oddText(random))}` : filled;
  return query.length === 0 ? wholePath : `${wholePath}?${query.join('&')}`;
}

/** Users and providers that requests of other operations have created. */
const IDS = ['u1', 'u2', 'u3', 'idp1'];

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 2_000);
}

function bodyOf({ body, components }: FuzzedOperation, random: Random, oddShare: number): Buffer {
  // With an example at its root a schema is followed or replaced as a whole; its members are worth more.
  const { examples, ...schema } = body ?? { type: 'object' };
  const whole = examples !== undefined && random.chance(0.3);
  const text = whole ? JSON.stringify(examples[0]) : jsonOf(schema, components, random, oddShare);
  const bytes = Buffer.from(text);
  return random.chance(oddShare / 2) ? damaged(bytes, random) : bytes;
}
