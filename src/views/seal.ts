import type { Database } from 'better-sqlite3';
import type { Micros } from '../ledger/time.ts';
import type { Owners } from './owners.ts';
import type { MigrationState } from './state.ts';

interface SealedRow {
  readonly migrationId: number;
  readonly recordTime: Micros;
  readonly seq: number;
  readonly forced: boolean;
  readonly supply: readonly [contracts: number, owners: number, unlocked: string, locked: string];
}

/** Snapshots sealed in this batch. Sealing is a row, a version for each owner changed, and the next interval; nothing is copied. */
export class Seals {
  readonly #owners: Owners;
  readonly #insert;
  readonly #rows: SealedRow[] = [];

  constructor(db: Database, owners: Owners) {
    this.#owners = owners;
    this.#insert = db.prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  }

  seal(migration: MigrationState, recordTime: Micros, forced: boolean): void {
    this.#owners.queueVersions(migration);
    const { migrationId, contracts, owners, unlocked, locked } = migration;
    const supply = [contracts, owners, unlocked.toString(), locked.toString()] as const;
    this.#rows.push({ migrationId, recordTime, seq: migration.openSeq, forced, supply });
    migration.openSeq += 1;
  }

  get count(): number {
    return this.#rows.length;
  }

  flush(): void {
    for (const { migrationId, recordTime, seq, forced, supply } of this.#rows) {
      this.#insert.run(migrationId, recordTime, seq, forced ? 1 : 0, ...supply);
    }
  }

  settle(): void {
    this.#rows.length = 0;
  }
}

/** The first grid time strictly after a time. The period divides a day, so the grid is UTC's (design.md section 6, rule 3). */
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
  while (migration.nextGrid !== null && (migration.nextGrid < end || (inclusive && migration.nextGrid === end))) {
    seals.seal(migration, migration.nextGrid, false);
    migration.nextGrid += periodUs;
  }
}
