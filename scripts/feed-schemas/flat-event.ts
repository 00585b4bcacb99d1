import { z } from 'zod';
import { FLAT_MIGRATION_MAX } from '../../src/ledger/time.ts';
import { contractId, migrationId, nodeId, party } from './values.ts';

/** An event of the topic that `holdfast decode` writes: what `src/scale/flat-event.ts` says of each field. */
const whole = z.int().min(0);
const decimal = (digits: number): z.ZodType => z.string().regex(new RegExp(`^\\d{1,${digits}}\\.\\d{10}$`));
const int64 = z.string().regex(/^-?\d{1,19}$/);

const place = {
  m: migrationId.max(FLAT_MIGRATION_MAX).describe('migration id'),
  t: whole.nullable().describe('record time in microseconds since 1970; null for an import'),
  clk: z
    .int()
    .describe('milliseconds of a clock that goes through all migrations, each a century after the one before'),
  seq: whole.describe(
    'number of the interval since 1970, which ends with the snapshot at so many periods; 0 for imports',
  ),
};
const fingerprint = int64.describe('64 bits that are equal for equal content; 0 for a counterfeit');
const round = whole.lt(1e10);
const ofSeed = { seeded: z.literal(0).optional().describe('there where it is of a snapshot import') };

const event = <Kind extends string>(k: Kind, says: string, fields: z.ZodRawShape): z.ZodType =>
  z.strictObject({ k: z.literal(k), ...place, ...fields }).describe(says);

export const flatEvent = z.union([
  event('C', 'a coin created', {
    cid: contractId,
    owner: party,
    locked: z.union([z.literal(0), z.literal(1)]),
    amt: decimal(18).describe('initial amount'),
    rate: decimal(9).describe('holding fee of a round'),
    round,
    rr: decimal(19).describe('rate * round'),
    expires: int64.nullable().describe('the first round in which the fee has reached the amount; null for none'),
    fp: fingerprint,
    at: whole.describe('when it was created, in microseconds since 1970'),
    upd: z
      .string()
      .nullable()
      .describe('update id; null for an import, but for those of a snapshot import where it is known'),
    node: nodeId,
    tpl: z.string().describe('template id, as the feed has it'),
    extra: z.string().nullable().describe('JSON of the content that does not follow from the other fields'),
    ...ofSeed,
  }),
  event('G', 'a counterfeit created: it counts nowhere, and its archive must be recognized', {
    cid: contractId,
    fp: fingerprint,
  }),
  event('A', 'a coin or a counterfeit archived', {
    cid: contractId,
    locked: z.union([z.literal(0), z.literal(1)]).describe('by its template; it means nothing for a counterfeit'),
  }),
  event('P', 'a contract of any template archived; ignored where it is not active', { cid: contractId }),
  event('O', 'a mining round opened', { cid: contractId, round, fp: fingerprint, ...ofSeed }),
  event('X', 'a mining round archived', { cid: contractId }),
  event('M', 'an update without coin, or an import marker', {
    seeded: whole.optional().describe('of a mark its record time'),
  }),
  event('T', 'a time reached without an update', {}),
]);
