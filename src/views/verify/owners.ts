import type { Database } from 'better-sqlite3';
import { isPartyId } from '../../ledger/party.ts';
import type { ContractsSeen } from './contracts-seen.ts';
import { createEntryVerifier, ENTRY_TABLES, type VerifyEntries } from './entries.ts';
import type { SupplyFold } from './supply.ts';
import { BEFORE_ALL, differsIn, inOneMoment, snapshotName, type VerifyContext, type VerifyStep } from './types.ts';
import { compareVersions, OwnerFold, type Version } from './versions.ts';

interface OwnerRow {
  readonly id: bigint;
  readonly migrationId: bigint;
  readonly party: string;
  /** Null where the migration is missing. */
  readonly openSeq: bigint | null;
}

/**
 * Owner by owner: its rows of `held` and `spent` against their holdings, and its versions against their sums. The owners' sums
 * are added up in `supply`, interval by interval; the contracts found go into `seen`.
 */
export function* verifyOwners(
  context: VerifyContext,
  { supply, seen }: { supply: SupplyFold; seen: ContractsSeen },
): Generator<VerifyStep> {
  const { db, rowsPerStep } = context;
  const next = prepareNextOwner(db);
  const last = Number(db.prepare<[], bigint | null>('SELECT max(id) FROM owner').pluck().get());
  const verifyOwner = createOwnerVerifier(context, createEntryVerifier(context, seen), supply);
  let owner: bigint | null = BEFORE_ALL;
  while (owner !== null) {
    const from: bigint = owner;
    owner = inOneMoment(db, () => {
      let rows = 0;
      let at: bigint | null = from;
      while (at !== null && rows < rowsPerStep) {
        at = next(at);
        if (at !== null) rows += verifyOwner(at) + 1;
      }
      return at;
    });
    yield { phase: 'owners', done: owner === null ? last : Number(owner), total: last };
  }
}

/** The next owner in any of the tables; one that is missing in `owner` is a fault. */
function prepareNextOwner(db: Database): (after: bigint) => bigint | null {
  const parts = ['owner', ...ENTRY_TABLES, 'owner_total'].map((table) => {
    const column = table === 'owner' ? 'id' : 'owner';
    return `SELECT min(${column}) AS owner FROM ${table} WHERE ${column} > @after`;
  });
  const next = db
    .prepare<{ after: bigint }, bigint | null>(`SELECT min(owner) FROM (${parts.join(' UNION ALL ')})`)
    .pluck();
  return (after) => next.get({ after }) ?? null;
}

function createOwnerVerifier(
  context: VerifyContext,
  verifyEntries: VerifyEntries,
  supply: SupplyFold,
): (owner: bigint) => number {
  const { db, report } = context;
  const ownerRow = db.prepare<[bigint], OwnerRow>(
    `SELECT id, o.migration_id AS migrationId, party, open_seq AS openSeq
     FROM owner o LEFT JOIN migration m ON m.migration_id = o.migration_id WHERE id = ?`,
  );
  const versions = db.prepare<[bigint], Version>('SELECT seq, v FROM owner_total WHERE owner = ? ORDER BY seq');

  function verifyKnown({ id, migrationId, party, openSeq }: OwnerRow): number {
    if (openSeq === null) {
      const expected = `a row of migration ${migrationId}, which owner ${id} belongs to`;
      report({ table: 'migration', owner: party, snapshot: null, expected, found: 'none' });
    }
    if (!isPartyId(party)) differsIn(context, 'owner')(`a party id for owner ${id}`, party);
    const reportVersion = (seq: bigint, expected: string, found: string): void =>
      report({
        table: 'owner_total',
        owner: party,
        snapshot: snapshotName(context, migrationId, seq),
        expected: `${expected}, by its contracts in held, spent and holding`,
        found,
      });
    const fold = new OwnerFold();
    const rows = verifyEntries({ id, party, migrationId: Number(migrationId), openSeq: openSeq ?? 0n }, fold);
    const found = versions.all(id);
    if (found.length === 0) reportVersion(1n, 'a version at least for the interval of its first coin', 'none');
    for (const { seq } of found) {
      if (seq >= 1n && seq <= (openSeq ?? seq)) continue;
      reportVersion(seq, `an interval from 1 to the open one, ${openSeq}`, `a version of interval ${seq}`);
    }
    supply.add(migrationId, compareVersions(fold, found, reportVersion));
    return rows + found.length;
  }

  function verifyUnknown(id: bigint): number {
    for (const table of [...ENTRY_TABLES, 'owner_total']) {
      const rows = db.prepare<[bigint], bigint>(`SELECT count(*) FROM ${table} WHERE owner = ?`).pluck().get(id)!;
      const expected = `no row of owner ${id}, which the table owner does not have`;
      if (rows > 0n) differsIn(context, table)(expected, `${rows} rows`);
    }
    return 1;
  }

  return (owner) => {
    const row = ownerRow.get(owner);
    return row === undefined ? verifyUnknown(owner) : verifyKnown(row);
  };
}
