import { z } from 'zod';
import type { Question, StateQuery } from '../../holdings/question.ts';
import type { RequestForm } from '../server/operation.ts';
import { int64 as answeredInt64, party, snapshot, time } from './answer-fields.ts';
import { BODY_FAULTS, type HoldingsCall, type HoldingsOperation, NO_SNAPSHOT } from './operation.ts';
import {
  int64,
  OBJECT,
  OWNERS_AT_SNAPSHOT_EXAMPLE,
  ownersAtSnapshot,
  ownersQuery,
  pageSize,
} from './request-fields.ts';

const request: RequestForm<StateQuery> = {
  in: 'body',
  schema: (limits) =>
    z
      .object({ ...ownersAtSnapshot(limits), page_size: pageSize, after: int64([1234]).nullish() }, OBJECT)
      .transform((given) => ({
        ...ownersQuery(given),
        pageSize: given.page_size,
        after: given.after ?? null,
      })),
  example: { ...OWNERS_AT_SNAPSHOT_EXAMPLE, page_size: 100 },
};

const contract = {
  contract_id: z.string(),
  template_id: z.string().meta({ examples: ['979ec710:Splice.Amulet:Amulet'] }),
  package_name: z.string().meta({ examples: ['splice-amulet'] }),
  create_arguments: z.looseObject({}).meta({ description: 'The create arguments; Decimals with ten decimals.' }),
  created_at: time('When the contract was created.'),
  signatories: z.array(party),
  observers: z.array(party),
};

/** A page of contracts, each with what goes before the fields that all have. */
const page = (before: z.ZodRawShape) =>
  z.strictObject({
    ...snapshot,
    created_events: z.array(z.strictObject({ ...before, ...contract })),
    next_page_token: z.union([answeredInt64('Give it as `after` for the next page.', 1234), z.null()]).meta({
      description: 'Null at the end.',
    }),
  });

const faults = {
  ...BODY_FAULTS,
  ...NO_SNAPSHOT,
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

/** A page may be large. It is made only where there is room, and sent only where there still is. */
async function askForPage({ ask, requireRoom }: HoldingsCall, question: Question): Promise<string> {
  requireRoom();
  const text = await ask(question);
  requireRoom();
  return text;
}

export const stateV0: HoldingsOperation<StateQuery> = {
  method: 'POST',
  path: '/v0/holdings/state',
  operationId: 'getHoldingsStateAt',
  summary: "The owners' coin contracts at a snapshot, page by page, as the events that created them.",
  request,
  answer: {
    name: 'HoldingsStateV0',
    schema: page({
      event_type: z.literal('created_event'),
      event_id: z.string().meta({ description: '#<update id>:<node>' }),
    }),
  },
  faults,
  handle: (query, call) => askForPage(call, { answer: 'state v0', query }),
};

export const stateV1: HoldingsOperation<StateQuery> = {
  method: 'POST',
  path: '/v1/holdings/state',
  operationId: 'getHoldingsStateAtV1',
  summary: "The owners' coin contracts at a snapshot, page by page.",
  request,
  answer: {
    name: 'HoldingsStateV1',
    schema: page({
      created_in_update_id: z.union([z.string(), z.null()]).meta({ description: 'Null for imports.' }),
    }),
  },
  faults,
  handle: (query, call) => askForPage(call, { answer: 'state v1', query }),
};
