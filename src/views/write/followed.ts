import type { Database } from 'better-sqlite3';
import { FeedRefused, type SourceStart } from '../../feed/source.ts';
import { replaces } from './source-start.ts';
import type { WriterState } from './state.ts';

/** Throws FeedRefused where the source does not show all coins of the owners that count here (docs/rules.md, rule 14). */
export function checkFollowed(
  db: Database,
  state: WriterState,
  { start, source }: { start: SourceStart; source: string },
): void {
  const [{ followed }, { followed: stored }] = [start, state];
  if (followed === undefined && stored === null) return;
  if (followed === undefined)
    throw new FeedRefused(
      `these views count the coins of some parties only, and ${source} is not their participant: give another --data directory`,
    );
  if (replaces(state, start)) return;
  const given = new Set(followed);
  if (stored !== null && (given.size !== stored.size || followed.some((party) => !stored.has(party))))
    throw new FeedRefused(`these views count the coins of other parties than ${source}: give another --data directory`);
  const other = stored === null ? strangerIn(db, given) : null;
  if (other !== null)
    throw new FeedRefused(
      `these views have coins of ${other}, which ${source} does not follow: its sums would be partial; ` +
        'name it too, or give another --data directory',
    );
}

/** The first owner in the views that is none of these. */
function strangerIn(db: Database, followed: ReadonlySet<string>): string | null {
  const parties = db.prepare<[], string>('SELECT party FROM owner').pluck();
  for (const party of parties.iterate()) if (!followed.has(party)) return party;
  return null;
}
