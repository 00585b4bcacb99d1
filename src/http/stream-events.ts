import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { hasDigits, parseEventId, snapshotId } from '../holdings/event-ids.ts';
import type { HoldingsStore, SealedSnapshot } from '../holdings/facts.ts';
import type { InstrumentName } from '../holdings/instrument.ts';
import type { MovementPlace } from '../holdings/movement-facts.ts';
import { ownerEvent, snapshotEvent } from '../holdings/table-rows.ts';
import { eventText } from './event-text.ts';
import type { MovementEvents } from './stream-movements.ts';

export interface StreamRequest {
  /** Each once, in the order given. */
  readonly owners: readonly string[];
  /** Of which the changes and movements are; undefined: the coin. */
  readonly instrument: InstrumentName | undefined;
  /** What is sent of the owners. */
  readonly events: ReadonlySet<'movements' | 'snapshots'>;
  /** The id of the last event that the client had, as it gave it; null for a client that begins. */
  readonly lastEventId: string | null;
}

/** What there is to send, the same for all streams. */
export interface Heads {
  /** Null before the first snapshot. */
  readonly newest: SealedSnapshot | null;
  /** The last one whose movements were looked up; null before the first. Streams of movements are sent snapshots up to it. */
  readonly lookedTo: SealedSnapshot | null;
  /** The newest that was sealed while the service was behind its source: of those up to it, a stream is sent only the newest. */
  readonly behind: SealedSnapshot | null;
  /** Whether it is behind now. */
  readonly isBehind: boolean;
  /** The update up to which movements may be sent: no snapshot that is not known here is before it. */
  readonly updateNo: number;
}

/** Where a client continues. */
interface ResumePoint {
  /** The number of the last snapshot that it had. */
  readonly sent: number;
  readonly movements: MovementPlace;
}

/** Snapshots read at a time. */
const SNAPSHOTS_AT_ONCE = 32;
/** Owners whose changes are read at a time. */
const OWNERS_AT_ONCE = 100;
/** Written at a time, and what more an event has. */
const TEXT_CHARS = 64 * 1024;

/** How far a stream has come in the order of sealing, each snapshot behind the updates before it. It keeps no more than a page of movements. */
export type StreamPosition = ReturnType<typeof createPosition>;

export function createPosition(
  { owners, instrument, events, lastEventId }: StreamRequest,
  {
    store,
    movements,
    limits: { snapshotsBehindMax, behindIntervalMs },
  }: {
    store: HoldingsStore;
    /** Null where they are not sent. */
    movements: MovementEvents | null;
    limits: { readonly snapshotsBehindMax: number; readonly behindIntervalMs: number };
  },
) {
  let heads: Heads;
  /** The number of the last snapshot that was sent. */
  let sent = 0;
  /** A client that resumes is sent everything up to the snapshot that was the newest then. */
  let resumedUntil = 0;
  let snapshotMs = Number.NEGATIVE_INFINITY;
  /** Migrations of which snapshots were left out since the last one that was sent. */
  const leftOut = new Set<number>();

  function textOf(snapshot: SealedSnapshot, name = 'snapshot'): string {
    sent = snapshot.no;
    snapshotMs = performance.now();
    const skipped = leftOut.delete(snapshot.migrationId);
    return eventText(name, snapshotEvent(snapshot, { skipped }), snapshotId(snapshot));
  }

  /** Null where the client must be reset. */
  async function resumePoint(): Promise<ResumePoint | 'not reached' | null> {
    const id = parseEventId(lastEventId!);
    if (id === null || ('updateId' in id && !isDeepStrictEqual(id.instrument, instrument))) return null;
    // Before it is looked for: it may come in between.
    const isPassed = await store.facts({ kind: 'time passed', ...id });
    if ('updateId' in id) {
      const known = await store.facts({ kind: 'movement place', ...id });
      if (known === null) return isPassed ? null : 'not reached';
      return { sent: known.sealedBefore, movements: { updateNo: known.updateNo, place: known.place + 1 } };
    }
    const snapshot = await store.facts({ kind: 'sealed snapshot', ...id });
    if (snapshot === null) return isPassed ? null : 'not reached';
    if (!hasDigits(snapshot, id)) return null;
    if (movements !== null) {
      const history = await store.facts({ kind: 'update history', migrationId: id.migrationId });
      if (snapshot.recordTime < (history?.movementsSince ?? 0)) return null;
    }
    return { sent: snapshot.no, movements: { updateNo: snapshot.updateNo + 1, place: 0 } };
  }

  async function* begin(): AsyncGenerator<string, void> {
    if (lastEventId === null && heads.newest === null) return;
    let point: Awaited<ReturnType<typeof resumePoint>> = null;
    while (lastEventId !== null) {
      point = await resumePoint();
      if (point !== 'not reached') break;
      yield '';
    }
    const isFar = (behind: number): boolean => behind > snapshotsBehindMax;
    if (point !== null && point !== 'not reached') {
      const newestNo = heads.newest?.no ?? 0;
      // Movements are never left out, but snapshots between them may be.
      if (!isFar(newestNo - point.sent)) resumedUntil = newestNo;
      if (resumedUntil === newestNo || movements !== null) {
        sent = point.sent;
        movements?.startAt(point.movements);
        return;
      }
    }
    let newest = await store.facts({ kind: 'last sealed' });
    for (; newest === null; newest = await store.facts({ kind: 'last sealed' })) yield '';
    yield textOf(newest, lastEventId === null ? 'snapshot' : 'reset');
    movements?.startAt({ updateNo: newest.updateNo + 1, place: 0 });
  }

  /** The snapshots to send next, and the update up to which movements are sent with them. */
  async function due(): Promise<{ readonly snapshots: readonly SealedSnapshot[]; readonly updateNo: number }> {
    const { isBehind, updateNo } = heads;
    const newest = movements === null ? heads.newest : heads.lookedTo;
    if (newest === null) return { snapshots: [], updateNo };
    const behind = heads.behind !== null && heads.behind.no > newest.no ? newest : heads.behind;
    const leavesOut = behind !== null && sent < behind.no;
    const isFar = leavesOut || newest.no - sent > snapshotsBehindMax;
    if (sent < resumedUntil || !isFar) {
      const until = Math.min(newest.no, Math.max(resumedUntil, isFar ? 0 : newest.no));
      if (sent >= until) return { snapshots: [], updateNo };
      const about = { after: sent, until, rows: SNAPSHOTS_AT_ONCE };
      const snapshots = await store.facts({ kind: 'sealed snapshots', ...about });
      const last = snapshots.at(-1)!;
      return { snapshots, updateNo: last.no === newest.no ? updateNo : last.updateNo };
    }
    const only = leavesOut ? behind : newest;
    if (isBehind && performance.now() - snapshotMs < behindIntervalMs)
      return { snapshots: [], updateNo: only.updateNo };
    for (const migrationId of await store.facts({ kind: 'sealed migrations', after: sent, before: only.no }))
      leftOut.add(migrationId);
    return { snapshots: [only], updateNo: only.no === newest.no ? updateNo : only.updateNo };
  }

  async function* changes({ migrationId, recordTime }: SealedSnapshot): AsyncGenerator<string, void> {
    for (let at = 0; at < owners.length; at += OWNERS_AT_ONCE) {
      await nextTurn();
      const some = owners.slice(at, at + OWNERS_AT_ONCE);
      const about = { migrationId, instrument, owners: some, from: recordTime, to: recordTime };
      const found = await store.facts({ kind: 'changes of owners', ...about });
      const texts = found.flatMap((ofOwner, i) =>
        ofOwner.map((change) => eventText('owner', ownerEvent({ migrationId, party: some[i]!, instrument }, change))),
      );
      if (texts.length > 0) yield texts.join('');
    }
  }

  /** Empty where there is nothing more for now. */
  async function* texts(): AsyncGenerator<string, never> {
    yield* begin();
    for (;;) {
      const { snapshots, updateNo } = await due();
      for (const snapshot of snapshots) {
        if (movements !== null) yield* movements.upTo(snapshot.updateNo);
        if (events.has('snapshots')) yield* changes(snapshot);
        yield textOf(snapshot);
      }
      if (movements !== null) yield* movements.upTo(updateNo);
      yield '';
    }
  }

  const reading = texts();
  return {
    /** The events to send next, a few at a time; empty where there are none. */
    async next(now: Heads): Promise<string> {
      heads = now;
      let text = '';
      while (text.length < TEXT_CHARS) {
        const { value } = await reading.next();
        if (value === '') break;
        text += value;
      }
      return text;
    },
  };
}
