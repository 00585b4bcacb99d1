import { z } from 'zod';
import type { JsonOperation, NamedSchema, OperationFacts, RequestForm, RequestLimits } from './operation.ts';

type JsonSchema = Record<string, unknown>;

/** What a document says beside its operations. */
export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly servers: readonly string[];
  /** What every operation asks for that says nothing else. */
  readonly security?: readonly object[];
  readonly components: object;
}

/** The OpenAPI document of an area, whose operations stand in the order of their list. */
export function openApiDocument<Operation extends OperationFacts>(
  { title, version, description, servers, security, components }: DocumentFacts,
  operations: readonly Operation[],
  describe: (operation: Operation) => object,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation) };
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

/** What a fault of any of these operations answers. */
export const ERROR: NamedSchema = {
  name: 'Error',
  schema: z.strictObject({ error: z.string().meta({ description: 'What is wrong, for people.' }) }),
};

/** One operation as the document describes it. */
export function describeJsonOperation(operation: JsonOperation<never>, limits: RequestLimits): object {
  const { operationId, summary, deprecated, request, answer, alsoAnswers = {}, faults } = operation;
  return {
    operationId,
    summary,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(request === null ? {} : describeRequest(request, limits)),
    responses: {
      ...responses({ 200: 'The answer.', ...alsoAnswers }, answer),
      ...responses({ ...faults, 500: 'Our fault; the request id is in the log.' }, ERROR),
    },
  };
}

/** The schemas of all answers, each under its name. */
export function answerSchemas(operations: readonly JsonOperation<never>[]): Record<string, JsonSchema> {
  const named = [...operations.map(({ answer }) => answer), ERROR];
  return Object.fromEntries(named.map(({ name, schema }) => [name, jsonSchema(schema, { io: 'output', open: true })]));
}

function describeRequest({ in: place, schema, example }: RequestForm<unknown>, limits: RequestLimits): object {
  const made = jsonSchema(schema(limits), { io: 'input', open: true });
  if (place === 'body') return { requestBody: { required: true, content: jsonContent({ schema: made, example }) } };
  const required = made.required as readonly string[];
  const parameters = Object.entries(made.properties as Record<string, JsonSchema>).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: property,
    example: example[name],
  }));
  return { parameters };
}

function responses(whenByStatus: Readonly<Record<number, string>>, { name }: NamedSchema): Record<string, object> {
  const content = jsonContent({ schema: { $ref: `#/components/schemas/${name}` } });
  return Object.fromEntries(
    Object.entries(whenByStatus).map(([status, description]) => [status, { description, content }]),
  );
}

function jsonContent(described: object): object {
  return { 'application/json': described };
}

/** A schema as documents show it; `open` where clients must put up with fields that a later version adds. */
export function jsonSchema(
  schema: z.ZodType,
  { io, open = false }: { io: 'input' | 'output'; open?: boolean },
): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      if (open) delete made.additionalProperties;
    },
  });
  return rest;
}
