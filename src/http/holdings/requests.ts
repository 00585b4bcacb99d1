import { z } from 'zod';
import type { SnapshotQuery, StateQuery, SummaryQuery, TimeQuery } from '../../holdings/question.ts';
import { parseInt64 } from '../../json/int64.ts';
import { isPartyId, PARTY_EXPECTED } from '../../ledger/party.ts';
import { parseRequestTime } from '../../ledger/time.ts';

const PAGE_SIZE_MAX = 1000;
const INT64_EXPECTED = 'an integer from -9223372036854775808 to 9223372036854775807';
const TIME_EXPECTED =
  'an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999, such as "2025-02-14T15:00:00Z"';

/**
 * A field that `parse` reads (null: it is no such value); `expected` is what a message says, `schema` what the document shows. One
 * function for each field, because a request is judged on the hot path.
 */
function field<Value>(parse: (given: unknown) => Value | null, expected: string, schema: object): z.ZodType<Value> {
  return z
    .unknown()
    .meta({ ...schema })
    .transform((given, context): Value => {
      const value = parse(given);
      if (value !== null) return value;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    });
}

const int64 = (examples: readonly number[]) =>
  field(parseInt64, INT64_EXPECTED, { type: 'integer', format: 'int64', examples });

const time = (expected: string) =>
  field((given) => (typeof given === 'string' ? parseRequestTime(given) : null), expected, {
    type: 'string',
    format: 'date-time',
    examples: ['2025-02-14T15:00:00Z'],
  });

const recordTime = time(TIME_EXPECTED);
const queryTime = time(`${TIME_EXPECTED} (in a query a "+" is written %2B)`);

const match = z
  .enum(['exact', 'at_or_before'], { error: '"exact" or "at_or_before"' })
  .nullish()
  .meta({ default: 'exact', description: 'at_or_before takes the newest snapshot at or before record_time' });

const pageSize = field(parsePageSize, `an integer from 1 to ${PAGE_SIZE_MAX}`, {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: PAGE_SIZE_MAX,
  examples: [100],
});

function parsePageSize(given: unknown): number | null {
  const size = parseInt64(given);
  return size !== null && size >= 1n && size <= PAGE_SIZE_MAX ? Number(size) : null;
}

/** Distinct owners, in the order asked. They are counted as sent, and before any of them is looked at. */
function ownerPartyIds(ownersMax: number): z.ZodType<readonly string[]> {
  const items = { type: 'string', maxLength: 255 };
  return z
    .unknown()
    .meta({ type: 'array', minItems: 1, maxItems: ownersMax, items, examples: [['alice::1220ab']] })
    .transform((given, context): readonly string[] => {
      const fault = ownersFault(given, ownersMax);
      if (fault === null) return distinct(given as readonly string[]);
      context.addIssue({ code: 'custom', ...fault });
      return z.NEVER;
    });
}

function ownersFault(given: unknown, ownersMax: number): { readonly message: string; readonly path?: number[] } | null {
  if (!Array.isArray(given) || given.length === 0) return { message: 'a list of at least one item, each a party id' };
  if (given.length > ownersMax) return { message: `at most ${ownersMax} owners in one request` };
  const bad = given.findIndex((party) => typeof party !== 'string' || !isPartyId(party));
  return bad < 0 ? null : { message: PARTY_EXPECTED, path: [bad] };
}

function distinct(owners: readonly string[]): readonly string[] {
  return owners.length === 1 ? owners : [...new Set(owners)];
}

export interface RequestSchemas {
  readonly summaryV0: z.ZodType<SummaryQuery>;
  readonly summaryV1: z.ZodType<SummaryQuery>;
  readonly state: z.ZodType<StateQuery>;
  readonly before: z.ZodType<TimeQuery>;
  readonly after: z.ZodType<TimeQuery>;
}

/** The schemas of every request of the area: made once, used for each request and for the OpenAPI document. */
export function createRequestSchemas({ ownersMax }: { ownersMax: number }): RequestSchemas {
  const object = { error: 'a JSON object' };
  const snapshot = {
    migration_id: int64([4]),
    record_time: recordTime,
    record_time_match: match,
    owner_party_ids: ownerPartyIds(ownersMax),
  };
  return {
    summaryV0: z.object({ ...snapshot, as_of_round: int64([20203]).nullish() }, object).transform((given) => ({
      ...snapshotQuery(given),
      owners: given.owner_party_ids,
      asOfRound: given.as_of_round ?? null,
    })),
    summaryV1: z
      .object(snapshot, object)
      .transform((given) => ({ ...snapshotQuery(given), owners: given.owner_party_ids, asOfRound: null })),
    state: z
      .object({ ...snapshot, page_size: pageSize, after: int64([1234]).nullish() }, object)
      .transform((given) => ({
        ...snapshotQuery(given),
        owners: given.owner_party_ids,
        pageSize: given.page_size,
        after: given.after ?? null,
      })),
    before: z
      .object({ before: queryTime, migration_id: int64([4]) }, object)
      .transform((given) => ({ recordTime: given.before, migrationId: given.migration_id })),
    after: z
      .object({ after: queryTime, migration_id: int64([4]) }, object)
      .transform((given) => ({ recordTime: given.after, migrationId: given.migration_id })),
  };
}

interface GivenSnapshot {
  readonly migration_id: bigint;
  readonly record_time: bigint;
  readonly record_time_match?: 'exact' | 'at_or_before' | null | undefined;
}

function snapshotQuery(given: GivenSnapshot): SnapshotQuery {
  return {
    migrationId: given.migration_id,
    recordTime: given.record_time,
    match: given.record_time_match ?? 'exact',
  };
}
