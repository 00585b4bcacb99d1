import { formatTime, type Micros } from '../../ledger/time.ts';
import type { SeedMark } from '../../ledger/update.ts';
import type { LaneState } from './positions.ts';
import type { MigrationState } from './state.ts';

/** What follows may begin after the end of what was applied: what is between would be missing without a trace. */
export class PossibleGap extends Error {
  constructor(gap: string, mended: string) {
    super(`possible gap: ${gap}; ${mended}, or start with another --data directory`);
    this.name = 'PossibleGap';
  }
}

export function gapAfterFiles(files: string, source: string, first: Micros): PossibleGap {
  return new PossibleGap(
    `the files ${files}, and ${source} starts at ${formatTime(first)}`,
    'replay files that reach into it',
  );
}

/**
 * Throws PossibleGap where a migration has begun and a seed of it is of a later time than what was read: the contracts of a later
 * seed do not count, and what was created and archived before it would be missing.
 */
export function requireNoGapBefore(
  { recordTime, times, migrationId }: SeedMark,
  migration: MigrationState,
  { lanes, source }: { lanes: Iterable<LaneState>; source: string },
): void {
  const { timeReached, seededAt, seedTimes, synchronizers } = migration;
  if (timeReached === null) return;
  const checkpoints = [...lanes].map((lane) => lane.checkpoints);
  const reachedOn = (synchronizerId: string): Micros =>
    Math.max(
      seedTimes[synchronizerId] ?? seededAt ?? Number.NEGATIVE_INFINITY,
      synchronizers.get(synchronizerId)?.recordTime ?? Number.NEGATIVE_INFINITY,
      ...checkpoints.map((each) => each.get(`${migrationId} ${synchronizerId}`) ?? Number.NEGATIVE_INFINITY),
    );
  const isBehind = times.some((each) => each.recordTime > reachedOn(each.synchronizerId));
  if (recordTime <= timeReached && !isBehind) return;
  const end = isBehind && recordTime <= timeReached ? 'earlier on a synchronizer' : `at ${formatTime(timeReached)}`;
  throw new PossibleGap(
    `${source} has a seed of ${formatTime(recordTime)}, and what was read before it ends ${end}`,
    'replay files of what is between',
  );
}
