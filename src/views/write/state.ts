import type { Database } from 'better-sqlite3';
import { idText, type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import type { Entity } from '../../ledger/templates.ts';
import type { Micros } from '../../ledger/time.ts';
import { followedIn, parseColumn } from '../store/stored-rows.ts';
import type { Epochs, StoredInterval } from './epochs.ts';
import { type LaneState, loadLanes } from './positions.ts';

/** The updates applied of one synchronizer: since when, and how far. */
export interface SynchronizerState {
  readonly no: number;
  /** The record time of the first one: an earlier one is disorder. */
  readonly firstTime: Micros;
  readonly recordTime: Micros;
  /** All updates applied at that time. */
  readonly updates: LastUpdates;
  /** How many were ever applied at the time of the one before them. */
  readonly repairs: number;
  /** Known from files, and not yet seen in the source that continues after them. */
  unseen: boolean;
  changed: boolean;
}

/** A migration's clock, open interval and supply (docs/rules.md, time and order). */
export interface MigrationState {
  readonly migrationId: number;
  openSeq: number;
  stored: StoredInterval;
  /** The instrument that is its coin; null before the first. */
  coin: number | null;
  /** The interval that the newest snapshot on the grid ended; 0 before the first. Forced ones may have come since. */
  gridSeq: number;
  /** The time of the newest snapshot, forced ones included; null before the first. */
  sealedAt: Micros | null;
  /** The record time reached; null until an import marker, or an update that is no import. */
  timeReached: Micros | null;
  /** The largest record time of an update applied: that of a forced snapshot. */
  updateTime: Micros | null;
  /** The next grid time to seal. */
  nextGrid: Micros | null;
  /** The time of its snapshot import, UNFINISHED_IMPORT while its marker has not come; null where it began with updates. */
  importedAt: Micros | null;
  /** Up to when the import has the updates of a synchronizer, where that is not `importedAt`. */
  importTimes: Readonly<Record<string, Micros>>;
  /** The offset of its participant; null where its source has none. */
  importOffset: number | null;
  /** From when on its updates are in `ledger_update`; null: all are. */
  readonly movementsSince: Micros | null;
  contracts: number;
  owners: number;
  unlocked: bigint;
  locked: bigint;
  readonly synchronizers: Map<string, SynchronizerState>;
}

/** Of a migration with a snapshot import whose marker has not come: nothing of it may be served. */
export const UNFINISHED_IMPORT: Micros = -1;

/** All that the writer keeps in memory besides its caches. Every part is stored in the transaction that changes it. */
export interface WriterState {
  readonly migrations: Map<number, MigrationState>;
  readonly lanes: Map<string, LaneState>;
  /** What the resume tokens of the source that resumes belong to; null before there is one. */
  feed: string | null;
  /** The owners whose coins count; null: all. */
  followed: ReadonlySet<string> | null;
  dso: string | null;
  /** Whether an operator or the source's network named the DSO; otherwise it is the first seen. */
  dsoPinned: boolean;
  sourceMigrationId: number | null;
  nextNo: number;
  nextAccount: number;
  nextUpdateNo: number;
  nextSynchronizer: number;
}

interface MigrationRow
  extends Omit<MigrationState, 'stored' | 'unlocked' | 'locked' | 'synchronizers' | 'importTimes'> {
  readonly openEpoch: number;
  readonly importTimes: string;
  unlocked: string;
  locked: string;
}

interface SynchronizerRow extends Pick<SynchronizerState, 'no' | 'firstTime' | 'recordTime' | 'repairs'> {
  readonly migrationId: number;
  readonly name: string;
  readonly updates: number;
  readonly unseen: number;
}

export function loadState(db: Database): WriterState {
  const setting = db
    .prepare<
      [],
      Omit<WriterState, 'dsoPinned' | 'followed' | 'migrations' | 'lanes'> & {
        readonly dsoPinned: number;
        readonly followed: string | null;
      }
    >(
      `SELECT dso, dso_pinned AS dsoPinned, feed, followed, source_migration_id AS sourceMigrationId,
         next_no AS nextNo, next_account AS nextAccount, next_update_no AS nextUpdateNo,
         (SELECT coalesce(max(no), 0) + 1 FROM synchronizer) AS nextSynchronizer FROM setting`,
    )
    .get();
  if (setting === undefined) throw new Error('views.db has no settings row');
  const dsoPinned = setting.dsoPinned === 1;
  const followed = followedIn(setting.followed);
  return { ...setting, dsoPinned, followed, migrations: loadMigrations(db), lanes: loadLanes(db) };
}

function loadMigrations(db: Database): Map<number, MigrationState> {
  const migrations = new Map<number, MigrationState>();
  const rows = db.prepare<[], MigrationRow>(
    `SELECT m.migration_id AS migrationId, open_seq AS openSeq, open_epoch AS openEpoch, coin, time_reached AS timeReached,
       update_time AS updateTime, next_grid AS nextGrid, seeded_at AS importedAt, seed_times AS importTimes, seed_offset AS importOffset,
       movements_since AS movementsSince,
       coalesce(contracts, 0) AS contracts, coalesce(owners, 0) AS owners,
       coalesce(unlocked, '0') AS unlocked, coalesce(locked, '0') AS locked,
       coalesce((SELECT seq FROM snapshot s WHERE s.migration_id = m.migration_id AND forced = 0
                 ORDER BY record_time DESC LIMIT 1), 0) AS gridSeq,
       (SELECT max(record_time) FROM snapshot s WHERE s.migration_id = m.migration_id) AS sealedAt
     FROM migration m LEFT JOIN supply ON instrument = coin AND seq = (SELECT max(seq) FROM supply WHERE instrument = coin)
     ORDER BY m.migration_id`,
  );
  for (const { openEpoch, ...row } of rows.all()) {
    const supply = {
      unlocked: parseColumn('supply.unlocked', row.unlocked, BigInt),
      locked: parseColumn('supply.locked', row.locked, BigInt),
    };
    const stored = { openSeq: row.openSeq, openEpoch };
    const importTimes = parseColumn<Record<string, Micros>>('migration.seed_times', row.importTimes, JSON.parse);
    migrations.set(row.migrationId, { ...row, ...supply, stored, importTimes, synchronizers: new Map() });
  }
  const synchronizers = db.prepare<[], SynchronizerRow>(
    `SELECT migration_id AS migrationId, synchronizer_id AS name, no, first_time AS firstTime, record_time AS recordTime,
       updates, repairs, unseen FROM synchronizer`,
  );
  const lastUpdatesOf = prepareLastUpdates(db);
  for (const { migrationId, name, updates: count, unseen, ...row } of synchronizers.all()) {
    const updates = new LastUpdates([], { rows: lastUpdatesOf(migrationId, name), count });
    const state = { ...row, updates, unseen: unseen === 1, changed: false };
    migrations.get(migrationId)?.synchronizers.set(name, state);
  }
  return migrations;
}

export function newMigration(migrationId: number): MigrationState {
  return {
    migrationId,
    openSeq: 1,
    stored: { openSeq: 0, openEpoch: 0 },
    coin: null,
    gridSeq: 0,
    sealedAt: null,
    timeReached: null,
    updateTime: null,
    nextGrid: null,
    importedAt: null,
    importTimes: {},
    importOffset: null,
    movementsSince: null,
    contracts: 0,
    owners: 0,
    unlocked: 0n,
    locked: 0n,
    synchronizers: new Map(),
  };
}

/** Writes the state back, except for the positions; called inside the batch's transaction. */
export function createStateSaver(
  db: Database,
  loaded: WriterState,
  epochs: Pick<Epochs, 'ofInterval'>,
): (state: WriterState) => void {
  const setting = db.prepare(
    `UPDATE setting SET dso = ?, dso_pinned = ?, source_migration_id = ?, next_no = ?, next_account = ?, next_update_no = ?,
       feed = ?`,
  );
  const followed = db.prepare('UPDATE setting SET followed = ?');
  const migration = db.prepare(
    `INSERT INTO migration VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
     ON CONFLICT DO UPDATE SET open_seq = excluded.open_seq, open_epoch = excluded.open_epoch, coin = excluded.coin,
       time_reached = excluded.time_reached, update_time = excluded.update_time, next_grid = excluded.next_grid,
       seeded_at = excluded.seeded_at, seed_times = excluded.seed_times, seed_offset = excluded.seed_offset`,
  );
  const synchronizer = db.prepare('INSERT OR REPLACE INTO synchronizer VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const lastUpdatesOf = prepareLastUpdates(db);
  let written = loaded.followed;
  return (state) => {
    const { dso, sourceMigrationId, nextNo, nextAccount, nextUpdateNo, feed } = state;
    setting.run(dso, state.dsoPinned ? 1 : 0, sourceMigrationId, nextNo, nextAccount, nextUpdateNo, feed);
    // There may be a million of them.
    if (state.followed !== written) followed.run(state.followed && JSON.stringify([...state.followed]));
    written = state.followed;
    for (const m of state.migrations.values()) {
      m.stored = { openSeq: m.openSeq, openEpoch: epochs.ofInterval(m, m.openSeq) };
      const times = [
        m.timeReached,
        m.updateTime,
        m.nextGrid,
        m.importedAt,
        JSON.stringify(m.importTimes),
        m.importOffset,
      ];
      migration.run([m.migrationId, m.openSeq, m.stored.openEpoch, m.coin, ...times]);
      for (const [name, last] of m.synchronizers) {
        if (!last.changed) continue;
        const { no, firstTime, recordTime, updates, repairs } = last;
        const unseen = last.unseen ? 1 : 0;
        synchronizer.run(m.migrationId, name, no, firstTime, recordTime, updates.count, repairs, unseen);
        last.updates.save(lastUpdatesOf(m.migrationId, name));
        last.changed = false;
      }
    }
  };
}

/** The rows of `last_update` of one synchronizer. */
type StoredUpdates = ReturnType<ReturnType<typeof prepareLastUpdates>>;

/**
 * The updates applied at the last time of one synchronizer, to tell a redelivery from another update of that time
 * (docs/rules.md, rule 1). Usually there is one. But repairs have the record time of the update before them, and there may be
 * any number of them: those of earlier batches stay on disk.
 */
export class LastUpdates {
  /** The ids of this batch. */
  readonly #added: Set<string>;
  /** The ids on disk; null where they are of an earlier time, or there are none. */
  #stored: { readonly rows: StoredUpdates; readonly count: number } | null;

  constructor(added: string[], stored: { rows: StoredUpdates; count: number } | null = null) {
    this.#added = new Set(added);
    this.#stored = stored;
  }

  get count(): number {
    return this.#added.size + (this.#stored?.count ?? 0);
  }

  has(updateId: string): boolean {
    return this.#added.has(updateId) || (this.#stored?.rows.has(updateId) ?? false);
  }

  /** One of them, for a message. */
  get any(): string {
    return this.#added.values().next().value ?? this.#stored!.rows.any();
  }

  add(updateId: string): void {
    this.#added.add(updateId);
  }

  /** Writes those of this batch; called inside its transaction. */
  save(rows: StoredUpdates): void {
    const { count } = this;
    if (this.#stored === null) rows.clear();
    rows.add(this.#added);
    this.#stored = { rows, count };
    this.#added.clear();
  }
}

/** Returns the function that gives the rows of one synchronizer. */
function prepareLastUpdates(db: Database) {
  const ofSynchronizer = 'FROM last_update WHERE migration_id = ? AND synchronizer_id = ?';
  const has = db.prepare<[number, string, StoredId], number>(`SELECT 1 ${ofSynchronizer} AND update_id = ?`).pluck();
  const any = db.prepare<[number, string], StoredId>(`SELECT update_id ${ofSynchronizer} LIMIT 1`).pluck();
  const forget = db.prepare(`DELETE ${ofSynchronizer}`);
  const insert = db.prepare('INSERT INTO last_update VALUES (?, ?, ?)');
  return (migrationId: number, synchronizerId: string) => ({
    has: (updateId: string): boolean => has.get(migrationId, synchronizerId, storedId(updateId)) === 1,
    any: (): string => idText(any.get(migrationId, synchronizerId) ?? ''),
    clear: () => forget.run(migrationId, synchronizerId),
    add(updateIds: Iterable<string>): void {
      for (const id of updateIds) insert.run(migrationId, synchronizerId, storedId(id));
    },
  });
}

/** Counts since the process started, for /status and the summary line of a replay. */
export interface Counts {
  /** Updates applied: transactions, reassignments, imports. */
  updates: number;
  /** Creates and archives of coins and rounds applied. */
  events: number;
  /** The same by what they are: `create Amulet`; an archive may name no template. */
  eventsByKind: Record<`${'create' | 'archive'} ${Entity}` | 'archive', number>;
  redelivered: number;
  /** Imports that came after their migration's first other update. */
  importsLate: number;
  /** Creates of a contract that was already active with equal content. */
  createsRepeated: number;
  /** Creates of coins or rounds that do not count. */
  counterfeits: number;
  checkpoints: number;
  /** Checkpoints before the migration's first update or before the time reached: they did not move time. */
  checkpointsBehind: number;
  /** Messages skipped because they were dropped or quarantined before. */
  decided: number;
  ignored: Record<string, number>;
}

export function noCounts(): Counts {
  return {
    updates: 0,
    events: 0,
    eventsByKind: {
      'create Amulet': 0,
      'create LockedAmulet': 0,
      'create OpenMiningRound': 0,
      'archive Amulet': 0,
      'archive LockedAmulet': 0,
      'archive OpenMiningRound': 0,
      archive: 0,
    },
    redelivered: 0,
    importsLate: 0,
    createsRepeated: 0,
    counterfeits: 0,
    checkpoints: 0,
    checkpointsBehind: 0,
    decided: 0,
    ignored: {},
  };
}

export function copyCounts(counts: Counts): Counts {
  return { ...counts, eventsByKind: { ...counts.eventsByKind }, ignored: { ...counts.ignored } };
}

export function addIgnored(counts: Counts, what: string, number = 1): void {
  counts.ignored[what] = (counts.ignored[what] ?? 0) + number;
}

const KINDS = {
  create: { Amulet: 'create Amulet', LockedAmulet: 'create LockedAmulet', OpenMiningRound: 'create OpenMiningRound' },
  archive: {
    Amulet: 'archive Amulet',
    LockedAmulet: 'archive LockedAmulet',
    OpenMiningRound: 'archive OpenMiningRound',
  },
} as const;

export function addEvent(counts: Counts, does: 'create' | 'archive', entity: Entity | null): void {
  counts.events += 1;
  counts.eventsByKind[entity === null ? 'archive' : KINDS[does][entity]] += 1;
}
