import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Answers } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import { IN_PATH, LIMIT_DEFAULT, LIMIT_MAX, parameter, TABLES, type TableName } from '../holdings/table-question.ts';
import { HOLDINGS_OPERATIONS } from './holdings-operations.ts';
import {
  type ExampleValues,
  type JsonOperation,
  type OperationFacts,
  type RequestLimits,
  scanProxyPath,
} from './json-operation.ts';
import { ERROR, OWN_ERROR } from './routing.ts';
import { SERVICE_OPERATIONS } from './service-operations.ts';
import { STREAM_DOCUMENT, STREAM_OF_MANY_OPERATION, STREAM_OPERATION } from './stream-requests.ts';
import { STREAM_EVENTS } from './streams.ts';
import type { TableOperation } from './table-operation.ts';
import { balances, TABLE_OPERATIONS } from './table-operations.ts';
import type { PathParameter, QueryParameter } from './users-area-request.ts';
import { USERS_OPERATIONS, type UsersOperation, VERSION_OPERATION } from './users-operations.ts';
import type { ServedDocument } from './web-pages.ts';

const COMPONENTS = '#/components/schemas/';
/** The OpenAPI document of an area, with its operations in the order of their list. */
function openApiDocument<Operation extends OperationFacts>(
  info: { readonly title: string; readonly version: string; readonly description: string },
  {
    servers,
    components,
    groups,
    groupOf,
    ...security
  }: {
    readonly servers: readonly string[];
    readonly components: object;
    readonly security?: object;
    readonly groups: Readonly<Record<string, string>>;
    readonly groupOf: (operation: OperationFacts) => string;
  },
  operations: readonly Operation[],
  describe: (operation: Operation) => object,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { path, method, operationId, summary } = operation;
    const tags = [groupOf(operation)];
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId, summary, tags, ...describe(operation) } };
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: servers.map((url) => ({ url })),
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    ...security,
    paths,
    components,
  };
}

function describeJsonOperation(operation: JsonOperation<never>, limits: RequestLimits, values: ExampleValues): object {
  const { method, path, deprecated, scanProxy, request, answer, alsoAnswers = {}, faults = {} } = operation;
  return {
    ...(scanProxy && { description: `Also at ${scanProxyPath(path)}, as a validator serves it.` }),
    ...(deprecated && { deprecated: true }),
    ...(request && describeRequest(method, request.fields(limits), request.example(values))),
    responses: { ...responses({ 200: 'The answer.', ...alsoAnswers }, answer), ...errorResponses(faults) },
  };
}

function answerSchemas(operations: readonly Pick<JsonOperation<never>, 'answer'>[]): object {
  // Clients must accept fields that a later version adds.
  const override: z.core.ToJSONSchemaParams['override'] = ({ jsonSchema }) =>
    void delete jsonSchema.additionalProperties;
  const schemas = [...operations.map(({ answer }) => answer), ERROR, OWN_ERROR];
  return namedSchemas(schemas, { io: 'output', unrepresentable: 'any', override });
}

function describeRequest(method: string, fields: z.ZodObject, example: Readonly<Record<string, unknown>>): object {
  const named = Object.entries(fields.shape as Record<string, z.ZodType>);
  const properties = Object.fromEntries(named.map(([name, field]) => [name, field.meta()]));
  const required = named.filter(([, field]) => !field.safeParse(undefined).success).map(([name]) => name);
  const schema = { type: 'object', properties, required };
  if (method === 'POST')
    return { requestBody: { required: true, content: { 'application/json': { schema, example } } } };
  const parameters = Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: property,
    example: example[name],
  }));
  return { parameters };
}

/** The answers by status, each in a named schema. */
function responses(whenByStatus: Readonly<Record<number, string>>, schema: z.ZodType): object {
  const content = contentOf(schema);
  return Object.fromEntries(
    Object.entries(whenByStatus).map(([status, description]) => [status, { description, content }]),
  );
}

/** The answers with an error, by status; any operation may have one of Holdfast's own. */
function errorResponses(faults: Readonly<Record<number, string>>, schema: z.ZodType = ERROR): object {
  return responses({ ...faults, 500: 'A fault of Holdfast; the request id is in the log.' }, schema);
}

function contentOf(schema: z.ZodType): object {
  return { 'application/json': { schema: referenceTo(schema) } };
}

function referenceTo(schema: z.ZodType): object {
  return { $ref: `${COMPONENTS}${schema.meta()!.id}` };
}

/** The schemas whose meta has an `id`, under that name, and those that they refer to. */
function namedSchemas(schemas: readonly z.ZodType[], form: z.core.ToJSONSchemaParams): object {
  const { $defs } = z.toJSONSchema(z.union(schemas), form);
  return JSON.parse(JSON.stringify($defs).replaceAll('#/$defs/', COMPONENTS));
}

const PAGING = [
  {
    name: 'limit',
    description: 'Rows in the answer; `all` sends those of all pages, in CSV only.',
    schema: { oneOf: [{ type: 'integer', minimum: 1, maximum: LIMIT_MAX }, { const: 'all' }], default: LIMIT_DEFAULT },
  },
  {
    name: 'after',
    description: 'The next_page_token of the page before, which says all other parameters too.',
    schema: { type: 'string' },
  },
];

const FORMAT = {
  name: 'format',
  description: 'As the Accept header says unless given.',
  schema: { type: 'string', enum: ['json', 'csv'], default: 'json' },
};

const BODY_FAULTS = { 413: 'The body is larger than the limit.', 415: 'The body is not JSON, or compressed.' };

const TABLE_FAULTS = {
  400: 'A parameter is wrong, unknown or given twice; the message names it.',
  404: 'No such snapshot, update or instrument, or nothing is kept of that time.',
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

const ID_EXAMPLE = '1220f3a9';

/** One operation in the document of the holdings area; these are at the root only. */
function describeTableOperation(operation: TableOperation, values: ExampleValues): object {
  const { method, table, request, answer } = operation;
  const { parameters, paged } = table === 'balances' ? { parameters: [], paged: false } : TABLES[table];
  const named = parameters.map((name) => ({ name, ...parameter(name, table as TableName) }));
  const csv = { 'text/csv': { schema: { type: 'string' } } };
  return {
    servers: [{ url: '/' }],
    parameters: [...named, ...(paged ? PAGING : []), FORMAT].map(({ name, description, schema }) => ({
      name,
      in: IN_PATH.includes(name) ? 'path' : 'query',
      required: IN_PATH.includes(name),
      description,
      schema,
      ...(IN_PATH.includes(name) && { example: name === 'party' ? values.owner : ID_EXAMPLE }),
    })),
    ...(request && describeRequest(method, request.fields, request.example(values))),
    responses: {
      200: {
        description: 'The rows; in CSV with their names in the first line and no envelope.',
        content: { ...contentOf(answer), ...csv },
      },
      ...(method === 'GET' && { 304: { description: 'The client has this answer already (If-None-Match).' } }),
      ...errorResponses({ ...TABLE_FAULTS, ...(request && BODY_FAULTS) }, OWN_ERROR),
    },
  };
}

/** The stream in the document of the holdings area; it is at the root only. */
function describeStream({ method }: OperationFacts, { owner }: ExampleValues): object {
  const { description, faults, parameters, body } = STREAM_DOCUMENT;
  const events = Object.entries(STREAM_EVENTS).map(([name, schema]) => [name, referenceTo(schema)]);
  const content = { schema: { type: 'string' }, 'x-events': Object.fromEntries(events) };
  const json = { schema: body, example: { owners: [owner], events: 'movements' } };
  return {
    servers: [{ url: '/' }],
    parameters: parameters.filter((each) => method === 'GET' || each.in === 'header'),
    ...(method === 'POST' && { requestBody: { required: true, content: { 'application/json': json } } }),
    responses: {
      200: { description, content: { 'text/event-stream': content } },
      ...errorResponses(faults, OWN_ERROR),
    },
  };
}

/** The OpenAPI documents, by their names in /openapi/; `name` is that on the page /docs. */
export const DOCUMENTS: Readonly<
  Record<
    string,
    {
      readonly name: string;
      readonly create: (version: string, example?: ExampleValues, hasDirectory?: boolean) => object;
    }
  >
> = {
  holdings: { name: 'Holdings', create: createHoldingsDocument },
  ledger: { name: 'Ledger', create: createUsersDocument },
};

const DESCRIPTION = `Totals of coin and tokens per owner at every snapshot of a ledger. Wire-compatible with the holdings operations of Splice Scan; served at the root and under /api/scan, and those of a validator's scan-proxy under its paths too. What lies under /holdfast/v1 is our own: balances over time,
the largest holders and the supply, as JSON or CSV; its paths are at the root only. Amounts are strings with exactly ten decimals. Integers of 64 bits are JSON numbers and keep all their digits: read them with a parser that does too. At most ${OWNERS_MAX_DEFAULT} owners in one request unless the service is configured otherwise.`;

/** Of fixtures/story.scan.ndjson. */
export const STORY_EXAMPLE: ExampleValues = {
  migrationId: 0,
  recordTime: '2025-02-12T00:30:00Z',
  owner: 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec',
};

/** The documents as a service on a data directory, or on PostgreSQL, serves them: the examples are of what it holds now. */
export function servedDocuments({
  version,
  areas,
  answers,
  hasDirectory = true,
}: {
  readonly version: string;
  readonly areas: readonly string[];
  readonly answers: Answers;
  readonly hasDirectory?: boolean;
}): readonly ServedDocument[] {
  return areas.map((area) => {
    const { name, create } = DOCUMENTS[area]!;
    let last: { readonly example: ExampleValues; readonly bytes: Uint8Array<ArrayBuffer> } | null = null;
    const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
      const example = area === 'holdings' ? await newestExample(answers) : STORY_EXAMPLE;
      if (!isDeepStrictEqual(last?.example, example))
        last = { example, bytes: new TextEncoder().encode(JSON.stringify(create(version, example, hasDirectory))) };
      return last!.bytes;
    };
    return { name, path: `/openapi/${area}.json`, read };
  });
}

/** The newest snapshot and its largest owner; those of the story where there is none, or it cannot be read now. */
async function newestExample(answers: Answers): Promise<ExampleValues> {
  const coin = { instrument_admin: null, instrument_id: null };
  const query = { migration_id: null, record_time: null, by: null, contains: null, ...coin, limit: 1, after: null };
  try {
    const { text } = await answers.table({ table: 'top', query }, 'json', () => undefined);
    const { migration_id, record_time, owners } = JSON.parse(text);
    return { migrationId: migration_id, recordTime: record_time, owner: owners[0]?.party_id ?? STORY_EXAMPLE.owner };
  } catch (error) {
    if (error instanceof HoldingsFault) return STORY_EXAMPLE;
    throw error;
  }
}

const HOLDINGS_GROUPS = {
  'Tables and stream': 'Our own: balances, movements, the largest holders and the supply, and what changes as it does.',
  'As of Splice Scan': 'For clients of a Scan, answered as it does.',
  'As of Splice Scan, superseded': 'Holding fees are only here.',
  Service: 'Whether it runs and is ready. `/metrics` has text for Prometheus.',
};

function holdingsGroup(operation: OperationFacts): keyof typeof HOLDINGS_GROUPS {
  if (operation.path.startsWith('/holdfast/')) return 'Tables and stream';
  if (!/^\/v[012]\//.test(operation.path)) return 'Service';
  return 'deprecated' in operation ? 'As of Splice Scan, superseded' : 'As of Splice Scan';
}

/** The document of holdings, tables, stream and the service itself, with the default limits. */
function createHoldingsDocument(version: string, example = STORY_EXAMPLE, hasDirectory = true): object {
  const ours = [...TABLE_OPERATIONS, balances];
  const kept = ours.filter(({ needsDirectory = false }) => hasDirectory || !needsDirectory);
  const answering = [...HOLDINGS_OPERATIONS, ...kept, ...SERVICE_OPERATIONS];
  const streams = [STREAM_OPERATION, STREAM_OF_MANY_OPERATION];
  const operations = [...HOLDINGS_OPERATIONS, ...kept, ...streams, ...SERVICE_OPERATIONS];
  const events = Object.values(STREAM_EVENTS).map((answer) => ({ answer }));
  const info = { title: 'Holdfast: holdings', version, description: DESCRIPTION.replaceAll('\n', ' ') };
  const parts = {
    servers: ['/', '/api/scan'],
    components: { schemas: answerSchemas([...answering, ...events]) },
    groups: HOLDINGS_GROUPS,
    groupOf: holdingsGroup,
  };
  const limits = { ownersMax: OWNERS_MAX_DEFAULT };
  return openApiDocument(info, parts, operations, (operation) => {
    if ('table' in operation) return describeTableOperation(operation, example);
    if ('handle' in operation) return describeJsonOperation(operation, limits, example);
    return describeStream(operation, example);
  });
}

const LEDGER_DESCRIPTION =
  "The ledger's users, their rights and identity providers, as the JSON Ledger API has them. Every operation but " +
  '/v2/version needs a token. What is missing in a body has the default of its type; unknown properties are ignored.';

const QUERY: Readonly<Record<QueryParameter, { readonly description: string; readonly schema: object }>> = {
  pageSize: {
    description: 'At most so many users; 0 or none: as many as the service allows.',
    schema: { type: 'integer', format: 'int32' },
  },
  pageToken: { description: 'The nextPageToken of the page before.', schema: { type: 'string' } },
  'identity-provider-id': {
    description:
      "The user's identity provider; if left out, the caller's own, for a participant admin the default one.",
    schema: { type: 'string' },
  },
};
const PATH_PARAMETERS: Readonly<Record<PathParameter, string>> = {
  'user-id': 'Id of a user.',
  'idp-id': 'Id of an identity provider.',
};

const USERS_ERROR = z
  .strictObject({
    code: z.string().meta({ description: 'Such as USER_NOT_FOUND; NA where the reason is not given.' }),
    cause: z.string(),
    correlationId: z.string().nullable(),
    traceId: z.string().nullable().meta({ description: 'The id of the request in the log.' }),
    context: z.record(z.string(), z.string()),
    resources: z.array(z.array(z.string()).length(2)).meta({ description: 'Pairs of type and name.' }),
    errorCategory: z.int(),
    grpcCodeValue: z.int().nullable(),
    retryInfo: z.string().nullable(),
    definiteAnswer: z.boolean().nullable(),
  })
  .meta({ id: 'Error' });

/** The error answers of every operation that needs a token. */
const LEDGER_FAULTS: Readonly<Record<number, string>> = {
  400: 'A bad request; plain text where it cannot be decoded at all.',
  401: 'No token that verifies.',
  403: 'Not allowed. The reason is in the log only.',
  404: 'No such user or identity provider.',
  500: 'A fault of Holdfast; the traceId is in the log.',
  503: 'The disk is full, or another program holds the database: nothing was changed, try again.',
};

/** Those of every operation with a body, besides. */
const LEDGER_BODY_FAULTS = {
  ...responses({ 409: 'It exists already, or was changed at the same time.' }, USERS_ERROR),
  413: { description: 'The body is larger than the limit, which is 64 KiB for a caller without any admin right.' },
};

const LEDGER_GROUPS = {
  Users: 'Users and their rights, and the version, which needs no token.',
  'Identity providers': 'Who may sign tokens.',
};

function ledgerGroup({ path }: OperationFacts): keyof typeof LEDGER_GROUPS {
  return path.startsWith('/v2/idps') ? 'Identity providers' : 'Users';
}

/** The OpenAPI document of the users' area, made from the schemas that validate requests. */
function createUsersDocument(version: string): object {
  const bodies = USERS_OPERATIONS.flatMap(({ body }) => body ?? []);
  const answers = [VERSION_OPERATION, ...USERS_OPERATIONS].map(({ answer }) => answer);
  const info = { title: 'Holdfast: the ledger', version, description: LEDGER_DESCRIPTION };
  const parts = {
    groups: LEDGER_GROUPS,
    groupOf: ledgerGroup,
    servers: ['/'],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: namedSchemas([...bodies, ...answers, USERS_ERROR], { io: 'input', unrepresentable: 'any' }),
    },
  };
  return openApiDocument(info, parts, [VERSION_OPERATION, ...USERS_OPERATIONS], describeUsersOperation);
}

function describeUsersOperation(operation: typeof VERSION_OPERATION | UsersOperation): object {
  const answered = responses({ 200: 'The answer.' }, operation.answer);
  if (!('service' in operation)) return { responses: answered, security: [] };
  const { path, query = [], body } = operation;
  const parameters = [...pathParameters(path), ...query.map((name) => ({ name, in: 'query', ...QUERY[name] }))];
  return {
    responses: { ...answered, ...responses(LEDGER_FAULTS, USERS_ERROR), ...(body !== null && LEDGER_BODY_FAULTS) },
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: { required: true, content: contentOf(body) } }),
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(.*?)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name as PathParameter],
    schema: { type: 'string' },
  }));
}
