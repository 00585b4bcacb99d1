import { z } from 'zod';
import { optional, type ReadFields } from '../server/fields.ts';
import type { RequestLimits } from '../server/operation.ts';
import * as answered from './answer-fields.ts';
import { BODY_FAULTS, type HoldingsCall, holdingsOperation, NO_SNAPSHOT } from './operation.ts';
import * as requestFields from './request-fields.ts';

const request = {
  fields: (limits: RequestLimits) => ({
    ...requestFields.ownersAtSnapshot(limits),
    page_size: requestFields.pageSize,
    after: optional(requestFields.int64([1234])),
  }),
  example: { ...requestFields.OWNERS_AT_SNAPSHOT_EXAMPLE, page_size: 100 },
};

const contract = {
  contract_id: z.string(),
  template_id: z.string().meta({ examples: ['979ec710:Splice.Amulet:Amulet'] }),
  package_name: z.string().meta({ examples: ['splice-amulet'] }),
  create_arguments: z.looseObject({}).meta({ description: 'The create arguments; Decimals with ten decimals.' }),
  created_at: answered.time('When the contract was created.'),
  signatories: z.array(answered.party),
  observers: z.array(answered.party),
};

/** A page of contracts; `before` are the fields that come before those that all have. */
const page = (before: z.ZodRawShape) =>
  z.strictObject({
    ...answered.snapshot,
    created_events: z.array(z.strictObject({ ...before, ...contract })),
    next_page_token: z.union([answered.int64('Give it as `after` for the next page.', 1234), z.null()]).meta({
      description: 'Null at the end.',
    }),
  });

const faults = {
  ...BODY_FAULTS,
  ...NO_SNAPSHOT,
  503: 'The read took longer than its time limit, or too many bytes of answers wait for slow clients.',
};

/** A page may be large: it is read only while there is room for it, and sent only if there still is. */
const askForPage =
  (answer: 'state v0' | 'state v1') =>
  async (given: ReadFields<ReturnType<typeof request.fields>>, { ask, requireRoom }: HoldingsCall): Promise<string> => {
    const query = { ...requestFields.ownersQuery(given), pageSize: given.page_size, after: given.after };
    requireRoom();
    const text = await ask({ answer, query });
    requireRoom();
    return text;
  };

export const stateV0 = holdingsOperation({
  method: 'POST',
  path: '/v0/holdings/state',
  operationId: 'getHoldingsStateAt',
  summary: "The owners' coin contracts at a snapshot, page by page, as the events that created them.",
  request,
  answer: page({
    event_type: z.literal('created_event'),
    event_id: z.string().meta({ description: '#<update id>:<node>' }),
  }).meta({ id: 'HoldingsStateV0' }),
  faults,
  handle: askForPage('state v0'),
});

export const stateV1 = holdingsOperation({
  method: 'POST',
  path: '/v1/holdings/state',
  operationId: 'getHoldingsStateAtV1',
  summary: "The owners' coin contracts at a snapshot, page by page.",
  request,
  answer: page({
    created_in_update_id: z.union([z.string(), z.null()]).meta({ description: 'Null for imports.' }),
  }).meta({ id: 'HoldingsStateV1' }),
  faults,
  handle: askForPage('state v1'),
});
