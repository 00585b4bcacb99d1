import { z } from 'zod';
import { OWNERS_MAX_DEFAULT } from '../../../holdings/question.ts';
import { createRequestSchemas, type RequestSchemas } from '../requests.ts';
import { ANSWER_SCHEMAS, type AnswerName } from './answer-schemas.ts';
import { REQUEST_EXAMPLES } from './examples.ts';
import { DOCUMENTED_OPERATIONS, type DocumentedOperation } from './operations.ts';

const DESCRIPTION = `Coin totals per owner at every snapshot of a ledger. Wire-compatible with the holdings operations of Splice Scan;
served at the root and under /api/scan. Amounts are strings with exactly ten decimals. Integers of 64 bits are JSON numbers
and keep all their digits: read them with a parser that does too. At most ${OWNERS_MAX_DEFAULT} owners in one request unless the
service is configured otherwise.`;

type JsonSchema = Record<string, unknown>;

/** The OpenAPI document of the holdings area, made of the schemas that requests are judged by. */
export function createHoldingsDocument(version: string): object {
  const requests = createRequestSchemas({ ownersMax: OWNERS_MAX_DEFAULT });
  const paths: Record<string, object> = {};
  for (const operation of DOCUMENTED_OPERATIONS)
    paths[operation.path] = { [operation.method]: describeOperation(operation, requests) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast: holdings',
      version,
      description: DESCRIPTION.replaceAll('\n', ' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }, { url: '/api/scan' }],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(ANSWER_SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema, 'output')]),
      ),
    },
  };
}

function describeOperation(operation: DocumentedOperation, requests: RequestSchemas): object {
  const { operationId, summary, deprecated, body, query, answer, faults } = operation;
  const responses: Record<string, object> = { 200: response('The answer.', answer) };
  for (const [status, when] of Object.entries({ ...faults, 500: 'Our fault; the request id is in the log.' }))
    responses[status] = response(when, answer === 'Readiness' && status === '503' ? 'Readiness' : 'Error');
  return {
    operationId,
    summary,
    ...(deprecated === true ? { deprecated } : {}),
    ...(query === undefined
      ? {}
      : { parameters: parameters(jsonSchema(requests[query], 'input'), REQUEST_EXAMPLES[query]) }),
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(jsonSchema(requests[body], 'input'), REQUEST_EXAMPLES[body]) }),
    responses,
  };
}

function requestBody(schema: JsonSchema, example: object): object {
  return { required: true, content: { 'application/json': { schema, example } } };
}

function parameters(schema: JsonSchema, example: Readonly<Record<string, unknown>>): object[] {
  const required = schema.required as readonly string[];
  return Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: property,
    example: example[name],
  }));
}

function response(description: string, answer: AnswerName): object {
  const schema = { $ref: `#/components/schemas/${answer}` };
  return { description, content: { 'application/json': { schema } } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Clients must put up with fields that a later version adds.
    override: ({ jsonSchema: made }) => void delete made.additionalProperties,
  });
  return rest;
}
