import { z } from 'zod';

const amount = (description: string) =>
  z
    .string()
    .regex(/^-?(0|[1-9]\d*)\.\d{10}$/)
    .meta({ description, examples: ['23765.0066688730'] });
const time = (description: string) =>
  z
    .string()
    .meta({ format: 'date-time', description, examples: ['2025-02-14T15:00:00Z', '2024-09-20T13:31:28.40518Z'] });
const int64 = (description: string, example: number) =>
  z.unknown().meta({ type: 'integer', format: 'int64', description, examples: [example] });
const party = z
  .string()
  .max(255)
  .meta({ examples: ['alice::1220ab'] });

const snapshot = {
  record_time: time('The time of the snapshot that was used.'),
  migration_id: int64('The migration of the snapshot.', 4),
};

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

const contract = {
  contract_id: z.string(),
  template_id: z.string().meta({ examples: ['979ec710:Splice.Amulet:Amulet'] }),
  package_name: z.string().meta({ examples: ['splice-amulet'] }),
  create_arguments: z.looseObject({}).meta({ description: 'The create arguments; Decimals with ten decimals.' }),
  created_at: time('When the contract was created.'),
  signatories: z.array(party),
  observers: z.array(party),
};

const page = {
  next_page_token: z.union([int64('Give it as `after` for the next page.', 1234), z.null()]).meta({
    description: 'Null at the end.',
  }),
};

/** What the operations answer, by the names that the document gives them. Tests hold real answers against them. */
export const ANSWER_SCHEMAS = {
  HoldingsSummaryV0: z.strictObject({
    ...snapshot,
    computed_as_of_round: int64('The round that the fees are of.', 20203),
    summaries: z.array(z.strictObject({ ...totals, ...fees })),
  }),
  HoldingsSummaryV1: z.strictObject({ ...snapshot, summaries: z.array(z.strictObject(totals)) }),
  HoldingsStateV0: z.strictObject({
    ...snapshot,
    created_events: z.array(
      z.strictObject({
        event_type: z.literal('created_event'),
        event_id: z.string().meta({ description: '#<update id>:<node>' }),
        ...contract,
      }),
    ),
    ...page,
  }),
  HoldingsStateV1: z.strictObject({
    ...snapshot,
    created_events: z.array(
      z.strictObject({
        created_in_update_id: z.union([z.string(), z.null()]).meta({ description: 'Null for imports.' }),
        ...contract,
      }),
    ),
    ...page,
  }),
  SnapshotTime: z.strictObject({ record_time: time('The time of the snapshot.') }),
  ForcedSnapshot: z.strictObject(snapshot),
  LastMigration: z.strictObject({ migration_id: int64('The largest migration seen.', 4) }),
  Live: z.strictObject({}),
  Readiness: z.strictObject({
    ready: z.boolean(),
    reasons: z.array(z.string()).meta({ description: 'Why it is not ready.' }),
    degraded: z.array(z.string()).meta({ description: 'What is wrong although it may be ready.' }),
  }),
  Status: z
    .looseObject({})
    .meta({ description: 'Source, position, lag, newest snapshots, counts and the last error.' }),
  Version: z.strictObject({ version: z.string().meta({ examples: ['0.1.0'] }) }),
  Error: z.strictObject({ error: z.string().meta({ description: 'What is wrong, for people.' }) }),
} as const;

export type AnswerName = keyof typeof ANSWER_SCHEMAS;
