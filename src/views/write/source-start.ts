import type { Database } from 'better-sqlite3';
import { FeedRefused, type Reached, type SourceStart } from '../../feed/source.ts';
import { newLane } from './positions.ts';
import type { WriterState } from './state.ts';

/** Whether there is anything to store: new lanes, or a source of which nothing is applied yet. */
export function isNews(state: WriterState, { identity, cursors, dso, anew, followed }: SourceStart): boolean {
  if (anew === true || (dso !== undefined && dso !== state.dso)) return true;
  if (followed !== undefined && state.followed === null) return true;
  const isKnown = [...cursors.keys()].every((lane) => state.lanes.has(lane));
  return state.feed !== identity || !isKnown || !isBegun(state);
}

/** Throws FeedRefused where the views were built from another source, or count the coins of another DSO. */
export function checkSourceStart(state: WriterState, start: SourceStart, source: string): void {
  const { identity, dso } = start;
  const isOfNetwork = state.dso === null || state.dso === dso;
  if (isAnother(state, start) && !(start.takesOver === true && isOfNetwork) && !replaces(state, start))
    throw new FeedRefused(
      `these views were built from ${state.feed}, and ${source} is ${identity}: ` +
        'name the source as before, or give another --data directory',
    );
  if (dso !== undefined && state.dso !== null && state.dso !== dso)
    throw new FeedRefused(
      `these views count the coins of ${state.dso}, and the DSO of ${source} is ${dso}: ` +
        'leave --dso out, name a source of the same network, or give another --data directory',
    );
}

/** Whether it begins anew where nothing but half a seed was read, whichever source or parties that was of. */
export function replaces(state: WriterState, { anew }: SourceStart): boolean {
  return anew === true && !isBegun(state);
}

/** Whether the views were built from another source than this one. */
export function isAnother({ feed }: WriterState, { identity }: SourceStart): boolean {
  return feed !== null && feed !== identity;
}

/**
 * Forgets where another source was read to: the next one continues after what it has brought. A transaction of its own: after a
 * crash behind it, a source follows these views as it follows those of files.
 */
export function forgetPositions(db: Database): void {
  db.transaction(() => {
    db.prepare('DELETE FROM position WHERE start IS NOT NULL').run();
    db.prepare('UPDATE setting SET feed = NULL').run();
  })();
}

/** The place up to which the newest migration is known of all its synchronizers. */
export function reachedOf({ migrations }: WriterState): Reached | null {
  const begun = [...migrations.values()].filter(({ timeReached }) => timeReached !== null);
  const newest = begun.sort((a, b) => a.migrationId - b.migrationId).at(-1);
  if (newest === undefined) return null;
  const { migrationId, seededAt, seedTimes, synchronizers } = newest;
  const last = [...synchronizers.values()].map(({ recordTime }) => recordTime);
  const seeded = Object.entries(seedTimes).flatMap(([synchronizer, time]) =>
    synchronizers.has(synchronizer) ? [] : [time],
  );
  const known = [...last, ...seeded];
  const recordTime = known.length > 0 ? Math.min(...known) : seededAt;
  return recordTime === null ? null : { migrationId, recordTime };
}

/** The largest time applied, of the newest migration. */
export function furthestOf({ migrations }: WriterState): Reached | null {
  const begun = [...migrations.values()].sort((a, b) => a.migrationId - b.migrationId);
  const newest = begun.findLast(({ timeReached }) => timeReached !== null);
  return newest === undefined ? null : { migrationId: newest.migrationId, recordTime: newest.timeReached! };
}

/** The largest record time of an update, of the newest migration that has one. */
export function lastUpdateOf({ migrations }: WriterState): Reached | null {
  const updated = [...migrations.values()].filter(({ updateTime }) => updateTime !== null);
  const newest = updated.sort((a, b) => a.migrationId - b.migrationId).at(-1);
  return newest === undefined ? null : { migrationId: newest.migrationId, recordTime: newest.updateTime! };
}

/**
 * Begins the lanes that are new. Synchronizers known before anything of the source is applied are from others, and the source
 * must overlap with those (PossibleGap).
 */
export function noteSourceStart(state: WriterState, start: SourceStart, source: string): void {
  const { identity, cursors, dso, followed, takesOver } = start;
  state.feed = identity;
  if (followed !== undefined) state.followed = new Set(followed);
  if (dso !== undefined) {
    state.dso = dso;
    state.dsoPinned = true;
  }
  for (const [lane, cursor] of cursors) {
    if (state.lanes.has(lane)) continue;
    const begun = newLane(source, { start: cursor, cursor });
    // Its cursor proves that it begins where the others end.
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
  return [...lanes.values()].some(({ start, cursor }) => start !== null && cursor !== start);
}
