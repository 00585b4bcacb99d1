import type { Database } from 'better-sqlite3';
import type {
  FactKind,
  Facts,
  FollowedFacts,
  HoldingsStore,
  Lookup,
  OwnerFacts,
  OwnersFacts,
} from '../../holdings/facts.ts';
import { ExpiredSums, mayHaveExpired } from '../../holdings/summary-answer.ts';
import { lazy } from '../../lazy.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { openForReading } from '../store/database.ts';
import { type CoinRow, followedIn, unitsOf } from '../store/stored-rows.ts';
import { createBalanceReader } from './balance-reader.ts';
import { createPageReader } from './contract-page.ts';
import { createIdReader } from './id-reader.ts';
import { createInsightReaders } from './insight-reader.ts';
import { createLockReader } from './lock-reader.ts';
import { createMovementReader } from './movement-reader.ts';
import { type Account, createAccountReader, createVersionReader, NO_COINS } from './owner-versions.ts';
import { createOwnersMovementReader } from './owners-movements.ts';
import {
  createSnapshotReader,
  type ReadKinds,
  type RowBudget,
  requireUnbounded,
  type StoredSnapshot,
  takeRows,
  UNBOUNDED,
  unbounded,
} from './stored-snapshots.ts';
import { prepareTokensExist } from './update-effects.ts';

/** The views of a data directory. Readers never wait for the writer (WAL). */
export interface ViewsStore extends HoldingsStore, Disposable {}

/** Opens the views for a single reader, with a transaction for each lookup; throws a Refusal where there are none. */
export function openViewsStore(dataDir: string): ViewsStore {
  return openStore(dataDir, { rows: Infinity, isShared: false });
}

/** Rows that one question may read on the event loop for fees: a tenth of a millisecond, less than using a thread costs. */
const EVENT_LOOP_ROWS_MAX = 32;

/**
 * Opens the views for a server's event loop, where unbounded reads are refused with NOT_BOUNDED. All reads of one turn of the
 * event loop share a transaction, which ends with the turn. That saves a lock and an unlock for each request under load;
 * commits of other connections are seen from the next turn on.
 */
export function openEventLoopStore(dataDir: string): ViewsStore {
  return openStore(dataDir, { rows: EVENT_LOOP_ROWS_MAX, isShared: true });
}

function openStore(dataDir: string, { rows, isShared }: { rows: number; isShared: boolean }): ViewsStore {
  const db = openForReading(dataDir);
  const reader = createFactsReader(db);
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  /** What `db.inTransaction` would say, at a fortieth of a request's cost. */
  let inTransaction = false;
  const end = (): void => {
    inTransaction = false;
    reader.newMoment();
    if (!db.open) return;
    try {
      commit.run();
    } catch {
      // At a damaged page: what was read stays valid.
      if (db.inTransaction) db.exec('ROLLBACK');
    }
  };
  return {
    async facts(lookup) {
      if (!inTransaction) {
        begin.run();
        inTransaction = true;
        if (isShared) setImmediate(end);
      }
      try {
        return reader.read(lookup, { rows });
      } catch (error) {
        // Some of SQLite's errors end the transaction.
        ({ inTransaction } = db);
        throw error;
      } finally {
        if (!isShared) end();
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** About a kilobyte each. */
const OWNERS_CACHED_MAX = 5_000;

export type FactsReader = ReturnType<typeof createFactsReader>;

/** Facts of views.db on one connection; the caller opens the transaction. */
export function createFactsReader(db: Database) {
  const accounts = createAccountReader(db);
  const versions = createVersionReader(db);
  const lowestRound = db
    .prepare<[], bigint | null>(
      'SELECT min(number) FROM round WHERE migration_id = (SELECT max(migration_id) FROM migration)',
    )
    .pluck()
    .safeIntegers();
  const snapshots = createSnapshotReader(db);
  const readExpired = createExpiredReader(db);
  /** The owners read last, because clients poll. Sealed snapshots, and coins expired as of a round, never change: only the oldest are dropped. */
  const cachedOwners = new Map<string, OwnerFacts>();
  // The event loop, which has no statement that scans, never reads a page.
  const readPage = lazy(() => createPageReader(db, accounts));
  const readLocks = lazy(() => createLockReader(db, { accounts, versions }));
  const movements = lazy(() => createMovementReader(db, { accounts, versions, hasTokens: hasTokensNow }));
  const ownersMovements = lazy(() => createOwnersMovementReader(db, { accounts, movements: movements() }));
  const readFound = lazy(() => createIdReader(db, movements()));
  const balances = lazy(() => createBalanceReader({ accounts, versions, movements: movements() }));
  const storedFollowed = db.prepare<[], { text: string | null; isFinal: number }>(
    `SELECT followed AS text,
       followed IS NOT NULL AND EXISTS (SELECT 1 FROM migration WHERE time_reached IS NOT NULL) AS isFinal FROM setting`,
  );
  const tokensExist = prepareTokensExist(db);
  const dso = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();
  // Both are needed by nearly every request, and are the same for all within a transaction.
  let lowestOpen: bigint | null | undefined;
  let hasTokens: boolean | undefined;
  const hasTokensNow = (): boolean => (hasTokens ??= tokensExist());
  /** Null where all owners are followed. */
  let followed: ReadonlySet<string> | null | undefined;
  /** Never changes once a migration has a time: an unfinished snapshot import may restart with others. */
  let isFollowedFinal = false;

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

  function ownerAt(snapshot: StoredSnapshot, party: string, round: bigint | null, budget: RowBudget): OwnerFacts {
    const { migrationId, seq } = snapshot;
    const key = `${migrationId} ${seq} ${round} ${party}`;
    const cached = cachedOwners.get(key);
    if (cached !== undefined) return cached;
    const account = accounts.ofCoin(migrationId, party);
    const sums = account === undefined ? NO_COINS : versions.sumsOf(account, snapshot);
    const isExact = account === undefined || round === null || !mayHaveExpired(sums, round);
    const facts = { party, ...sums, expired: isExact ? null : readExpired(account, { snapshot, round }, budget) };
    if (cachedOwners.size >= OWNERS_CACHED_MAX) cachedOwners.delete(cachedOwners.keys().next().value!);
    cachedOwners.set(key, facts);
    return facts;
  }

  function owners(lookup: Lookup<'owners'>, budget: RowBudget): OwnersFacts {
    const snapshot = snapshots.find(lookup.snapshot);
    if (lookup.round === 'lowest open' && lowestOpen === undefined) lowestOpen = lowestRound.get() ?? null;
    const round = lookup.round === 'lowest open' ? (lowestOpen ?? null) : lookup.round;
    if (lookup.instrument !== undefined) requireUnbounded(budget);
    if (snapshot === null) return { snapshot, round, owners: [] };
    const found = lookup.owners.map((party) => {
      if (lookup.instrument === undefined) return ownerAt(snapshot, party, round, budget);
      const own = accounts.ofParty({ ...snapshot, ...lookup }, party);
      return { party, ...versions.sumsAt(own, snapshot), expired: null };
    });
    return { snapshot, round, owners: found };
  }

  const readers: ReadKinds<FactKind> = {
    snapshot: ({ snapshot }) => snapshots.find(snapshot),
    'snapshot after': (lookup) => snapshots.after(lookup),
    'newest snapshots': () => snapshots.newest(),
    snapshots: unbounded(() => snapshots.all()),
    'last migration': () => snapshots.lastMigration(),
    dso: () => dso.get() ?? null,
    followed: ({ parties }) => readFollowed(parties),
    owners,
    page: unbounded((lookup) => {
      const snapshot = snapshots.find(lookup.snapshot);
      return snapshot === null ? { found: 'no snapshot' } : readPage()(snapshot, lookup);
    }),
    ...createInsightReaders(db, { snapshots, accounts, versions }),
    'update history': ({ migrationId }) => movements().history(migrationId),
    movements: unbounded((lookup) => movements().movements(lookup)),
    'last update': () => ownersMovements().lastUpdateNo(),
    'moved owners': ({ after, until }) => ownersMovements().moved(after, until),
    'movements of owners': (lookup, budget) => ownersMovements().ofOwners(lookup, budget),
    'movement place': (name, budget) => ownersMovements().place(name, budget),
    found: unbounded(({ id }) => readFound()(id)),
    balance: (lookup, budget) => balances().balance(lookup, budget),
    balances: unbounded((lookup) => balances().balances(lookup)),
    statement: unbounded((lookup) => balances().statement(lookup)),
    locks: (lookup, budget) => readLocks()(snapshots.require(lookup), lookup, budget),
  };

  return {
    read: <K extends FactKind>(lookup: Lookup<K>, budget: RowBudget = UNBOUNDED): Facts<K> =>
      readers[lookup.kind](lookup, budget),
    /** Called between two transactions: drops what may have changed. */
    newMoment(): void {
      lowestOpen = undefined;
      hasTokens = undefined;
      if (!isFollowedFinal) followed = undefined;
    },
  };
}

/** Reads the sums of an owner's coins that have expired as of a round. Takes rows and epochs from the budget. Throws NOT_BOUNDED. */
function createExpiredReader(db: Database) {
  // By the keys of their indexes, so all rows that are read are counted, whether their coins have expired or not.
  const held = db
    .prepare<[number, number, number, bigint], [no: number, isExpired: number]>(
      `SELECT no, created_seq <= ? AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = h.no)
       FROM held h WHERE epoch = ? AND account = ? AND expiry <= ?`,
    )
    .raw();
  const spent = db
    .prepare<[number, bigint, number, number, number], [no: number, isExpired: number | null]>(
      `SELECT no, created_seq <= ? AND expiry <= ? FROM spent WHERE epoch = ? AND account = ? AND archived_seq > ?`,
    )
    .raw();
  const holding = db
    .prepare<[number], Pick<CoinRow, 'locked' | 'amount' | 'rate' | 'round'>>(
      'SELECT locked, amount, rate, round FROM holding WHERE no = ?',
    )
    .safeIntegers();

  return (
    { no: account, epochs }: Account,
    { snapshot: { seq, epoch: last }, round }: { snapshot: StoredSnapshot; round: bigint },
    budget: RowBudget,
  ): NonNullable<OwnerFacts['expired']> => {
    const nos: number[] = [];
    function* rows(): Generator<[no: number, isExpired: number | null]> {
      for (const epoch of epochsUp(epochs, 0, last)) {
        takeRows(budget);
        yield* held.iterate(seq, epoch, account, round);
      }
      for (const epoch of epochsUp(epochs, last)) {
        takeRows(budget);
        yield* spent.iterate(seq, round, epoch, account, seq);
      }
    }
    // What throws within the loop ends its statement: one that stays open would keep the transaction open, too.
    for (const [no, isExpired] of rows()) {
      takeRows(budget);
      if (isExpired === 1) nos.push(no);
    }
    const sums = { unlocked: new ExpiredSums(), locked: new ExpiredSums() };
    for (const no of nos) {
      const row = holding.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      const side = row.locked === 1n ? sums.locked : sums.unlocked;
      side.add({ amount: unitsOf(row.amount), rate: unitsOf(row.rate), round: row.round });
    }
    return sums;
  };
}
