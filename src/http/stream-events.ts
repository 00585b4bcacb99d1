import type { Facts, HoldingsStore, SealedSnapshot } from '../holdings/facts.ts';
import { eventId, ownerEvent, parseEventId, snapshotEvent } from '../holdings/table-rows.ts';

/** A comment, which clients ignore. */
export const COMMENT = ':\n\n';

/** An event as it is sent. JSON has no line ends, so the data is one line. */
export function eventText(name: string, data: object, id: string | null = null): string {
  return `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

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
export type StreamPosition = ReturnType<typeof createPosition>;

export function createPosition(
  { owners, lastEventId }: StreamRequest,
  { store, snapshotsBehindMax }: { store: HoldingsStore; snapshotsBehindMax: number },
) {
  /** The number of the last snapshot that was sent, or left out; null until the first is sent. */
  let sent: number | null = null;
  /** A client that resumes is sent everything up to the snapshot that was the newest then. */
  let resumedUntil = 0;
  /** Migrations of which snapshots were left out since the last one that was sent. */
  const leftOut = new Set<number>();

  function textOf({ snapshot, ownersText }: Sealed): string {
    sent = snapshot.no;
    const skipped = leftOut.delete(snapshot.migrationId);
    return ownersText + eventText('snapshot', snapshotEvent(snapshot, { skipped }), eventId(snapshot));
  }

  async function begin(newest: SealedSnapshot): Promise<string> {
    if (lastEventId !== null) {
      const id = parseEventId(lastEventId);
      const last = id && (await store.facts({ kind: 'sealed place', ...id }));
      if (last !== null && newest.no - last <= snapshotsBehindMax) {
        sent = last;
        resumedUntil = newest.no;
        return all(last, newest.no);
      }
    }
    sent = newest.no;
    const name = lastEventId === null ? 'snapshot' : 'reset';
    return eventText(name, snapshotEvent(newest, { skipped: false }), eventId(newest));
  }

  async function all(after: number, until: number): Promise<string> {
    if (after >= until) return '';
    const rows = Math.min(SNAPSHOTS_AT_ONCE, Math.max(1, Math.floor(OWNER_EVENTS_AT_ONCE / owners.length)));
    const found = await store.facts({ kind: 'sealed snapshots', after, until, rows });
    return (await withOwners(store, found, owners)).map(textOf).join('');
  }

  async function only(after: number, snapshot: SealedSnapshot): Promise<string> {
    const between = await store.facts({ kind: 'sealed migrations', after, before: snapshot.no });
    for (const migrationId of between) leftOut.add(migrationId);
    const [sealed] = await withOwners(store, [snapshot], owners);
    return textOf(sealed!);
  }

  return {
    /** The events to send next, a few at a time; empty where there are none. `mayLeaveOut`: whether snapshots may be left out now. */
    async next({ newest, behind }: Heads, mayLeaveOut: boolean): Promise<string> {
      if (newest === null) {
        if (lastEventId === null) sent = 0;
        return '';
      }
      if (sent === null) return begin(newest);
      if (sent < resumedUntil) return all(sent, resumedUntil);
      const isBehind = behind !== null && sent < behind.no;
      if (!isBehind && newest.no - sent <= snapshotsBehindMax) return all(sent, newest.no);
      return mayLeaveOut ? only(sent, isBehind ? behind : newest) : '';
    },
  };
}

/** A snapshot, and the text of the owner events that come before its own. */
interface Sealed {
  readonly snapshot: SealedSnapshot;
  readonly ownersText: string;
}

/** Read at a time: this many, or as many as have that many owner events, so that no stream holds up the others. */
const SNAPSHOTS_AT_ONCE = 32;
const OWNER_EVENTS_AT_ONCE = 128;

async function withOwners(
  store: HoldingsStore,
  snapshots: readonly SealedSnapshot[],
  owners: readonly string[],
): Promise<readonly Sealed[]> {
  const changes = new Map<number, Facts<'changes of owners'>>();
  if (owners.length > 0)
    for (const [migrationId, own] of Map.groupBy(snapshots, (snapshot) => snapshot.migrationId)) {
      const [from, to] = [own[0]!.recordTime, own.at(-1)!.recordTime];
      changes.set(migrationId, await store.facts({ kind: 'changes of owners', migrationId, owners, from, to }));
    }
  return snapshots.map((snapshot) => {
    const { migrationId, recordTime } = snapshot;
    const texts = changes.get(migrationId)?.map((ofOwner, i) => {
      const change = ofOwner.find((each) => each.recordTime === recordTime);
      return change === undefined ? '' : eventText('owner', ownerEvent(migrationId, owners[i]!, change));
    });
    return { snapshot, ownersText: texts?.join('') ?? '' };
  });
}
