import type { Micros } from '../../ledger/time.ts';
import type { LaneState } from './positions.ts';

/** A place in the feed; IMPORT_TIME for imports. */
export interface LedgerTime {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

/**
 * Whether a lane of a source that resumes, passed over as idle, now shows what belongs before something applied since. The
 * merge of the lanes never lets that happen otherwise: a message whose place is beyond all that its own lane has shown
 * waits for the others, and they for it; only what falls behind its own predecessors is applied late, as the feed's order says.
 */
export function isOvertaken(lanes: ReadonlyMap<string, LaneState>, own: LaneState, at: LedgerTime): boolean {
  if (own.start === null || (own.furthest !== null && isBehind(at, own.furthest))) return false;
  for (const { start, furthest } of lanes.values()) {
    if (start !== null && furthest !== null && isBehind(at, furthest)) return true;
  }
  return false;
}

/** Remembers how far a lane has got. */
export function noteFurthest(state: LaneState, at: LedgerTime): void {
  if (state.furthest !== null && !isBehind(state.furthest, at)) return;
  state.furthest = { migrationId: at.migrationId, recordTime: at.recordTime };
}

function isBehind(a: LedgerTime, b: LedgerTime): boolean {
  return a.migrationId < b.migrationId || (a.migrationId === b.migrationId && a.recordTime < b.recordTime);
}
