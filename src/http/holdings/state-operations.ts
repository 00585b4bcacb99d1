import { z } from 'zod';
import type { Question, StateQuery } from '../../holdings/question.ts';
import { type Field, field, optional, type ReadFields } from '../server/fields.ts';
import type { ExampleValues, RequestLimits } from '../server/operation.ts';
import * as answered from './answer-fields.ts';
import { BODY_FAULTS, type HoldingsCall, holdingsOperation, NO_SNAPSHOT } from './operation.ts';
import * as requestFields from './request-fields.ts';

const requestOf = <Token>(token: Field<Token>) => ({
  fields: (limits: RequestLimits) => ({
    ...requestFields.ownersAtSnapshot(limits),
    page_size: requestFields.pageSize,
    after: optional(token),
  }),
  example: (values: ExampleValues) => ({ ...requestFields.ownersExample(values), page_size: 100 }),
});

const request = requestOf(requestFields.int64);
const opaqueToken = field(
  (given) => (typeof given === 'string' ? given : null),
  'a next_page_token of the page before, a string',
  { type: 'string' },
);

/** The versions 0 and 1, which Splice 0.9 does not have. */
const deprecated = { since: '2026-11-24', successor: '/v2/holdings/state' };

const contract = {
  contract_id: z.string(),
  template_id: z.string().meta({ examples: ['979ec710:Splice.Amulet:Amulet'] }),
  package_name: z.string().meta({ examples: ['splice-amulet'] }),
  create_arguments: z.looseObject({}).meta({ description: 'The create arguments; Decimals with ten decimals.' }),
  created_at: answered.time('When the contract was created.'),
  signatories: z.array(answered.party),
  observers: z.array(answered.party),
};

const createdIn = {
  created_in_update_id: z.union([z.string(), z.null()]).meta({ description: 'Null for imports.' }),
};

const numberToken = z.union([answered.int64('Give it as `after` for the next page.', 1234), z.null()]).meta({
  description: 'Null at the end.',
});

/** A page of contracts; `before` are the fields that come before those that all have. */
const page = <Token extends z.ZodType>(before: z.ZodRawShape, next_page_token: Token) =>
  z.strictObject({
    ...answered.snapshot,
    created_events: z.array(z.strictObject({ ...before, ...contract })),
    next_page_token,
  });

const faults = {
  ...BODY_FAULTS,
  ...NO_SNAPSHOT,
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

/** A page may be large: it is read only while there is room for it, and sent only if there still is. */
async function askForPage(question: Question, { ask, requireRoom }: HoldingsCall): Promise<string> {
  requireRoom();
  const text = await ask(question);
  requireRoom();
  return text;
}

type GivenPage<Token> = ReadFields<ReturnType<ReturnType<typeof requestOf<Token>>['fields']>>;

function stateQuery<Token>(given: GivenPage<Token>): StateQuery<Token> {
  return { ...requestFields.ownersQuery(given), pageSize: given.page_size, after: given.after };
}

export const stateV0 = holdingsOperation({
  method: 'POST',
  path: '/v0/holdings/state',
  operationId: 'getHoldingsStateAt',
  summary:
    "The owners' coin contracts at a snapshot, page by page, as the events that created them. Superseded by /v2/holdings/state.",
  deprecated,
  request,
  answer: page(
    {
      event_type: z.literal('created_event'),
      event_id: z.string().meta({ description: '#<update id>:<node>' }),
    },
    numberToken,
  ).meta({ id: 'HoldingsStateV0' }),
  faults,
  handle: (given, call) => askForPage({ answer: 'state v0', query: stateQuery(given) }, call),
});

export const stateV1 = holdingsOperation({
  method: 'POST',
  path: '/v1/holdings/state',
  operationId: 'getHoldingsStateAtV1',
  summary: "The owners' coin contracts at a snapshot, page by page. Superseded by /v2/holdings/state.",
  deprecated,
  request,
  answer: page(createdIn, numberToken).meta({ id: 'HoldingsStateV1' }),
  faults,
  handle: (given, call) => askForPage({ answer: 'state v1', query: stateQuery(given) }, call),
});

export const stateV2 = holdingsOperation({
  method: 'POST',
  path: '/v2/holdings/state',
  operationId: 'getHoldingsStateAtV2',
  summary: "The owners' coin contracts at a snapshot, page by page, with opaque tokens.",
  request: requestOf(opaqueToken),
  answer: page(
    createdIn,
    z.string().optional().meta({
      description:
        'Give it as `after` for the next page, with the same values but `page_size`. The last page has none.',
    }),
  ).meta({ id: 'HoldingsStateV2' }),
  faults,
  handle: (given, call) => askForPage({ answer: 'state v2', query: stateQuery(given) }, call),
});
