import type { Database } from 'better-sqlite3';
import type { Micros } from '../../ledger/time.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import { withChecksum } from '../store/row-checksum.ts';
import { prepareRowsAdded } from '../store/row-counts.ts';
import type { Owners } from './owners.ts';
import type { MigrationState } from './state.ts';

/** Snapshots of equal content, one period apart: one that was sealed and the quiet intervals after it. */
interface SealedRun {
  readonly migrationId: number;
  readonly first: Micros;
  readonly periodUs: number;
  readonly count: number;
  readonly seq: number;
  readonly forced: boolean;
  readonly contracts: number;
  readonly owners: number;
  readonly unlocked: string;
  readonly locked: string;
}

/** Snapshots sealed in this batch. Sealing is a row, a version for each owner changed, and the next interval; nothing is copied. */
export class Seals {
  readonly #owners: Owners;
  readonly #insert: BulkRows;
  readonly #countAdded;
  readonly #runs: SealedRun[] = [];

  constructor(db: Database, owners: Owners) {
    this.#owners = owners;
    this.#insert = BulkRows.inserting(db, 'INSERT INTO snapshot', 9);
    this.#countAdded = prepareRowsAdded(db, 'snapshot');
  }

  /** Seals the open interval at a time, and `count - 1` quiet ones after it: a row each, and nothing else. */
  seal(
    migration: MigrationState,
    first: Micros,
    { forced = false, count = 1, periodUs = 0 }: { forced?: boolean; count?: number; periodUs?: number },
  ): void {
    this.#owners.queueVersions(migration);
    const { migrationId, openSeq: seq, contracts, owners } = migration;
    const supply = { unlocked: migration.unlocked.toString(), locked: migration.locked.toString() };
    this.#runs.push({ migrationId, first, periodUs, count, seq, forced, contracts, owners, ...supply });
    migration.openSeq += count;
  }

  flush(): void {
    for (const { migrationId, first, periodUs, count, seq, forced, ...supply } of this.#runs) {
      const { contracts, owners, unlocked, locked } = supply;
      const same = [forced ? 1 : 0, contracts, owners, unlocked, locked];
      for (let i = 0; i < count; i++)
        this.#insert.add(withChecksum([migrationId, first + i * periodUs, seq + i, ...same]));
      this.#countAdded(count);
    }
    this.#insert.finish();
  }

  settle(): void {
    this.#runs.length = 0;
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
