import { formatTime, type Micros } from '../../ledger/time.ts';
import type { SeedMark } from '../../ledger/update.ts';
import { checkpointKey, IMPORT_TIME, type LaneState } from './positions.ts';
import { HALF_SEED, type MigrationState, type WriterState } from './state.ts';

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
      ...checkpoints.map((each) => each.get(checkpointKey(migrationId, synchronizerId)) ?? Number.NEGATIVE_INFINITY),
    );
  const isBehind = times.some((each) => each.recordTime > reachedOn(each.synchronizerId));
  if (recordTime <= timeReached && !isBehind) return;
  const end = isBehind && recordTime <= timeReached ? 'earlier on a synchronizer' : `at ${formatTime(timeReached)}`;
  throw new PossibleGap(
    `${source} has a seed of ${formatTime(recordTime)}, and what was read before it ends ${end}`,
    'replay files of what is between',
  );
}

/**
 * Whether only a seed of the migration was read, and the source that resumes has shown nothing yet that the seed has: until then it
 * is not known that it begins before the seed ends.
 */
export function isUnproven({ lanes }: WriterState, { seededAt, synchronizers }: MigrationState): boolean {
  if (seededAt === null || seededAt === HALF_SEED || synchronizers.size > 0) return false;
  return [...lanes.values()].every(
    ({ start, furthest }) => start === null || furthest === null || furthest.recordTime === IMPORT_TIME,
  );
}

/** Whether a source that resumes comes after files of a migration and has shown nothing yet that they have. */
export function isUnseen({ synchronizers }: MigrationState): boolean {
  return synchronizers.size > 0 && [...synchronizers.values()].every(({ unseen }) => unseen);
}

/** Whether a source that resumes comes after files and has shown nothing yet that they have: it may begin after their end. */
export function mayLeaveGap(state: WriterState): boolean {
  const [lanes, migrations] = [[...state.lanes.values()], [...state.migrations.values()]];
  if (lanes.every(({ start }) => start === null)) return false;
  const known = migrations.flatMap(({ synchronizers }) => [...synchronizers.values()]);
  return known.length > 0 ? known.every(({ unseen }) => unseen) : migrations.some((each) => isUnproven(state, each));
}
