import { z } from 'zod';
import type { SnapshotQuery } from '../holdings/question.ts';
import { parseInt64 } from '../json/exact-number.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { parseRequestTime } from '../ledger/time.ts';
import { type ExampleValues, field, optional, type RequestLimits, WHOLE_MESSAGE } from './json-operation.ts';

/** Fields of answers. */
export const amount = (description: string) =>
  z
    .string()
    .regex(/^-?(0|[1-9]\d*)\.\d{10}$/)
    .meta({ description, examples: ['23765.0066688730'] });

export const time = (description: string) =>
  z
    .string()
    .meta({ format: 'date-time', description, examples: ['2025-02-14T15:00:00Z', '2024-09-20T13:31:28.40518Z'] });

export const int64 = (description: string, example: number) =>
  z.unknown().meta({ type: 'integer', format: 'int64', description, examples: [example] });

export const party = z
  .string()
  .max(255)
  .meta({ examples: ['alice::1220ab'] });

export const totals = {
  unlocked: amount('Initial amounts of the unlocked coins.'),
  locked: amount('Initial amounts of the locked coins.'),
  total: amount('Both together.'),
};

/** The snapshot that an answer is of. */
export const snapshot = {
  record_time: time('The time of the snapshot that was used.'),
  migration_id: int64('The migration of the snapshot.', 4),
};

const PAGE_SIZE_MAX = 1000;
const INT64_EXPECTED = 'an integer from -9223372036854775808 to 9223372036854775807';
const TIME_EXPECTED =
  'an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999, such as "2025-02-14T15:00:00Z"';

/** Fields of requests. */
export const givenInt64 = field(parseInt64, INT64_EXPECTED, { type: 'integer', format: 'int64' });

export const givenTime = (expected = TIME_EXPECTED) =>
  field((given) => (typeof given === 'string' ? parseRequestTime(given) : null), expected, {
    type: 'string',
    format: 'date-time',
  });

const recordTime = givenTime();
export const queryTime = givenTime(`${TIME_EXPECTED} (in a query a "+" is written %2B)`);

export const givenParty = field(
  (given) => (typeof given === 'string' && isPartyId(given) ? given : null),
  PARTY_EXPECTED,
  { type: 'string', maxLength: 255 },
);

/** Distinct items, in the order given. They are counted as sent, and before any other check. */
export function listOf<Value>(
  item: z.ZodType<Value>,
  { max, items, tooMany }: { max: number; items: string; tooMany?: (count: number) => string },
) {
  return z
    .unknown()
    .transform((given, context): readonly Value[] => {
      const wrong = (message: string, more: object = {}): never => {
        context.addIssue({ code: 'custom', message, ...more });
        return z.NEVER;
      };
      const most = tooMany === undefined ? `at least one item and at most ${max}` : 'at least one item';
      if (!Array.isArray(given) || given.length === 0) return wrong(`a list of ${most}, each ${items}`);
      if (given.length > max) {
        if (tooMany !== undefined) return wrong(tooMany(given.length), { params: WHOLE_MESSAGE });
        return wrong(`a list of at most ${max} items`);
      }
      const values = new Set<Value>();
      for (const [at, each] of given.entries()) {
        const { data, error } = item.safeParse(each);
        if (error !== undefined) return wrong(error.issues[0]!.message, { path: [at] });
        values.add(data);
      }
      return [...values];
    })
    .meta({ type: 'array', minItems: 1, maxItems: max, items: item.meta() as object });
}

const MATCHES = ['exact', 'at_or_before'] as const;
const match = optional(
  field((given) => MATCHES.find((each) => each === given) ?? null, '"exact" or "at_or_before"', {
    type: 'string',
    enum: MATCHES,
  }),
  { default: 'exact', description: 'at_or_before takes the newest snapshot at or before record_time' },
);

export const pageSize = field(parsePageSize, `an integer from 1 to ${PAGE_SIZE_MAX}`, {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: PAGE_SIZE_MAX,
});

function parsePageSize(given: unknown): number | null {
  const size = parseInt64(given);
  return size !== null && size >= 1n && size <= PAGE_SIZE_MAX ? Number(size) : null;
}

/** In the words of Splice 0.9 where there are too many. */
function ownerPartyIds(ownersMax: number) {
  const expected = `Expected 'owner_party_ids' to contain at most ${ownersMax} items`;
  return listOf(givenParty, {
    max: ownersMax,
    items: 'a party id',
    tooMany: (count) => `${expected}, but contained ${count}.`,
  });
}

/** The fields of every request about owners at a snapshot. */
export const ownersAtSnapshot = ({ ownersMax }: RequestLimits) =>
  z.object({
    migration_id: givenInt64,
    record_time: recordTime,
    record_time_match: match,
    owner_party_ids: ownerPartyIds(ownersMax),
  });

/** Such a request in the document. */
export const ownersExample = ({ migrationId, recordTime, owner }: ExampleValues) => ({
  migration_id: migrationId,
  record_time: recordTime,
  owner_party_ids: [owner],
});

export function ownersQuery(
  given: z.output<ReturnType<typeof ownersAtSnapshot>>,
): SnapshotQuery & { readonly owners: readonly string[] } {
  return {
    migrationId: given.migration_id,
    recordTime: given.record_time,
    match: given.record_time_match ?? 'exact',
    owners: given.owner_party_ids,
  };
}
