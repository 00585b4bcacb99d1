import { z } from 'zod';
import { isPartyId, PARTY_EXPECTED } from '../../ledger/party.ts';
import { parseRequestTime } from '../../ledger/time.ts';
import { parseInt64 } from '../lossless-json.ts';

/** One snapshot of one migration; the time in microseconds. */
export interface SnapshotQuery {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
  readonly match: 'exact' | 'at_or_before';
}

export interface SummaryQuery extends SnapshotQuery {
  /** In the order asked, without duplicates. */
  readonly owners: readonly string[];
  /** Null: the lowest open round. */
  readonly asOfRound: bigint | null;
}

export interface StateQuery extends SnapshotQuery {
  readonly owners: readonly string[];
  readonly pageSize: number;
  /** The token of the page before; null for the first page. */
  readonly after: bigint | null;
}

export interface TimeQuery {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
}

const PAGE_SIZE_MAX = 1000;
const INT64_EXPECTED = 'an integer from -9223372036854775808 to 9223372036854775807';
const TIME_EXPECTED = 'an RFC 3339 date-time with Z or an offset, such as "2025-02-14T15:00:00Z"';

const int64 = (examples: readonly number[]) =>
  z
    .custom<unknown>((given) => parseInt64(given) !== null, INT64_EXPECTED)
    .meta({ type: 'integer', format: 'int64', examples })
    .transform((given) => parseInt64(given)!);

const time = (expected: string) =>
  z
    .custom<string>((given) => typeof given === 'string' && parseRequestTime(given) !== null, expected)
    .meta({ type: 'string', format: 'date-time', examples: ['2025-02-14T15:00:00Z'] })
    .transform((text) => parseRequestTime(text)!);

const recordTime = time(TIME_EXPECTED);
const queryTime = time(`${TIME_EXPECTED} (in a query a "+" is written %2B)`);

const match = z
  .enum(['exact', 'at_or_before'], { error: '"exact" or "at_or_before"' })
  .nullish()
  .meta({ default: 'exact', description: 'at_or_before takes the newest snapshot at or before record_time' });

const party = z.string({ error: PARTY_EXPECTED }).refine(isPartyId, { error: PARTY_EXPECTED });

const pageSize = z
  .custom<unknown>((given) => isPageSize(parseInt64(given)), `an integer from 1 to ${PAGE_SIZE_MAX}`)
  .meta({ type: 'integer', format: 'int32', minimum: 1, maximum: PAGE_SIZE_MAX, examples: [100] })
  .transform((given) => Number(parseInt64(given)));

function isPageSize(given: bigint | null): boolean {
  return given !== null && given >= 1n && given <= PAGE_SIZE_MAX;
}

/** Counted before anything in the list is looked at: a list of a million bad names costs no more than its length. */
function ownerPartyIds(ownersMax: number): z.ZodType<string[]> {
  const atLeast = 'a list of at least one item, each a party id';
  const atMost = `at most ${ownersMax} owners in one request`;
  return z
    .array(z.unknown(), { error: atLeast })
    .min(1, atLeast)
    .max(ownersMax, atMost)
    .meta({ items: { type: 'string', maxLength: 255 }, examples: [['alice::1220ab']] })
    .pipe(z.array(party).transform((owners) => (owners.length === 1 ? owners : [...new Set(owners)])));
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
