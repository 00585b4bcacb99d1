import type { Snapshot } from './answers.ts';

/** What every part of a page needs to ask: the migration that is shown, and its newest snapshot. */
export interface Here {
  readonly migration: string;
  /** Milliseconds between two snapshots of the grid. */
  readonly periodMs: number;
  readonly newest: Snapshot;
}
