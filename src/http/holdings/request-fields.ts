import type { SnapshotQuery } from '../../holdings/question.ts';
import { parseInt64 } from '../../json/int64.ts';
import { isPartyId, PARTY_EXPECTED } from '../../ledger/party.ts';
import { parseRequestTime } from '../../ledger/time.ts';
import { type Field, field, optional, type ReadFields } from '../server/fields.ts';
import { HttpFault, wrongValue } from '../server/http-fault.ts';
import type { ExampleValues, RequestLimits } from '../server/operation.ts';

const PAGE_SIZE_MAX = 1000;
const INT64_EXPECTED = 'an integer from -9223372036854775808 to 9223372036854775807';
const TIME_EXPECTED =
  'an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999, such as "2025-02-14T15:00:00Z"';

export const int64 = field(parseInt64, INT64_EXPECTED, { type: 'integer', format: 'int64' });

const time = (expected: string): Field<bigint> =>
  field((given) => (typeof given === 'string' ? parseRequestTime(given) : null), expected, {
    type: 'string',
    format: 'date-time',
  });

const recordTime = time(TIME_EXPECTED);
export const queryTime = time(`${TIME_EXPECTED} (in a query a "+" is written %2B)`);

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

/** Distinct owners, in the order requested. They are counted as sent, and before any other check, in the words of Splice 0.9. */
function ownerPartyIds(ownersMax: number): Field<readonly string[]> {
  const items = { type: 'string', maxLength: 255 };
  return {
    read(given, name) {
      if (!Array.isArray(given) || given.length === 0)
        throw wrongValue(name, given, 'a list of at least one item, each a party id');
      const bad = given.findIndex((party) => typeof party !== 'string' || !isPartyId(party));
      if (bad >= 0) throw wrongValue(`${name}[${bad}]`, given[bad], PARTY_EXPECTED);
      return [...new Set<string>(given)];
    },
    limit(given) {
      if (!Array.isArray(given) || given.length <= ownersMax) return;
      const expected = `Expected 'owner_party_ids' to contain at most ${ownersMax} items`;
      throw new HttpFault(400, `${expected}, but contained ${given.length}.`);
    },
    schema: { type: 'array', minItems: 1, maxItems: ownersMax, items },
  };
}

/** The fields of every request about owners at a snapshot. */
export const ownersAtSnapshot = ({ ownersMax }: RequestLimits) => ({
  migration_id: int64,
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

type GivenOwners = ReadFields<ReturnType<typeof ownersAtSnapshot>>;

export function ownersQuery(given: GivenOwners): SnapshotQuery & { readonly owners: readonly string[] } {
  return {
    migrationId: given.migration_id,
    recordTime: given.record_time,
    match: given.record_time_match ?? 'exact',
    owners: given.owner_party_ids,
  };
}
