import type { Database } from 'better-sqlite3';
import { idText, type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import type { Entity } from '../../ledger/templates.ts';
import type { Micros } from '../../ledger/time.ts';
import { followedIn, parseColumn } from '../store/stored-rows.ts';
import type { Epochs, StoredInterval } from './epochs.ts';
import { type LaneState, loadLanes } from './positions.ts';

/** The updates applied of one synchronizer: a row of `synchronizer`, whose columns views-schema.ts explains. */
export interface SynchronizerState {
  readonly no: number;
  readonly firstTime: Micros;
  recordTime: Micros;
  /** The ids of the updates applied at that time: those of this batch, and how many are in `last_update`. */
  readonly newIds: Set<string>;
  storedIds: number;
  repairs: number;
  unseen: boolean;
  changed: boolean;
}

/** An instrument of a migration, with its supply in the open interval. */
export interface Instrument {
  readonly no: number;
  readonly migration: MigrationState;
  readonly admin: string;
  readonly name: string;
  contracts: number;
  owners: number;
  unlocked: bigint;
  locked: bigint;
}

export type InstrumentRow = Pick<Instrument, 'no' | 'admin' | 'name' | 'contracts' | 'owners'> &
  Readonly<Record<'unlocked' | 'locked', string> & Record<'migrationId', number>>;

/** Instruments with the newest version of each one's supply. */
export const INSTRUMENT_ROWS = `SELECT id AS no, migration_id AS migrationId, admin, name,
    coalesce(contracts, 0) AS contracts, coalesce(owners, 0) AS owners, coalesce(unlocked, '0') AS unlocked, coalesce(locked, '0') AS locked
  FROM instrument LEFT JOIN supply ON instrument = id AND seq = (SELECT max(seq) FROM supply WHERE instrument = id)`;

export function instrumentOf({ migrationId, ...row }: InstrumentRow, migration: MigrationState): Instrument {
  const unlocked = parseColumn('supply.unlocked', row.unlocked, BigInt);
  const locked = parseColumn('supply.locked', row.locked, BigInt);
  return { ...row, migration, unlocked, locked };
}

/** A migration's clock, open interval and coin (docs/rules.md, time and order): see the columns of `migration` in views-schema.ts. */
export interface MigrationState {
  readonly migrationId: number;
  openSeq: number;
  stored: StoredInterval;
  coin: Instrument | null;
  /** The interval that the newest snapshot on the grid ended; 0 before the first. Forced ones may have come since. */
  gridSeq: number;
  /** The time of the newest snapshot, forced ones included; null before the first. */
  sealedAt: Micros | null;
  timeReached: Micros | null;
  updateTime: Micros | null;
  nextGrid: Micros | null;
  importedAt: Micros | null;
  importTimes: Readonly<Record<string, Micros>>;
  importOffset: number | null;
  readonly movementsSince: Micros | null;
  /** Whether a snapshot on the grid has a digest of tokens. */
  hasTokenChain: boolean;
  readonly synchronizers: Map<string, SynchronizerState>;
}

/** Of a migration with a snapshot import whose marker has not come: nothing of it may be served. */
export const UNFINISHED_IMPORT: Micros = -1;

/** All that the writer keeps in memory besides its caches; see `setting` in views-schema.ts. Every part is stored in the transaction that changes it. */
export interface WriterState {
  readonly migrations: Map<number, MigrationState>;
  readonly lanes: Map<string, LaneState>;
  feed: string | null;
  followed: ReadonlySet<string> | null;
  dso: string | null;
  dsoPinned: boolean;
  readonly periodUs: number;
  sourceMigrationId: number | null;
  nextNo: number;
  nextAccount: number;
  /** Null until the first update is applied. */
  tokens: boolean | null;
  unreadable: number;
  nextUpdateNo: number;
  nextSynchronizer: number;
}

type MigrationRow = Omit<MigrationState, 'stored' | 'coin' | 'synchronizers' | 'importTimes' | 'hasTokenChain'> &
  Readonly<Record<'openEpoch' | 'hasTokenChain', number>> & {
    readonly coin: number | null;
    readonly importTimes: string;
  };
type SynchronizerRow = Omit<SynchronizerState, 'newIds' | 'unseen' | 'changed'> &
  Readonly<Record<'migrationId' | 'unseen', number>> & { readonly name: string };
type SettingRow = Omit<WriterState, 'dsoPinned' | 'tokens' | 'followed' | 'migrations' | 'lanes'> & {
  readonly dsoPinned: number;
  readonly tokens: number | null;
  readonly followed: string | null;
};

export function loadState(db: Database): WriterState {
  const setting = db.prepare<[], SettingRow>(
    `SELECT dso, dso_pinned AS dsoPinned, period AS periodUs, feed, followed, source_migration_id AS sourceMigrationId,
       next_no AS nextNo, next_account AS nextAccount, tokens, unreadable, next_update_no AS nextUpdateNo,
       (SELECT coalesce(max(no), 0) + 1 FROM synchronizer) AS nextSynchronizer FROM setting`,
  );
  const row = setting.get();
  if (row === undefined) throw new Error('views.db has no settings row');
  const [dsoPinned, followed] = [row.dsoPinned === 1, followedIn(row.followed)];
  const tokens = row.tokens === null ? null : row.tokens === 1;
  return { ...row, dsoPinned, tokens, followed, migrations: loadMigrations(db), lanes: loadLanes(db) };
}

function loadMigrations(db: Database): Map<number, MigrationState> {
  const migrations = new Map<number, MigrationState>();
  const rows = db.prepare<[], MigrationRow>(
    `SELECT m.migration_id AS migrationId, open_seq AS openSeq, open_epoch AS openEpoch, coin, time_reached AS timeReached,
       update_time AS updateTime, next_grid AS nextGrid, seeded_at AS importedAt, seed_times AS importTimes, seed_offset AS importOffset,
       movements_since AS movementsSince,
       coalesce((SELECT seq FROM snapshot s WHERE s.migration_id = m.migration_id AND forced = 0
                 ORDER BY record_time DESC LIMIT 1), 0) AS gridSeq,
       (SELECT max(record_time) FROM snapshot s WHERE s.migration_id = m.migration_id) AS sealedAt,
       coalesce((SELECT tokens_digest IS NOT NULL FROM snapshot s WHERE s.migration_id = m.migration_id AND forced = 0
                 ORDER BY record_time DESC LIMIT 1), 0) AS hasTokenChain
     FROM migration m ORDER BY m.migration_id`,
  );
  const coinRow = db.prepare<[number], InstrumentRow>(`${INSTRUMENT_ROWS} WHERE id = ?`);
  for (const { openEpoch, ...row } of rows.all()) {
    const stored = { openSeq: row.openSeq, openEpoch };
    const importTimes = parseColumn<Record<string, Micros>>('migration.seed_times', row.importTimes, JSON.parse);
    const hasTokenChain = row.hasTokenChain === 1;
    const migration = { ...row, coin: null, stored, importTimes, hasTokenChain, synchronizers: new Map() };
    const coin = row.coin === null ? undefined : coinRow.get(row.coin);
    migrations.set(row.migrationId, Object.assign(migration, { coin: coin ? instrumentOf(coin, migration) : null }));
  }
  const synchronizers = db.prepare<[], SynchronizerRow>(
    `SELECT migration_id AS migrationId, synchronizer_id AS name, no, first_time AS firstTime, record_time AS recordTime,
       updates AS storedIds, repairs, unseen FROM synchronizer`,
  );
  for (const { migrationId, name, unseen, ...row } of synchronizers.all()) {
    const state = { ...row, newIds: new Set<string>(), unseen: unseen === 1, changed: false };
    migrations.get(migrationId)?.synchronizers.set(name, state);
  }
  return migrations;
}

export function newSynchronizer(no: number, firstTime: Micros): SynchronizerState {
  const [newIds, storedIds] = [new Set<string>(), 0];
  return { no, firstTime, recordTime: firstTime, newIds, storedIds, repairs: 0, unseen: false, changed: true };
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
    hasTokenChain: false,
    synchronizers: new Map(),
  };
}

/** Writes the state back, except for the positions; called inside the batch's transaction. */
export function createStateSaver(
  db: Database,
  loaded: WriterState,
  { epochs, lastUpdates }: { epochs: Epochs; lastUpdates: LastUpdates },
): (state: WriterState) => void {
  const setting = db.prepare(
    `UPDATE setting SET dso = @dso, dso_pinned = @dsoPinned, source_migration_id = @sourceMigrationId, next_no = @nextNo,
       next_account = @nextAccount, next_update_no = @nextUpdateNo, feed = @feed, tokens = @tokens, unreadable = @unreadable`,
  );
  const followed = db.prepare('UPDATE setting SET followed = ?');
  const migration = db.prepare(
    `INSERT OR REPLACE INTO migration VALUES (@migrationId, @openSeq, @openEpoch, @coin, @timeReached, @updateTime, @nextGrid,
       @importedAt, @times, @importOffset, @movementsSince)`,
  );
  const synchronizer = db.prepare(
    `INSERT OR REPLACE INTO synchronizer VALUES (@migrationId, @name, @no, @firstTime, @recordTime, @storedIds, @repairs, @unseen)`,
  );
  let written = loaded.followed;
  return (state) => {
    const tokens = state.tokens === null ? null : Number(state.tokens);
    setting.run({ ...state, tokens, dsoPinned: state.dsoPinned ? 1 : 0 });
    // There may be a million of them.
    if (state.followed !== written) followed.run(state.followed && JSON.stringify([...state.followed]));
    written = state.followed;
    for (const each of state.migrations.values()) {
      const { migrationId, openSeq } = each;
      each.stored = { openSeq, openEpoch: epochs.ofInterval(each, openSeq) };
      migration.run({ ...each, ...each.stored, coin: each.coin?.no ?? null, times: JSON.stringify(each.importTimes) });
      for (const [name, last] of each.synchronizers) {
        if (!last.changed) continue;
        lastUpdates.save(migrationId, name, last);
        synchronizer.run({ ...last, migrationId, name, unseen: last.unseen ? 1 : 0 });
        last.changed = false;
      }
    }
  };
}

/**
 * The updates applied at the last time of each synchronizer, to tell a redelivery from another update of that time
 * (docs/rules.md, rule 1). Usually there is one. But repairs have the record time of the update before them, and there may be
 * any number of them: those of earlier batches stay on disk.
 */
export class LastUpdates {
  readonly #has;
  readonly #any;
  readonly #forget;
  readonly #insert;

  constructor(db: Database) {
    const rows = 'FROM last_update WHERE migration_id = ? AND synchronizer_id = ?';
    this.#has = db.prepare<[number, string, StoredId], number>(`SELECT 1 ${rows} AND update_id = ?`).pluck();
    this.#any = db.prepare<[number, string], StoredId>(`SELECT update_id ${rows} LIMIT 1`).pluck();
    this.#forget = db.prepare(`DELETE ${rows}`);
    this.#insert = db.prepare('INSERT INTO last_update VALUES (?, ?, ?)');
  }

  has({ migrationId, synchronizers }: MigrationState, synchronizer: string, updateId: string): boolean {
    const { newIds, storedIds } = synchronizers.get(synchronizer)!;
    return (
      newIds.has(updateId) || (storedIds > 0 && this.#has.get(migrationId, synchronizer, storedId(updateId)) === 1)
    );
  }

  /** One of them, for a message. */
  any({ migrationId, synchronizers }: MigrationState, synchronizer: string): string {
    const [added] = synchronizers.get(synchronizer)!.newIds;
    return added ?? idText(this.#any.get(migrationId, synchronizer) ?? '');
  }

  /** Writes those of this batch; called inside its transaction. */
  save(migrationId: number, synchronizer: string, last: SynchronizerState): void {
    if (last.storedIds === 0) this.#forget.run(migrationId, synchronizer);
    for (const id of last.newIds) this.#insert.run(migrationId, synchronizer, storedId(id));
    last.storedIds += last.newIds.size;
    last.newIds.clear();
  }
}

/** Counts since the process started, for /status and the summary line of a replay. */
export interface Counts {
  /** Updates applied: transactions, reassignments, imports. */
  updates: number;
  /** Creates and archives of coins, rounds and holdings of tokens applied. */
  events: number;
  /** The same by what they are: `create Amulet`; an archive may name no template. */
  eventsByKind: Record<`${'create' | 'archive'} ${Entity | 'token'}` | 'archive', number>;
  redelivered: number;
  /** Imports that came after their migration's first other update. */
  importsLate: number;
  /** Creates of a contract that was already active with equal content. */
  createsRepeated: number;
  counterfeits: number;
  /** Creates of coins whose views name another owner or amount. */
  viewDiffers: number;
  checkpoints: number;
  /** Checkpoints before the migration's first update or before the time reached: they did not move time. */
  checkpointsBehind: number;
  decided: number;
  /** Changes of an account by an update that are what its EventLog events come to, and those that are not; the first of these, as text. */
  legsAgree: number;
  legsDiffer: number;
  firstLegsDifference: string | null;
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
      'create token': 0,
      'archive token': 0,
      archive: 0,
    },
    redelivered: 0,
    importsLate: 0,
    createsRepeated: 0,
    counterfeits: 0,
    viewDiffers: 0,
    checkpoints: 0,
    checkpointsBehind: 0,
    decided: 0,
    legsAgree: 0,
    legsDiffer: 0,
    firstLegsDifference: null,
    ignored: {},
  };
}

export function copyCounts(counts: Counts): Counts {
  return { ...counts, eventsByKind: { ...counts.eventsByKind }, ignored: { ...counts.ignored } };
}

export function addIgnored(counts: Counts, what: string, number = 1): void {
  counts.ignored[what] = (counts.ignored[what] ?? 0) + number;
}

const kindsOf = <Does extends string>(does: Does) =>
  ({
    Amulet: `${does} Amulet`,
    LockedAmulet: `${does} LockedAmulet`,
    OpenMiningRound: `${does} OpenMiningRound`,
    token: `${does} token`,
  }) as const;
const KINDS = { create: kindsOf('create'), archive: kindsOf('archive') };

export function addEvent(counts: Counts, does: 'create' | 'archive', entity: Entity | 'token' | null): void {
  counts.events += 1;
  counts.eventsByKind[entity === null ? 'archive' : KINDS[does][entity]] += 1;
}
