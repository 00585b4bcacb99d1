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
  type SnapshotPlace,
  type StreamFactKinds,
  sameTotals,
  type TableFactKinds,
  type Totals,
} from '../../holdings/facts.ts';
import { multiplesWithin } from '../../holdings/snapshot-grid.ts';
import { createInstrumentReader, wasHeld } from './instrument-reader.ts';
import {
  type Account,
  type AccountReader,
  OF_INSTRUMENT,
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
  type RowBudget,
  requireUnbounded,
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
  const instruments = createInstrumentReader(db, { accounts, versions });
  const containing = db
    .prepare<[number | null, number, string], number>(
      `SELECT id FROM account WHERE ${OF_INSTRUMENT} AND instr(lower(owner), ?) > 0`,
    )
    .pluck();

  function gridIn(migrationId: number): SealedGrid | null {
    const migration = snapshots.migration(BigInt(migrationId));
    return migration === null ? null : gridOf(migration);
  }

  /** What is read as of a snapshot in its migration's grid; nothing where that has none. */
  function inGrid<Fact>(
    at: SnapshotPlace,
    read: (snapshot: StoredSnapshot, grid: SealedGrid) => readonly Fact[],
  ): readonly Fact[] {
    const grid = gridIn(at.migrationId);
    return grid === null ? [] : read(snapshots.require(at), grid);
  }

  function changesOfOwners(
    { migrationId, instrument, owners, ...times }: OwnersChangesLookup,
    budget: RowBudget,
  ): readonly (readonly Change[])[] {
    if (instrument !== undefined) requireUnbounded(budget);
    const migration = snapshots.migration(BigInt(migrationId));
    const grid = migration && gridOf(migration);
    if (grid === null) return owners.map(() => []);
    const { from, to } = multiplesWithin(times, migration!.periodUs);
    const range = { from, to, order: 'asc', rows: Infinity, grid } as const;
    return owners.map((party) => {
      const own = from > to ? [] : accounts.ofParty({ migrationId, instrument }, party);
      return own.length === 0 ? [] : readChanges(versions, own, range).changes;
    });
  }

  return {
    migration: ({ migrationId }) => snapshots.migration(migrationId),
    'listed snapshots': (lookup) => snapshots.list(lookup),
    changes: unbounded((lookup) => {
      const own = accounts.ofParty(lookup, lookup.party);
      const grid = gridIn(lookup.migrationId);
      if (own.length === 0 || grid === null) return { before: NO_COIN, changes: [] };
      return readChanges(versions, own, { ...lookup, grid });
    }),
    'listed owners': unbounded((lookup) =>
      inGrid(lookup, (snapshot, grid) => listOwners({ accounts, versions }, lookup, { snapshot, grid })),
    ),
    'owners containing': unbounded(({ text, ...of }) => {
      const no = accounts.noOf(of);
      return no === undefined ? [] : containing.all(no, of.migrationId, text);
    }),
    ranking: unbounded((lookup) => {
      const snapshot = snapshots.require(lookup);
      const { instrument } = lookup;
      const supply = instrument === undefined ? snapshot : instruments.supplyAt({ ...lookup, instrument }, snapshot);
      if (supply === null) throw new Error(`migration ${lookup.migrationId} has no such instrument`);
      return rankOwners(db, { snapshot, instrument, supply }, { accounts, versions });
    }),
    'numbered owners': (lookup, budget) => {
      const { instrument, owners } = lookup;
      if (owners.length > budget.rows || (instrument !== undefined && budget.rows !== Infinity)) throw NOT_BOUNDED;
      const snapshot = snapshots.require(lookup);
      return owners.map((no) => {
        const account = accounts.ofNo(no);
        const own = instrument === undefined ? [account] : accounts.ofParty(lookup, account.party);
        return { party: account.party, ...versions.totalsAt(own, snapshot) };
      });
    },
    instrument: ({ migrationId, recordTime, instrument }) => {
      if (!instruments.mayBeKept()) return 'no tokens';
      const at = recordTime === null ? BEGINNING : snapshots.require({ migrationId, recordTime });
      return instruments.supplyAt({ migrationId, instrument }, at);
    },
    instruments: unbounded((lookup) => inGrid(lookup, (...at) => instruments.list(lookup, ...at))),
    'instruments of owner': unbounded((lookup) => inGrid(lookup, (...at) => instruments.ofOwner(lookup, ...at))),
    unreadable: unbounded((lookup) => instruments.unreadable(lookup)),
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

/** A page of the owners who had coin up to a snapshot. */
function listOwners(
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
  { prefix, after, rows, ...of }: ListedOwnersLookup,
  { snapshot, grid }: { snapshot: StoredSnapshot; grid: SealedGrid },
): readonly PartyTotals[] {
  const range = { after: BEGINNING, to: snapshot };
  const listed: PartyTotals[] = [];
  for (const own of accounts.from(of, after ?? prefix)) {
    const { party } = own[0]!;
    if (!party.startsWith(prefix)) break;
    if (party === after || !wasHeld(versions.between(own, range, 'asc'), { snapshot, grid })) continue;
    listed.push({ party, ...versions.totalsAt(own, snapshot) });
    if (listed.length === rows) break;
  }
  return listed;
}

/** An owner's totals from a snapshot of the grid on. */
type GridTotals = { readonly recordTime: number; readonly totals: Totals };

type ChangesRange = Pick<ChangesLookup, 'from' | 'to' | 'order' | 'rows'> & { readonly grid: SealedGrid };

export function readChanges(
  versions: Pick<VersionReader, 'totalsAt' | 'between'>,
  own: readonly Account[],
  { from, to, order, rows, grid }: ChangesRange,
): ChangesFacts {
  const after = grid.before(from);
  const before = versions.totalsAt(own, after);
  const inRange = versions.between(own, { after, to: grid.at(to) }, order);
  const changes = changesBetween(totalsInGrid(inRange, { grid, order, before }), order);
  return { before, changes: rows === Infinity ? [...changes] : changes.take(rows).toArray() };
}

/** What is left of an interval's versions at the snapshot of the grid that ends it, and the totals before all of them. */
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
