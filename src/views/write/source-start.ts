import { FeedRefused, type SourceStart } from '../../feed/source.ts';
import { newLane } from './positions.ts';
import type { WriterState } from './state.ts';

/** Whether there is anything to store: new lanes, or a source of which nothing is applied yet. */
export function isNews(state: WriterState, { identity, cursors }: SourceStart): boolean {
  const isKnown = [...cursors.keys()].every((lane) => state.lanes.has(lane));
  return state.feed !== identity || !isKnown || !isBegun(state);
}

/**
 * Begins the lanes that are new. Synchronizers known before anything of the source is applied are from files, and the source
 * must overlap with those (PossibleGap). Throws FeedRefused where the views were built from another source.
 */
export function noteSourceStart(state: WriterState, { identity, cursors }: SourceStart, source: string): void {
  if (state.feed !== null && state.feed !== identity)
    throw new FeedRefused(
      `these views were built from ${state.feed}, and ${source} is ${identity}: ` +
        'name the source as before, or give another --data directory',
    );
  state.feed = identity;
  for (const [lane, start] of cursors) {
    if (!state.lanes.has(lane)) state.lanes.set(lane, newLane(source, { start, cursor: start }));
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
