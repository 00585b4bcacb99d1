import { z } from 'zod';
import type { SummaryQuery } from '../../holdings/question.ts';
import { amount, int64 as answeredInt64, party, snapshot } from './answer-fields.ts';
import { BODY_FAULTS, type HoldingsOperation, NO_SNAPSHOT } from './operation.ts';
import { int64, OBJECT, OWNERS_AT_SNAPSHOT_EXAMPLE, ownersAtSnapshot, ownersQuery } from './request-fields.ts';

const totals = {
  party_id: party,
  total_unlocked_coin: amount('Initial amounts of the unlocked coins.'),
  total_locked_coin: amount('Initial amounts of the locked coins; an expired lock is still locked.'),
  total_coin_holdings: amount('Both together.'),
};

const fees = {
  accumulated_holding_fees_unlocked: amount('Holding fees of the unlocked coins as of the round; may be negative.'),
  accumulated_holding_fees_locked: amount('Holding fees of the locked coins as of the round; may be negative.'),
  accumulated_holding_fees_total: amount('Both together.'),
  total_available_coin: amount('total_unlocked_coin - accumulated_holding_fees_unlocked'),
};

export const summaryV0: HoldingsOperation<SummaryQuery> = {
  method: 'POST',
  path: '/v0/holdings/summary',
  operationId: 'getHoldingsSummaryAt',
  summary: 'Coin totals and holding fees of owners at a snapshot. Superseded by /v1/holdings/summary.',
  // The day of the first release.
  deprecated: { since: '2026-11-21', successor: '/v1/holdings/summary' },
  request: {
    in: 'body',
    schema: (limits) =>
      z
        .object({ ...ownersAtSnapshot(limits), as_of_round: int64([20203]).nullish() }, OBJECT)
        .transform((given) => ({ ...ownersQuery(given), asOfRound: given.as_of_round ?? null })),
    example: { ...OWNERS_AT_SNAPSHOT_EXAMPLE, as_of_round: 104 },
  },
  answer: {
    name: 'HoldingsSummaryV0',
    schema: z.strictObject({
      ...snapshot,
      computed_as_of_round: answeredInt64('The round that the fees are of.', 20203),
      summaries: z.array(z.strictObject({ ...totals, ...fees })),
    }),
  },
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, 503: 'The read took longer than its time limit.' },
  handle: (query, { ask }) => ask({ answer: 'summary v0', query }),
};

export const summaryV1: HoldingsOperation<SummaryQuery> = {
  method: 'POST',
  path: '/v1/holdings/summary',
  operationId: 'getHoldingsSummaryAtV1',
  summary: 'Coin totals of owners at a snapshot, without fees.',
  request: {
    in: 'body',
    schema: (limits) =>
      z.object(ownersAtSnapshot(limits), OBJECT).transform((given) => ({ ...ownersQuery(given), asOfRound: null })),
    example: OWNERS_AT_SNAPSHOT_EXAMPLE,
  },
  answer: {
    name: 'HoldingsSummaryV1',
    schema: z.strictObject({ ...snapshot, summaries: z.array(z.strictObject(totals)) }),
  },
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT },
  handle: (query, { ask }) => ask({ answer: 'summary v1', query }),
};
