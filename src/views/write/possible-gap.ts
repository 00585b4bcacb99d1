import type { UpdateContent } from '../../feed/decoded-batch.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Checkpoint, SeedMark } from '../../ledger/update.ts';
import { Refusal } from '../../refusal.ts';
import { checkpointKey, IMPORT_TIME, type LaneState } from './positions.ts';
import { type MigrationState, newMigration, UNFINISHED_IMPORT, type WriterState } from './state.ts';

/** What follows may begin after the end of what was applied: what is between would be missing without a trace. */
export class PossibleGap extends Refusal {
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
  { recordTime, times }: SeedMark,
  migration: MigrationState,
  lanes: readonly LaneState[],
  source: string,
): void {
  const { timeReached } = migration;
  if (timeReached === null) return;
  const isBehind = times.some((each) => each.recordTime > reachedOn(migration, each.synchronizerId, lanes));
  if (recordTime <= timeReached && !isBehind) return;
  const end = isBehind && recordTime <= timeReached ? 'earlier on a synchronizer' : `at ${formatTime(timeReached)}`;
  throw new PossibleGap(
    `${source} has a seed of ${formatTime(recordTime)}, and what was read before it ends ${end}`,
    'replay files of what is between',
  );
}

/** Up to when everything of a synchronizer was read; NEGATIVE_INFINITY where nothing is known of it. */
function reachedOn(
  { migrationId, seededAt, seedTimes, synchronizers }: MigrationState,
  synchronizerId: string,
  lanes: readonly LaneState[],
): Micros {
  const key = checkpointKey(migrationId, synchronizerId);
  const times = [
    seedTimes[synchronizerId] ?? seededAt,
    synchronizers.get(synchronizerId)?.recordTime,
    ...lanes.map(({ checkpoints }) => checkpoints.get(key)),
  ];
  return times.reduce<Micros>((most, time) => Math.max(most, time ?? most), Number.NEGATIVE_INFINITY);
}

/**
 * Throws a Refusal for a message of a file that leaves a gap in a directory which follows a source that resumes: nothing reports the
 * gap, and the source brings it too late. What a file first shows of each synchronizer must be at or before what is applied of it.
 */
export function requireOverlap(
  { lanes, migrations }: WriterState,
  lane: LaneState,
  content: UpdateContent | Checkpoint | SeedMark,
): void {
  const followed = lane.start === null ? [...lanes.values()].filter(holdsPosition) : [];
  const [source] = followed;
  if (source === undefined) return;
  const { migrationId } = content;
  const migration = migrations.get(migrationId) ?? newMigration(migrationId);
  const refuse = (first: string, why: string, remedy: string): never => {
    throw new Refusal(
      `${lane.source} begins with ${first} of migration ${migrationId}, and this directory, which follows ${source.source}, ${why}: ` +
        `${remedy}, or give another --data directory`,
    );
  };
  if (followed.every(({ furthest }) => (furthest?.migrationId ?? 0) < migrationId)) {
    const isImport = content.kind === 'update' && content.recordTime === null;
    // The source comes to the migration's beginning by itself, and the file has that too.
    if (isImport || lane.furthest?.migrationId === migrationId) return;
  }
  if (migration.timeReached === null)
    refuse('updates', 'has nothing of that', 'replay a file that begins with its imports, or read it from there');
  const times = timesOf(content);
  const reachedOf = (synchronizerId: string): Micros => reachedOn(migration, synchronizerId, followed);
  for (const { synchronizerId, recordTime } of times) {
    const key = checkpointKey(migrationId, synchronizerId);
    if (lane.checkpoints.has(key)) continue;
    const reached = reachedOf(synchronizerId);
    // A checkpoint counts with the smallest of its times: beside a known synchronizer, one without updates moves nothing.
    if (reached === Number.NEGATIVE_INFINITY && times.some((each) => reachedOf(each.synchronizerId) > reached))
      continue;
    const has = reached > Number.NEGATIVE_INFINITY ? `has it up to ${formatTime(reached)}` : 'has nothing of it';
    if (recordTime > reached)
      refuse(
        `record time ${formatTime(recordTime)} of synchronizer ${synchronizerId}`,
        `${has}, so that updates between them may be missing`,
        'replay a file that begins at that time or before',
      );
    // From here on the file continues what is applied.
    lane.checkpoints.set(key, recordTime);
  }
}

/** The times that a message names for synchronizers; of an import mark none are looked at. */
function timesOf(content: UpdateContent | Checkpoint | SeedMark): Checkpoint['times'] {
  if (content.kind === 'checkpoint') return content.times;
  if (content.kind === 'seed mark' || content.recordTime === null) return [];
  return [{ synchronizerId: content.synchronizerId, recordTime: content.recordTime }];
}

/** Whether the lane's source continues at a position of its own: it has brought something, or takes over what others have. */
function holdsPosition({ start, resumeToken, furthest }: LaneState): boolean {
  return start !== null && (resumeToken !== start || furthest !== null);
}

/**
 * Whether only a seed of the migration was read, and the source that resumes has shown nothing yet that the seed has: until then it
 * is not known that it begins before the seed ends.
 */
export function isUnproven({ lanes }: WriterState, { seededAt, synchronizers }: MigrationState): boolean {
  if (seededAt === null || seededAt === UNFINISHED_IMPORT || synchronizers.size > 0) return false;
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
