import { z } from 'zod';
import { optional } from '../server/fields.ts';
import * as answered from './answer-fields.ts';
import { BODY_FAULTS, holdingsOperation, NO_SNAPSHOT } from './operation.ts';
import * as requestFields from './request-fields.ts';

const totals = {
  party_id: answered.party,
  total_unlocked_coin: answered.amount('Initial amounts of the unlocked coins.'),
  total_locked_coin: answered.amount('Initial amounts of the locked coins; an expired lock is still locked.'),
  total_coin_holdings: answered.amount('Both together.'),
};

const fees = {
  accumulated_holding_fees_unlocked: answered.amount(
    'Holding fees of the unlocked coins as of the round; may be negative.',
  ),
  accumulated_holding_fees_locked: answered.amount(
    'Holding fees of the locked coins as of the round; may be negative.',
  ),
  accumulated_holding_fees_total: answered.amount('Both together.'),
  total_available_coin: answered.amount('total_unlocked_coin - accumulated_holding_fees_unlocked'),
};

export const summaryV0 = holdingsOperation({
  method: 'POST',
  path: '/v0/holdings/summary',
  operationId: 'getHoldingsSummaryAt',
  summary: 'Coin totals and holding fees of owners at a snapshot. Superseded by /v1/holdings/summary.',
  // The day of the first release.
  deprecated: { since: '2026-11-21', successor: '/v1/holdings/summary' },
  scanProxy: true,
  request: {
    fields: (limits) => ({
      ...requestFields.ownersAtSnapshot(limits),
      as_of_round: optional(requestFields.int64),
    }),
    example: requestFields.ownersExample,
  },
  answer: z
    .strictObject({
      ...answered.snapshot,
      computed_as_of_round: answered.int64('The round that the fees are of.', 20203),
      summaries: z.array(z.strictObject({ ...totals, ...fees })),
    })
    .meta({ id: 'HoldingsSummaryV0' }),
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT, 503: 'The read took longer than its time limit.' },
  handle: (given, { ask }) =>
    ask({ answer: 'summary v0', query: { ...requestFields.ownersQuery(given), asOfRound: given.as_of_round } }),
});

export const summaryV1 = holdingsOperation({
  method: 'POST',
  path: '/v1/holdings/summary',
  operationId: 'getHoldingsSummaryAtV1',
  summary: 'Coin totals of owners at a snapshot, without fees.',
  scanProxy: true,
  request: { fields: requestFields.ownersAtSnapshot, example: requestFields.ownersExample },
  answer: z
    .strictObject({ ...answered.snapshot, summaries: z.array(z.strictObject(totals)) })
    .meta({ id: 'HoldingsSummaryV1' }),
  faults: { ...BODY_FAULTS, ...NO_SNAPSHOT },
  handle: (given, { ask }) => ask({ answer: 'summary v1', query: requestFields.ownersQuery(given) }),
});
