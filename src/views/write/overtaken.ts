import type { Micros } from '../../ledger/time.ts';
import type { PartitionState } from './positions.ts';

/** A place in the feed; IMPORT_TIME for imports. */
export interface Place {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

/**
 * Whether a partition of a topic that was passed over as idle now shows what belongs before something applied since. The
 * merge of the partitions never lets that happen otherwise: a message whose place is beyond all that its own partition has shown
 * waits for the others, and they for it; only what falls behind its own predecessors is applied late, as the feed's order says.
 */
export function isOvertaken(partitions: ReadonlyMap<number, PartitionState>, partition: number, at: Place): boolean {
  const own = partitions.get(partition)?.furthest ?? null;
  if (partition < 0 || (own !== null && isBehind(at, own))) return false;
  for (const [other, { furthest }] of partitions) {
    if (other >= 0 && furthest !== null && isBehind(at, furthest)) return true;
  }
  return false;
}

/** Remembers how far a partition of a topic has got. */
export function noteFurthest(state: PartitionState | undefined, at: Place): void {
  if (state === undefined || (state.furthest !== null && !isBehind(state.furthest, at))) return;
  state.furthest = { migrationId: at.migrationId, recordTime: at.recordTime };
}

function isBehind(a: Place, b: Place): boolean {
  return a.migrationId < b.migrationId || (a.migrationId === b.migrationId && a.recordTime < b.recordTime);
}
