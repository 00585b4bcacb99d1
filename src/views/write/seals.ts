import type { Database } from 'better-sqlite3';
import { changesHash, firstDigest, nextDigest } from '../../ledger/digest.ts';
import type { Micros } from '../../ledger/time.ts';
import { BulkRows } from '../store/stored-rows.ts';
import type { Epochs } from './epochs.ts';
import type { LedgerUpdates } from './ledger-updates.ts';
import type { OpenItems } from './open-items.ts';
import type { Owners } from './owner-sums.ts';
import { furthestOf } from './source-start.ts';
import type { MigrationState, WriterState } from './state.ts';

/** The snapshots that one transaction seals; those of a longer gap are committed in parts (docs/rules.md, rule 6). */
export const SNAPSHOTS_MAX = 10_000;

/** Snapshots of equal content, one period apart: one that was sealed and the quiet intervals after it. */
export interface SealedRun {
  readonly migrationId: number;
  readonly first: Micros;
  readonly periodUs: number;
  readonly count: number;
  readonly seq: number;
  readonly no: number;
  /** The last number of ledger_update. */
  readonly updateNo: number;
  /** Of the first one; null where it is forced. */
  readonly changes: Buffer | null;
  /** The same of tokens; null too before the first of them. */
  readonly tokenChanges: Buffer | null;
}

type Parts = { owners: Owners; items: OpenItems; tokenItems: OpenItems; epochs: Epochs; updates: LedgerUpdates };
type SealedState = { state: WriterState; seals: Seals };

/** A chain of digests in each migration: see ledger/digest.ts. */
class Chain {
  /** That of the newest snapshot on the grid. */
  readonly #newest = new Map<number, Buffer>();
  readonly #stored;

  constructor(db: Database, column: 'digest' | 'tokens_digest') {
    this.#stored = db
      .prepare<[number], Buffer | null>(
        `SELECT ${column} FROM snapshot WHERE migration_id = ? AND digest IS NOT NULL ORDER BY record_time DESC LIMIT 1`,
      )
      .pluck();
  }

  next(changes: Buffer, migrationId: number, periodUs: number): Buffer {
    const before = this.#newest.get(migrationId) ?? this.#stored.get(migrationId) ?? firstDigest(migrationId, periodUs);
    const digest = nextDigest(before, changes);
    this.#newest.set(migrationId, digest);
    return digest;
  }
}

/** Snapshots sealed in this batch. Sealing is a row, a version for each owner changed, and the next interval; nothing is copied. */
export class Seals {
  readonly #of: Parts;
  /** The digests of each migration's newest snapshot on the grid. */
  readonly #chain;
  readonly #tokenChain;
  readonly #insert: BulkRows;
  /** The number of snapshots that wait for the commit. */
  pending = 0;
  readonly #sealedAt;
  readonly #runs: SealedRun[] = [];
  #nextNo: number;

  constructor(db: Database, of: Parts) {
    this.#of = of;
    this.#chain = new Chain(db, 'digest');
    this.#tokenChain = new Chain(db, 'tokens_digest');
    this.#insert = BulkRows.inserting(db, 'INSERT INTO snapshot', 11);
    this.#sealedAt = db
      .prepare<[number, number], Micros>('SELECT record_time FROM snapshot WHERE migration_id = ? AND seq = ?')
      .pluck();
    this.#nextNo = db.prepare<[], number>('SELECT coalesce(max(no), 0) + 1 FROM snapshot').pluck().get()!;
  }

  /** The last run, where more than so many snapshots wait for the commit. */
  lastBeyond(snapshotsMax: number): SealedRun | null {
    return this.pending > snapshotsMax ? this.#runs.at(-1)! : null;
  }

  /** Seals the open interval at a grid time, and `count - 1` quiet ones after it: a row each, and nothing else. */
  seal(migration: MigrationState, first: Micros, { count, periodUs }: { count: number; periodUs: number }): void {
    const { changes } = this.#of.items.seal(migration.migrationId, first);
    const tokens = this.#of.tokenItems.seal(migration.migrationId, first);
    migration.hasTokenChain ||= tokens.any;
    const tokenChanges = migration.hasTokenChain ? tokens.changes : null;
    this.#end(migration, { first, count, periodUs, changes, tokenChanges });
    migration.gridSeq = migration.openSeq - 1;
  }

  /** Seals the open interval off the grid. For the digests it goes on: forced snapshots are not in the feed. */
  sealForced(migration: MigrationState, recordTime: Micros): void {
    this.#end(migration, { first: recordTime, count: 1, periodUs: 0, changes: null, tokenChanges: null });
  }

  #end(migration: MigrationState, run: Omit<SealedRun, 'migrationId' | 'seq' | 'no' | 'updateNo'>): void {
    this.#of.owners.queueVersions(migration);
    const { migrationId, openSeq: seq } = migration;
    this.#runs.push({ ...run, migrationId, seq, no: this.#nextNo, updateNo: this.#of.updates.no - 1 });
    migration.openSeq += run.count;
    migration.sealedAt = run.first + (run.count - 1) * run.periodUs;
    this.#nextNo += run.count;
    this.pending += run.count;
  }

  /** The time of the snapshot that ended an interval; null where it is open, and before the first. */
  endOf(migrationId: number, seq: number): Micros | null {
    const isIn = (run: SealedRun): boolean => seq >= run.seq && seq < run.seq + run.count;
    const run = this.#runs.find((each) => each.migrationId === migrationId && isIn(each));
    if (run !== undefined) return run.first + (seq - run.seq) * run.periodUs;
    return this.#sealedAt.get(migrationId, seq) ?? null;
  }

  flush(): void {
    for (const run of this.#runs) {
      const { migrationId, first, periodUs, count, seq, no, updateNo } = run;
      for (let i = 0; i < count; i++) {
        const recordTime = first + i * periodUs;
        const forced = run.changes === null ? 1 : 0;
        const none = i === 0 ? null : changesHash(migrationId, recordTime).digest();
        const changes = none ?? run.changes;
        const digest = changes && this.#chain.next(changes, migrationId, periodUs);
        const tokenChanges = run.tokenChanges && (none ?? run.tokenChanges);
        const tokenDigest = tokenChanges && this.#tokenChain.next(tokenChanges, migrationId, periodUs);
        const places = [seq + i, no + i, this.#of.epochs.newest, updateNo];
        this.#insert.add(migrationId, recordTime, ...places, forced, changes, digest, tokenChanges, tokenDigest);
      }
    }
    this.#insert.finish();
  }

  afterCommit(): void {
    this.#runs.length = 0;
    this.pending = 0;
  }
}

/** The first grid time strictly after a time. The period divides a day, so the grid is UTC's (docs/rules.md, rule 3). */
export function gridAfter(time: Micros, periodUs: number): Micros {
  return Math.floor(time / periodUs) * periodUs + periodUs;
}

/** Whether a grid time at or after this one is sealed. */
export function isSealed({ nextGrid, openSeq }: MigrationState, time: Micros, periodUs: number): boolean {
  return nextGrid !== null && openSeq > 1 && time <= nextGrid - periodUs;
}

/** Seals every grid time before `end`, or at it where `inclusive`. */
export function sealGrid(
  seals: Seals,
  migration: MigrationState,
  { end, inclusive, periodUs }: { end: Micros; inclusive: boolean; periodUs: number },
): void {
  const first = migration.nextGrid;
  if (first === null || first > end || (first === end && !inclusive)) return;
  const last = inclusive ? end : end - 1;
  const count = Math.floor((last - first) / periodUs) + 1;
  seals.seal(migration, first, { count, periodUs });
  migration.nextGrid = first + count * periodUs;
}

/** Seals as much of a gap as the transaction has room for, as a checkpoint within the gap does. */
export function sealPart({ state, seals }: SealedState, { migrationId, first, periodUs }: SealedRun): void {
  const migration = state.migrations.get(migrationId)!;
  const end = first + (SNAPSHOTS_MAX - seals.pending - 1) * periodUs;
  sealGrid(seals, migration, { end, inclusive: true, periodUs });
  migration.timeReached = Math.max(migration.timeReached!, end);
}

export type ForceOutcome =
  /** `sealed`: whether it is new; otherwise there was one at the last applied time or later. */
  | { readonly kind: 'snapshot'; readonly sealed: boolean; readonly migrationId: number; readonly recordTime: Micros }
  /** A new one is needed, but `maySeal` was false. */
  | { readonly kind: 'too_soon' }
  /** No migration has an update other than imports; or its last one is on the grid, and it has no snapshot yet. */
  | { readonly kind: 'nothing_applied' };

/**
 * Seals a snapshot at the largest record time applied in the newest migration that has an update other than an import
 * (docs/rules.md, rule 12). The caller has nothing pending, and commits.
 */
export function sealNow(db: Database, { state, seals }: SealedState, periodUs: number, maySeal: boolean): ForceOutcome {
  const last = furthestOf(state, 'updateTime');
  if (last === null) return { kind: 'nothing_applied' };
  const { migrationId, recordTime } = last;
  const select = db.prepare<[number], number | null>('SELECT max(record_time) FROM snapshot WHERE migration_id = ?');
  const newest = select.pluck().get(migrationId) ?? null;
  const isOnGrid = recordTime % periodUs === 0;
  if (newest !== null && (isOnGrid || newest >= recordTime))
    return { kind: 'snapshot', sealed: false, migrationId, recordTime: newest };
  if (isOnGrid) return { kind: 'nothing_applied' };
  if (!maySeal) return { kind: 'too_soon' };
  seals.sealForced(state.migrations.get(migrationId)!, recordTime);
  return { kind: 'snapshot', sealed: true, migrationId, recordTime };
}
