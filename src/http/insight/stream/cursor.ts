import type { HoldingsStore } from '../../../holdings/facts.ts';
import { eventId, parseEventId, snapshotEvent } from '../../../holdings/insight/events.ts';
import type { SealedSnapshot } from '../../../holdings/insight/facts.ts';
import { eventText } from './event-text.ts';
import type { Sealed, SealedLog } from './sealed-log.ts';

export interface StreamRequest {
  /** Each once, in the order given. */
  readonly owners: readonly string[];
  /** The id of the last event that the client had, as it gave it; null for a client that begins. */
  readonly lastEventId: string | null;
}

/** What there is to send, the same for all streams. */
export interface Heads {
  /** Null before the first snapshot. */
  readonly newest: SealedSnapshot | null;
  /** The newest that was sealed while the service was behind its source: of those up to it, a stream is sent only the newest. */
  readonly behind: SealedSnapshot | null;
}

/** How far a stream has come in the order in which snapshots were sealed. Nothing but this is kept for it. */
export interface Cursor {
  /** The events to send next, a few at a time; empty where there are none. `mayLeaveOut`: whether snapshots may be left out now. */
  next(heads: Heads, mayLeaveOut: boolean): Promise<string>;
}

export function createCursor(
  { owners, lastEventId }: StreamRequest,
  { store, log, snapshotsBehindMax }: { store: HoldingsStore; log: SealedLog; snapshotsBehindMax: number },
): Cursor {
  /** The place of the last snapshot that was sent, or left out; null until the first is sent. */
  let place: number | null = null;
  /** A client that resumes is sent everything up to the snapshot that was the newest then. */
  let resumedUntil = 0;
  /** Migrations of which snapshots were left out since the last one that was sent. */
  const leftOut = new Set<number>();

  function textOf({ snapshot, ownersText }: Sealed): string {
    place = snapshot.no;
    const skipped = leftOut.delete(snapshot.migrationId);
    return ownersText + eventText('snapshot', snapshotEvent(snapshot, { skipped }), eventId(snapshot));
  }

  async function begin(newest: SealedSnapshot): Promise<string> {
    if (lastEventId !== null) {
      const id = parseEventId(lastEventId);
      const last = id && (await store.facts({ kind: 'sealed place', ...id }));
      if (last !== null && newest.no - last <= snapshotsBehindMax) {
        place = last;
        resumedUntil = newest.no;
        return all(last, newest.no);
      }
    }
    place = newest.no;
    const name = lastEventId === null ? 'snapshot' : 'reset';
    return eventText(name, snapshotEvent(newest, { skipped: false }), eventId(newest));
  }

  async function all(after: number, until: number): Promise<string> {
    if (after >= until) return '';
    const found = await log.after({ place: after, until }, owners);
    return found.map(textOf).join('');
  }

  async function only(after: number, snapshot: SealedSnapshot): Promise<string> {
    const between = { after, before: snapshot.no };
    for (const migrationId of await store.facts({ kind: 'sealed migrations', ...between })) leftOut.add(migrationId);
    const [sealed] = await log.withOwners([snapshot], owners);
    return textOf(sealed!);
  }

  return {
    async next({ newest, behind }, mayLeaveOut) {
      if (newest === null) {
        if (lastEventId === null) place = 0;
        return '';
      }
      if (place === null) return begin(newest);
      if (place < resumedUntil) return all(place, resumedUntil);
      const isBehind = behind !== null && place < behind.no;
      if (!isBehind && newest.no - place <= snapshotsBehindMax) return all(place, newest.no);
      return mayLeaveOut ? only(place, isBehind ? behind : newest) : '';
    },
  };
}
