import { isDeepStrictEqual } from 'node:util';
import type { Answers } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { OWNERS_MAX_DEFAULT } from '../holdings/question.ts';
import type { ServedDocument } from './api-page.ts';
import { HOLDINGS_OPERATIONS } from './holdings-operations.ts';
import type { ExampleValues } from './json-operation.ts';
import {
  answerSchemas,
  contentOf,
  type DocumentFacts,
  describeJsonOperation,
  namedSchemas,
  openApiDocument,
  responses,
} from './openapi.ts';
import { SERVICE_OPERATIONS } from './service-operations.ts';
import { describeStream, STREAM_EVENTS, STREAM_OPERATION } from './stream-operation.ts';
import { describeTableOperation, TABLE_OPERATIONS } from './table-operations.ts';
import { ERROR as USERS_ERROR, USERS_OPERATIONS, type UsersOperation, VERSION_OPERATION } from './users-operations.ts';
import type { QueryParameter } from './users-request.ts';

interface AreaDocument {
  /** Its name on the page /docs. */
  readonly name: string;
  readonly create: (version: string, example?: ExampleValues) => object;
}

/** The OpenAPI documents, by their names in /openapi/. */
export const DOCUMENTS: Readonly<Record<string, AreaDocument>> = {
  holdings: { name: 'Holdings', create: createHoldingsDocument },
  ledger: { name: 'Ledger', create: createUsersDocument },
};

const DESCRIPTION = `Coin totals per owner at every snapshot of a ledger. Wire-compatible with the holdings operations of Splice Scan;
served at the root and under /api/scan, and those of a validator's scan-proxy under its paths too. What lies under /holdfast/v1 is our own: balances over time, the largest holders and the
supply, as JSON or CSV; its paths are at the root only. Amounts are strings with exactly ten decimals. Integers of 64 bits are JSON numbers
and keep all their digits: read them with a parser that does too. At most ${OWNERS_MAX_DEFAULT} owners in one request unless the
service is configured otherwise.`;

/** Of the ledger that `npm run demo` serves (fixtures/story.scan.ndjson). */
export const STORY_EXAMPLE: ExampleValues = {
  migrationId: 0,
  recordTime: '2025-02-12T00:30:00Z',
  owner: 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec',
};

/** The documents as a service serves them: the examples are of what it holds now. */
export function servedDocuments({
  version,
  areas,
  answers,
}: {
  readonly version: string;
  readonly areas: readonly string[];
  readonly answers: Answers;
}): readonly ServedDocument[] {
  return areas.map((area) => {
    const { name, create } = DOCUMENTS[area]!;
    let last: { readonly example: ExampleValues; readonly bytes: Uint8Array<ArrayBuffer> } | null = null;
    const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
      const example = area === 'holdings' ? await newestExample(answers) : STORY_EXAMPLE;
      if (!isDeepStrictEqual(last?.example, example))
        last = { example, bytes: new TextEncoder().encode(JSON.stringify(create(version, example))) };
      return last!.bytes;
    };
    return { name, path: `/openapi/${area}.json`, read };
  });
}

/** The newest snapshot and its largest owner; those of the story where there is none, or it cannot be read now. */
async function newestExample(answers: Answers): Promise<ExampleValues> {
  const query = { migration_id: null, record_time: null, by: null, limit: 1, after: null };
  try {
    const { text } = await answers.table({ table: 'top', query }, 'json', () => ({ client: 'the API page' }));
    const { migration_id, record_time, owners } = JSON.parse(text);
    return { migrationId: migration_id, recordTime: record_time, owner: owners[0]?.party_id ?? STORY_EXAMPLE.owner };
  } catch (error) {
    if (error instanceof HoldingsFault) return STORY_EXAMPLE;
    throw error;
  }
}

/** The document of holdings, tables, stream and the service itself, with the default limits. */
function createHoldingsDocument(version: string, example = STORY_EXAMPLE): object {
  const answering = [...HOLDINGS_OPERATIONS, ...TABLE_OPERATIONS, ...SERVICE_OPERATIONS];
  const operations = [...HOLDINGS_OPERATIONS, ...TABLE_OPERATIONS, STREAM_OPERATION, ...SERVICE_OPERATIONS];
  const events = Object.values(STREAM_EVENTS).map((answer) => ({ answer }));
  const facts = {
    title: 'Holdfast: holdings',
    version,
    description: DESCRIPTION.replaceAll('\n', ' '),
    servers: ['/', '/api/scan'],
    components: { schemas: answerSchemas([...answering, ...events]) },
  };
  const limits = { ownersMax: OWNERS_MAX_DEFAULT };
  return openApiDocument(facts, operations, (operation) => {
    if ('table' in operation) return describeTableOperation(operation, example);
    return 'answer' in operation ? describeJsonOperation(operation, limits, example) : describeStream();
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
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  'user-id': 'Id of a user.',
  'idp-id': 'Id of an identity provider.',
};

/** The error answers of every operation that needs a token. */
const LEDGER_FAULTS: Readonly<Record<number, string>> = {
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
    description: LEDGER_DESCRIPTION,
    servers: ['/'],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: namedSchemas([...bodies, ...answers, USERS_ERROR], { io: 'input', unrepresentable: 'any' }),
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
    responses: {
      ...described.responses,
      ...responses(LEDGER_FAULTS, USERS_ERROR),
      ...(body === null ? {} : BODY_TOO_LARGE),
    },
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
