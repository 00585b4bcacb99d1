import type { Database } from 'better-sqlite3';
import type { FactKind, Facts, FollowedFacts, Lookup, OwnersFacts } from '../../holdings/facts.ts';
import { mayHaveExpired } from '../../holdings/fees.ts';
import { followedIn } from '../store/columns.ts';
import { decodeVersion, NO_SUMS } from '../store/totals.ts';
import { type ReadKinds, type RowBudget, requireUnbounded } from './budget.ts';
import { createExpiredReader } from './expired.ts';
import { createInsightReaders } from './insight-facts.ts';
import { rememberOwners } from './known-owners.ts';
import { createPageReader, type ReadPage } from './page.ts';
import { createSnapshotReader } from './snapshots.ts';

/** Facts of views.db on one connection; the caller opens the transaction. */
export interface FactsReader {
  /** Throws NOT_BOUNDED. */
  read<K extends FactKind>(lookup: Lookup<K>, budget?: RowBudget): Facts<K>;
  /** Called between two transactions: drops what may have changed. */
  newMoment(): void;
}

export function createFactsReader(db: Database): FactsReader {
  const version = db.prepare<[number, string, number], { owner: number; v: Buffer }>(
    `SELECT owner, v FROM owner_total
     WHERE owner = (SELECT id FROM owner WHERE migration_id = ? AND party = ?) AND seq <= ? ORDER BY seq DESC LIMIT 1`,
  );
  const lowestRound = db
    .prepare<[], bigint | null>(
      'SELECT min(number) FROM round WHERE migration_id = (SELECT max(migration_id) FROM migration)',
    )
    .pluck()
    .safeIntegers();
  const snapshots = createSnapshotReader(db);
  const readExpired = createExpiredReader(db);
  /** Made when first needed: the event loop, which has no statement that scans, never reads a page. */
  let readPage: ReadPage | undefined;
  const storedFollowed = db.prepare<[], { text: string | null; isFinal: number }>(
    `SELECT followed AS text,
       followed IS NOT NULL AND EXISTS (SELECT 1 FROM migration WHERE time_reached IS NOT NULL) AS isFinal FROM setting`,
  );
  const dso = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();
  // Both are needed by nearly every request, and are the same for all within a transaction.
  let lowestOpen: bigint | null | undefined;
  /** Null where all owners are followed. */
  let followed: ReadonlySet<string> | null | undefined;
  /** Who is followed never changes once a migration has a time: half a seed may begin anew with others. */
  let isFollowedFinal = false;

  function lowestOpenRound(): bigint | null {
    if (lowestOpen === undefined) lowestOpen = lowestRound.get() ?? null;
    return lowestOpen;
  }

  /** Says of parties whether their coins count. */
  function readFollowed(parties: readonly string[]): FollowedFacts {
    if (followed === undefined) {
      const { text, isFinal } = storedFollowed.get() ?? { text: null, isFinal: 0 };
      followed = followedIn(text);
      isFollowedFinal = isFinal === 1;
    }
    if (followed === null) return { isLimited: false, others: [] };
    const owners = followed;
    return { isLimited: true, others: parties.filter((party) => !owners.has(party)) };
  }

  const ownerAt = rememberOwners((snapshot, party, round, budget) => {
    const row = version.get(snapshot.migrationId, party, snapshot.seq);
    if (row === undefined) return { party, unlocked: NO_SUMS, locked: NO_SUMS, expired: null };
    const sums = decodeVersion(row.v);
    if (round === null || !mayHaveExpired(sums, round)) return { party, ...sums, expired: null };
    return { party, ...sums, expired: readExpired({ owner: row.owner, seq: snapshot.seq, round }, budget) };
  });

  function owners(lookup: Lookup<'owners'>, budget: RowBudget): OwnersFacts {
    const snapshot = snapshots.find(lookup.snapshot);
    const round = lookup.round === 'lowest open' ? lowestOpenRound() : lookup.round;
    const found = snapshot === null ? [] : lookup.owners.map((party) => ownerAt(snapshot, party, round, budget));
    return { snapshot, round, owners: found };
  }

  const readers: ReadKinds<FactKind> = {
    snapshot: ({ snapshot }) => snapshots.find(snapshot),
    'snapshot after': (lookup) => snapshots.after(lookup),
    'newest snapshots': () => snapshots.newest(),
    snapshots: (_, budget) => {
      requireUnbounded(budget);
      return snapshots.all();
    },
    'last migration': () => snapshots.lastMigration(),
    dso: () => dso.get() ?? null,
    followed: ({ parties }) => readFollowed(parties),
    owners,
    page: (lookup, budget) => {
      requireUnbounded(budget);
      const snapshot = snapshots.find(lookup.snapshot);
      if (snapshot === null) return { found: 'no snapshot' };
      readPage ??= createPageReader(db);
      return readPage(snapshot, lookup);
    },
    ...createInsightReaders(db, snapshots),
  };

  return {
    read: (lookup, budget = { rows: Infinity }) => readers[lookup.kind](lookup, budget),
    newMoment() {
      lowestOpen = undefined;
      if (!isFollowedFinal) followed = undefined;
    },
  };
}
