import type { Micros } from '../../ledger/time.ts';
import type { LaneState } from './positions.ts';

/** A place in the feed; IMPORT_TIME for imports. */
export interface LedgerTime {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

/**
 * Whether a lane that was passed over as idle now has a message that belongs before one applied meanwhile. Otherwise the merge
 * of the lanes prevents that: a message with a later place than all earlier ones of its lane waits for the other lanes, and
 * they for it. Only one with an earlier place than its predecessors in the lane is applied late, as the feed's order requires.
 */
export function isOvertaken(lanes: ReadonlyMap<string, LaneState>, own: LaneState, at: LedgerTime): boolean {
  if (own.start === null || (own.furthest !== null && isBefore(at, own.furthest))) return false;
  for (const { start, furthest } of lanes.values()) {
    if (start !== null && furthest !== null && isBefore(at, furthest)) return true;
  }
  return false;
}

/** Notes how far a lane has come. */
export function noteFurthest(state: LaneState, at: LedgerTime): void {
  if (state.furthest !== null && !isBefore(state.furthest, at)) return;
  state.furthest = { migrationId: at.migrationId, recordTime: at.recordTime };
}

function isBefore(a: LedgerTime, b: LedgerTime): boolean {
  return a.migrationId < b.migrationId || (a.migrationId === b.migrationId && a.recordTime < b.recordTime);
}
