import type { Database } from 'better-sqlite3';
import type { SealedMigration } from '../../holdings/facts.ts';
import { gridOf } from '../../holdings/snapshot-grid.ts';

export interface GridSnapshot {
  readonly time: number;
  readonly seq: number;
}

/** The sealed snapshots of a migration's grid, by their times and numbers. */
export interface SealedGrid {
  /** The number of the snapshot of the grid before a time of the grid; 0 where that is the first. */
  seqBefore(time: number): number;
  seqAt(time: number): number;
  /** The first in or after an interval; null where none is sealed. */
  find(seq: number): GridSnapshot | null;
}

/** Null where nothing of its grid is sealed. */
export function createGridReader(db: Database): (migration: SealedMigration) => SealedGrid | null {
  const seqOf = db
    .prepare<[number, number], number>('SELECT seq FROM snapshot WHERE migration_id = ? AND record_time = ?')
    .pluck();
  return (migration) => {
    const { migrationId } = migration;
    const { from, to, step } = gridOf(migration);
    if (from > to) return null;
    const at = (time: number): GridSnapshot => {
      const seq = seqOf.get(migrationId, time);
      if (seq === undefined) throw new Error(`migration ${migrationId} has no snapshot at ${time} of its grid`);
      return { time, seq };
    };
    const [first, last] = [at(from), at(to)];
    return {
      seqBefore: (time) => (time <= from ? 0 : at(time - step).seq),
      seqAt: (time) => at(time).seq,
      // A binary search: where nothing was forced between two snapshots of the grid, those between are numbered in steps.
      find(seq) {
        if (seq > last.seq) return null;
        let [low, high] = [first, last];
        for (;;) {
          const steps = (high.time - low.time) / step;
          if (seq <= low.seq) return low;
          if (high.seq - low.seq === steps) return { time: low.time + (seq - low.seq) * step, seq };
          if (steps === 1) return high;
          const middle = at(low.time + Math.floor(steps / 2) * step);
          if (seq <= middle.seq) high = middle;
          else low = middle;
        }
      },
    };
  };
}
