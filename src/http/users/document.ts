import { contentOf, type DocumentFacts, namedSchemas, openApiDocument, responses } from '../server/openapi.ts';
import { ERROR } from './answers.ts';
import type { UsersOperation } from './operation.ts';
import { USERS_OPERATIONS, VERSION_OPERATION } from './operations.ts';
import type { QueryParameter } from './request.ts';

const DESCRIPTION =
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
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  'user-id': 'Id of a user.',
  'idp-id': 'Id of an identity provider.',
};

/** The error answers of every operation that needs a token. */
const FAULTS: Readonly<Record<number, string>> = {
  400: 'A bad request; plain text where it cannot be decoded at all.',
  401: 'No token that verifies.',
  403: 'Not allowed. The reason is in the log only.',
  500: 'Our fault; the traceId is in the log.',
  503: 'The disk is full, or another program holds the database: nothing was changed, try again.',
};

const BODY_TOO_LARGE = {
  413: { description: 'The body is larger than the limit, which is 64 KiB for a caller without any admin right.' },
};

/** The OpenAPI document of the users' area, made from the schemas that validate requests. */
export function createUsersDocument(version: string): object {
  const bodies = USERS_OPERATIONS.flatMap(({ body }) => body ?? []);
  const answers = [VERSION_OPERATION, ...USERS_OPERATIONS].map(({ answer }) => answer);
  const facts: DocumentFacts = {
    title: 'Holdfast: the ledger',
    version,
    description: DESCRIPTION,
    servers: ['/'],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: namedSchemas([...bodies, ...answers, ERROR], { io: 'input', unrepresentable: 'any' }),
    },
  };
  return openApiDocument(facts, [VERSION_OPERATION, ...USERS_OPERATIONS], (operation) =>
    'service' in operation ? describeOperation(operation) : { ...describe(operation), security: [] },
  );
}

function describe({ answer }: typeof VERSION_OPERATION | UsersOperation) {
  return { responses: responses({ 200: 'The answer.' }, answer) };
}

function describeOperation(operation: UsersOperation): object {
  const { path, query = [], body } = operation;
  const described = describe(operation);
  const parameters = [...pathParameters(path), ...query.map((name) => ({ name, in: 'query', ...QUERY[name] }))];
  return {
    ...described,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    responses: { ...described.responses, ...responses(FAULTS, ERROR), ...(body === null ? {} : BODY_TOO_LARGE) },
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(.*?)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name!],
    schema: { type: 'string' },
  }));
}
