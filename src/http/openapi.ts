import { z } from 'zod';
import {
  type ExampleValues,
  type JsonOperation,
  type OperationFacts,
  type RequestLimits,
  scanProxyPath,
} from './json-operation.ts';

const COMPONENTS = '#/components/schemas/';

/** Clients must accept fields that a later version adds. */
const open: z.core.ToJSONSchemaParams['override'] = ({ jsonSchema }) => void delete jsonSchema.additionalProperties;
const ANSWERED = { io: 'output', unrepresentable: 'any', override: open } as const;

/** The parts of a document besides its operations. */
export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly servers: readonly string[];
  /** The security of every operation that declares none. */
  readonly security?: readonly object[];
  readonly components: object;
}

/** The OpenAPI document of an area, with its operations in the order of their list. */
export function openApiDocument<Operation extends OperationFacts>(
  { title, version, description, servers, security, components }: DocumentFacts,
  operations: readonly Operation[],
  describe: (operation: Operation) => object,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { path, method, operationId, summary } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId, summary, ...describe(operation) } };
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version, description, license },
    servers: servers.map((url) => ({ url })),
    ...(security === undefined ? {} : { security }),
    paths,
    components,
  };
}

/** The error answers of any of these operations. */
export const ERROR = z
  .strictObject({ error: z.string().meta({ description: 'What is wrong, for people.' }) })
  .meta({ id: 'Error' });

/** One operation in the document. */
export function describeJsonOperation(
  operation: JsonOperation<never>,
  limits: RequestLimits,
  values: ExampleValues,
): object {
  const { method, path, deprecated, scanProxy, request, answer, alsoAnswers = {}, faults = {} } = operation;
  return {
    ...(scanProxy === undefined ? {} : { description: `Also at ${scanProxyPath(path)}, as a validator serves it.` }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(request === undefined ? {} : describeRequest(method, request.fields(limits), request.example(values))),
    responses: {
      ...responses({ 200: 'The answer.', ...alsoAnswers }, answer),
      ...errorResponses(faults),
    },
  };
}

/** The schemas of all answers, each under its name. */
export function answerSchemas(operations: readonly Pick<JsonOperation<never>, 'answer'>[]): object {
  return namedSchemas([...operations.map(({ answer }) => answer), ERROR], ANSWERED);
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
export function responses(whenByStatus: Readonly<Record<number, string>>, schema: z.ZodType): object {
  const content = contentOf(schema);
  return Object.fromEntries(
    Object.entries(whenByStatus).map(([status, description]) => [status, { description, content }]),
  );
}

/** The answers with an error, by status; any operation may have a fault of ours. */
export function errorResponses(faults: Readonly<Record<number, string>>): object {
  return responses({ ...faults, 500: 'Our fault; the request id is in the log.' }, ERROR);
}

/** JSON of a named schema. */
export function contentOf(schema: z.ZodType): object {
  return { 'application/json': { schema: referenceTo(schema) } };
}

/** A reference to a named schema. */
export function referenceTo(schema: z.ZodType): object {
  return { $ref: `${COMPONENTS}${schema.meta()!.id}` };
}

/** The schemas whose meta has an `id`, under that name, and those that they refer to. */
export function namedSchemas(schemas: readonly z.ZodType[], form: z.core.ToJSONSchemaParams): object {
  const { $defs } = z.toJSONSchema(z.union(schemas), form);
  return JSON.parse(JSON.stringify($defs).replaceAll('#/$defs/', COMPONENTS));
}
