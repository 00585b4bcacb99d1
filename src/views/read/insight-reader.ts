import type { Database } from 'better-sqlite3';
import {
  type Change,
  type ChangesFacts,
  type ChangesLookup,
  type ListedOwnersLookup,
  NO_COIN,
  type Order,
  type OwnersChangesLookup,
  type PartyTotals,
  type StreamFactKinds,
  sameTotals,
  type TableFactKinds,
  type Totals,
} from '../../holdings/facts.ts';
import { multiplesWithin } from '../../holdings/snapshot-grid.ts';
import {
  type Account,
  type AccountReader,
  COIN_OF_MIGRATION,
  rankOwners,
  type Version,
  type VersionReader,
} from './owner-versions.ts';
import {
  BEGINNING,
  createGridReader,
  NOT_BOUNDED,
  prepareSnapshots,
  type ReadKinds,
  type SealedGrid,
  type SnapshotReader,
  type StoredSnapshot,
  snapshotOf,
  unbounded,
} from './stored-snapshots.ts';

/** Readers of the facts of tables and streams. A stream event needs a few rows per named owner. */
export function createInsightReaders(
  db: Database,
  { snapshots, accounts, versions }: { snapshots: SnapshotReader; accounts: AccountReader; versions: VersionReader },
): ReadKinds<keyof TableFactKinds | keyof StreamFactKinds> {
  const last = prepareSnapshots<[]>(db, 'WHERE no = (SELECT max(no) FROM snapshot)');
  // `? + 0`: see views/store/database.ts.
  const sealed = prepareSnapshots<[number, number, number]>(db, 'WHERE no > ? + 0 AND no <= ? + 0 ORDER BY no LIMIT ?');
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration').pluck();
  // Within a migration the numbers are in the order of the times, so this looks at the newest one, and at those sealed since.
  const lastNoBefore = db
    .prepare<[number, number], number>(
      'SELECT no FROM snapshot WHERE migration_id = ? + 0 AND no < ? ORDER BY record_time DESC LIMIT 1',
    )
    .pluck();
  const timeReached = db
    .prepare<[bigint], number | null>('SELECT time_reached FROM migration WHERE migration_id = ? + 0')
    .pluck();
  const gridOf = createGridReader(db);
  const containing = db
    .prepare<[number, string], number>(
      `SELECT id FROM account WHERE ${COIN_OF_MIGRATION} AND instr(lower(owner), ?) > 0`,
    )
    .pluck();

  function gridIn(migrationId: number): SealedGrid | null {
    const migration = snapshots.migration(BigInt(migrationId));
    return migration === null ? null : gridOf(migration);
  }

  function changesOfOwners({ migrationId, owners, ...times }: OwnersChangesLookup): readonly (readonly Change[])[] {
    const migration = snapshots.migration(BigInt(migrationId));
    const grid = migration && gridOf(migration);
    if (grid === null) return owners.map(() => []);
    const { from, to } = multiplesWithin(times, migration!.periodUs);
    const range = { from, to, order: 'asc', rows: Infinity, grid } as const;
    return owners.map((party) => {
      const account = from > to ? undefined : accounts.ofParty(migrationId, party);
      return account === undefined ? [] : readChanges(versions, account, range).changes;
    });
  }

  return {
    migration: ({ migrationId }) => snapshots.migration(migrationId),
    'listed snapshots': (lookup) => snapshots.list(lookup),
    changes: unbounded((lookup) => {
      const account = accounts.ofParty(lookup.migrationId, lookup.party);
      const grid = gridIn(lookup.migrationId);
      if (account === undefined || grid === null) return { before: NO_COIN, changes: [] };
      return readChanges(versions, account, { ...lookup, grid });
    }),
    'listed owners': unbounded((lookup) => {
      const grid = gridIn(lookup.migrationId);
      if (grid === null) return [];
      return listOwners({ accounts, versions }, lookup, { snapshot: snapshots.require(lookup), grid });
    }),
    ranking: unbounded((lookup) => rankOwners(db, snapshots.require(lookup), { accounts, versions })),
    'owners containing': unbounded(({ migrationId, text }) => containing.all(migrationId, text)),
    'numbered owners': (lookup, budget) => {
      if (lookup.owners.length > budget.rows) throw NOT_BOUNDED;
      const snapshot = snapshots.require(lookup);
      return lookup.owners.map((no) => totalsAt(versions, accounts.ofNo(no), snapshot));
    },
    'last sealed': () => snapshotOf(last.get()),
    'sealed snapshot': (place) => snapshots.find({ ...place, match: 'exact' }),
    'time passed': ({ migrationId, recordTime }) => {
      const reached = timeReached.get(migrationId);
      if (reached === undefined) return migrationId <= (snapshots.lastMigration() ?? -1);
      return reached !== null && reached > recordTime;
    },
    'sealed snapshots': ({ after, until, rows }) => sealed.all(after, until, rows).map((row) => snapshotOf(row)!),
    'sealed migrations': ({ after, before }) =>
      migrationIds.all().filter((migrationId) => (lastNoBefore.get(migrationId, before) ?? 0) > after),
    'changes of owners': changesOfOwners,
  };
}

function totalsAt(versions: VersionReader, account: Account, snapshot: StoredSnapshot): PartyTotals {
  return { party: account.party, ...(versions.at(account, snapshot)?.totals ?? NO_COIN) };
}

/** A page of the owners who had coin up to a snapshot. */
function listOwners(
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
  { migrationId, prefix, after, rows }: ListedOwnersLookup,
  { snapshot, grid }: { snapshot: StoredSnapshot; grid: SealedGrid },
): readonly PartyTotals[] {
  /** Whether a snapshot of the grid, up to this one, was sealed while the owner had coin. */
  function hadCoin(account: Account): boolean {
    /** The number of the snapshot of the grid that sealed coin, unless the owner's next version comes before it. */
    let sealing = Infinity;
    for (const version of versions.between(account, { after: BEGINNING, to: snapshot }, 'asc')) {
      if (version.seq > sealing) return true;
      sealing = version.totals.contracts > 0 ? (grid.find(version.seq)?.seq ?? Infinity) : Infinity;
    }
    return sealing <= snapshot.seq;
  }

  const listed: PartyTotals[] = [];
  for (const account of accounts.from(migrationId, after ?? prefix)) {
    const { party } = account;
    if (!party.startsWith(prefix)) break;
    if (party === after || !hadCoin(account)) continue;
    listed.push(totalsAt(versions, account, snapshot));
    if (listed.length === rows) break;
  }
  return listed;
}

/** An owner's totals from a snapshot of the grid on. */
type GridTotals = { readonly recordTime: number; readonly totals: Totals };

type ChangesRange = Pick<ChangesLookup, 'from' | 'to' | 'order' | 'rows'> & { readonly grid: SealedGrid };

export function readChanges(
  versions: Pick<VersionReader, 'at' | 'between'>,
  account: Account,
  { from, to, order, rows, grid }: ChangesRange,
): ChangesFacts {
  const after = grid.before(from);
  const before = versions.at(account, after)?.totals ?? NO_COIN;
  const inRange = versions.between(account, { after, to: grid.at(to) }, order);
  const changes = changesBetween(totalsInGrid(inRange, { grid, order, before }), order);
  return { before, changes: rows === Infinity ? [...changes] : changes.take(rows).toArray() };
}

/**
 * What is left of an interval's versions, and of those of forced snapshots in it, at the snapshot of the grid that ends it; and
 * the totals before all of them.
 */
function* totalsInGrid(
  versions: Iterable<Version>,
  { grid, order, before }: { grid: SealedGrid; order: Order; before: Totals },
): Generator<GridTotals> {
  const start = { recordTime: Number.NEGATIVE_INFINITY, totals: before };
  let held: GridTotals | null = order === 'asc' ? start : null;
  for (const { seq, totals } of versions) {
    const recordTime: number = grid.find(seq)!.time;
    if (held?.recordTime === recordTime && order === 'desc') continue;
    if (held !== null && held.recordTime !== recordTime) yield held;
    held = { recordTime, totals };
  }
  if (held !== null) yield held;
  if (order === 'desc') yield start;
}

function* changesBetween(states: Iterable<GridTotals>, order: Order): Generator<Change> {
  let last: GridTotals | null = null;
  for (const state of states) {
    const [older, newer]: (GridTotals | null)[] = order === 'asc' ? [last, state] : [state, last];
    if (older && newer && !sameTotals(older.totals, newer.totals))
      yield { recordTime: newer.recordTime, before: older.totals, after: newer.totals };
    last = state;
  }
}
