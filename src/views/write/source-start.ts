import type { Database } from 'better-sqlite3';
import type { UpdateContent } from '../../feed/decoded-batch.ts';
import { FeedRefused, type Reached, type SourceStart } from '../../feed/source.ts';
import { formatTime, type Micros } from '../../ledger/time.ts';
import type { Checkpoint, ImportMarker } from '../../ledger/update.ts';
import { Refusal } from '../../refusal.ts';
import { hasTokensOfCoin, tokensOfCoin } from '../store/database.ts';
import type { ActiveIds } from './contracts.ts';
import { checkpointKey, IMPORT_TIME, type LaneState, newLane } from './positions.ts';
import { type MigrationState, newMigration, UNFINISHED_IMPORT, type WriterState } from './state.ts';

/** Whether there is anything to store: new lanes, or a source of which nothing is applied yet. */
export function isNews(state: WriterState, { identity, resumeTokens, dso, restarts, followed }: SourceStart): boolean {
  if (restarts === true || (dso !== undefined && dso !== state.dso)) return true;
  if (followed !== undefined && state.followed === null) return true;
  const isKnown = [...resumeTokens.keys()].every((lane) => state.lanes.has(lane));
  return state.feed !== identity || !isKnown || !isBegun(state);
}

/**
 * Throws FeedRefused where the views were built from another source, or count the coins of another DSO, or of owners whose coins the
 * source does not show (docs/rules.md, rule 14).
 */
export function checkSourceStart(db: Database, state: WriterState, start: SourceStart, source: string): void {
  const { identity, dso, followed, restarts, takesOver } = start;
  /** A restarted snapshot import replaces an unfinished one, of any source or parties. */
  const replaces = restarts === true && !isBegun(state);
  if (isAnother(state, start) && !(takesOver === true && (state.dso ?? dso) === dso) && !replaces)
    throw new FeedRefused(
      `these views were built from ${state.feed}, and ${source} is ${identity}: ` +
        'name the source as before, or give another --data directory',
    );
  if (dso !== undefined && state.dso !== null && state.dso !== dso)
    throw new FeedRefused(
      `these views count the coins of ${state.dso}, and the DSO of ${source} is ${dso}: ` +
        'leave --dso out, name a source of the same network, or give another --data directory',
    );
  if (dso !== undefined && state.dso === null && hasTokensOfCoin(db, dso)) throw new FeedRefused(tokensOfCoin(dso));
  if (followed === undefined && state.followed !== null)
    throw new FeedRefused(
      `these views count the coins of some parties only, and ${source} is not their participant: give another --data directory`,
    );
  if (followed === undefined || replaces) return;
  const given = new Set(followed);
  if (state.followed !== null) {
    if (given.size === state.followed.size && followed.every((party) => state.followed!.has(party))) return;
    throw new FeedRefused(`these views count the coins of other parties than ${source}: give another --data directory`);
  }
  const owners = db.prepare<[], string>("SELECT owner FROM account WHERE owner <> ''").pluck();
  const other = Iterator.from(owners.iterate()).find((owner) => !given.has(owner));
  if (other !== undefined)
    throw new FeedRefused(
      `these views have coins of ${other}, which ${source} does not follow: its sums would be partial; ` +
        'name it too, or give another --data directory',
    );
}

function isAnother({ feed }: WriterState, { identity }: SourceStart): boolean {
  return feed !== null && feed !== identity;
}

/** What a directory is, and what people decided: not of the import. */
const KEPT = ['setting', 'dead_letter'];

/**
 * Forgets what a source replaces, in a transaction of its own. A restarted snapshot import empties the views, which may have nothing but an
 * unfinished one: contracts of the first that are not in the second would stay for ever. Another source continues after what the one
 * before has brought. After a crash behind it, views are as before any feed, or a source follows them as it follows those of files.
 * Throws FeedRefused where there is more than an unfinished import.
 */
export function forgetReplaced(
  db: Database,
  state: WriterState,
  start: SourceStart,
  { source, active }: { source: string; active: ActiveIds },
): void {
  const forget = (tables: readonly string[], statement: string): void =>
    db.transaction(() => {
      for (const table of tables) db.prepare(`DELETE FROM ${table}`).run();
      db.prepare(statement).run();
    })();
  if (start.restarts !== true) {
    if (isAnother(state, start)) forget(['position WHERE start IS NOT NULL'], 'UPDATE setting SET feed = NULL');
    return;
  }
  const other = [...state.migrations.values()].find(({ importedAt }) => importedAt !== UNFINISHED_IMPORT);
  if (other !== undefined)
    throw new FeedRefused(
      `these views have imports of migration ${other.migrationId} and no update, and ${source} begins with a snapshot import: ` +
        'replay the updates of that migration first, or give another --data directory',
    );
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck();
  const emptied = tables.all().filter((table) => !KEPT.includes(table));
  forget(emptied, 'UPDATE setting SET next_no = 1, next_account = 1, tokens = NULL, unreadable = 0, feed = NULL');
  active.forget();
}

/** The newest migration that has such a time. */
function newestWith({ migrations }: WriterState, time: 'timeReached' | 'updateTime'): MigrationState | undefined {
  const all = [...migrations.values()].sort((a, b) => a.migrationId - b.migrationId);
  return all.findLast((each) => each[time] !== null);
}

/** The time up to which the newest migration is known of all its synchronizers. */
export function reachedOf(state: WriterState): Reached | null {
  const newest = newestWith(state, 'timeReached');
  if (newest === undefined) return null;
  const { migrationId, importedAt, importTimes, synchronizers } = newest;
  const times = new Map(Object.entries(importTimes));
  for (const [synchronizerId, last] of synchronizers) times.set(synchronizerId, last.recordTime);
  const recordTime = times.size > 0 ? Math.min(...times.values()) : importedAt;
  return recordTime === null ? null : { migrationId, recordTime };
}

/** The largest time applied, of the newest migration; of updates: the largest record time, of the newest one that has any. */
export function furthestOf(state: WriterState, time: 'timeReached' | 'updateTime' = 'timeReached'): Reached | null {
  const newest = newestWith(state, time);
  return newest === undefined ? null : { migrationId: newest.migrationId, recordTime: newest[time]! };
}

/**
 * Begins the lanes that are new. Synchronizers known before anything of the source is applied are from others, and the source
 * must overlap with those (PossibleGap).
 */
export function noteSourceStart(state: WriterState, start: SourceStart, source: string): void {
  const { identity, resumeTokens, dso, followed, takesOver } = start;
  state.feed = identity;
  if (followed !== undefined) state.followed = new Set(followed);
  if (dso !== undefined) {
    state.dso = dso;
    state.dsoPinned = true;
  }
  for (const [lane, resumeToken] of resumeTokens) {
    if (state.lanes.has(lane)) continue;
    const begun = newLane(source, { start: resumeToken, resumeToken });
    // Its resume token proves that it begins where the others end.
    if (takesOver === true) begun.furthest = furthestOf(state);
    state.lanes.set(lane, begun);
  }
  if (isBegun(state)) return;
  for (const migration of state.migrations.values()) {
    for (const last of migration.synchronizers.values()) {
      last.unseen = true;
      last.changed = true;
    }
  }
}

/** Whether anything of the source that resumes was applied. */
function isBegun({ lanes }: WriterState): boolean {
  return [...lanes.values()].some(({ start, resumeToken }) => start !== null && resumeToken !== start);
}

/** A feed without migration ids, in a directory with a migration above 0, and without `--migration-id`. */
export class MigrationIdMissing extends Refusal {}

/** Before a message without migration id is applied (docs/rules.md, rule 11). `feed`: its name in the refusal. */
export function requireSourceMigration(
  feed: string,
  { given, stored, migrations }: { given: number | null; stored: number | null; migrations: Iterable<number> },
): void {
  const newest = Math.max(0, ...migrations);
  if (given !== null || stored !== null || newest === 0) return;
  throw new MigrationIdMissing(
    `--migration-id is required: ${feed} has updates of the Ledger API form, which have no migration id, after updates ` +
      `of migration ${newest}; give the id of the migration that they belong to`,
  );
}

/** What follows may begin after the end of what was applied: what is between would be missing without a trace. */
export class PossibleGap extends Refusal {
  constructor(gap: string, mended: string) {
    super(`possible gap: ${gap}; ${mended}, or start with another --data directory`);
  }
}

export function gapAfterFiles(files: string, source: string, first: Micros): PossibleGap {
  return new PossibleGap(
    `the files ${files}, and ${source} starts at ${formatTime(first)}`,
    'replay files that reach into it',
  );
}

/**
 * Throws PossibleGap where a migration has begun and a snapshot import of it is of a later time than what was read: the contracts of
 * a later one do not count, and what was created and archived before it would be missing.
 */
export function requireNoGapBefore(
  { recordTime, times }: ImportMarker,
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
    `${source} has a snapshot import of ${formatTime(recordTime)}, and what was read before it ends ${end}`,
    'replay files of what is between',
  );
}

/** Up to when everything of a synchronizer was read; NEGATIVE_INFINITY where nothing is known of it. */
function reachedOn(
  { migrationId, importedAt, importTimes, synchronizers }: MigrationState,
  synchronizerId: string,
  lanes: readonly LaneState[],
): Micros {
  const key = checkpointKey(migrationId, synchronizerId);
  const times = [
    importTimes[synchronizerId] ?? importedAt,
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
  content: UpdateContent | Checkpoint | ImportMarker,
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
function timesOf(content: UpdateContent | Checkpoint | ImportMarker): Checkpoint['times'] {
  if (content.kind === 'checkpoint') return content.times;
  const { recordTime } = content;
  return content.kind === 'import marker' || recordTime === null ? [] : [{ ...content, recordTime }];
}

/** Whether the lane's source continues at a position of its own: it has brought something, or takes over what others have. */
function holdsPosition({ start, resumeToken, furthest }: LaneState): boolean {
  return start !== null && (resumeToken !== start || furthest !== null);
}

/**
 * Whether only a snapshot import of the migration was read, and the source that resumes has shown nothing yet that this has: until
 * then it is not known that it begins before the import ends.
 */
export function isUnproven({ lanes }: WriterState, { importedAt, synchronizers }: MigrationState): boolean {
  if (importedAt === null || importedAt === UNFINISHED_IMPORT || synchronizers.size > 0) return false;
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
