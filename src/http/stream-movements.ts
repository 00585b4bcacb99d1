import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOrMake } from '../get-or-make.ts';
import { movementId } from '../holdings/event-ids.ts';
import type { HoldingsStore } from '../holdings/facts.ts';
import { movementEvent } from '../holdings/movement-answers.ts';
import type { MovementPlace, OwnersMovement } from '../holdings/movement-facts.ts';
import { eventText } from './event-text.ts';

/** What is read ahead for a stream. */
const MOVEMENTS_AT_ONCE = 128;

/** A stream whose owners are watched. */
interface Watcher {
  /** Of its owners those that have moved since it last read their movements; null: that is not known. */
  moved: Set<string> | null;
  readonly onMoved: () => void;
}

/** Which owners moved, looked for once for all streams. */
export function createMovementWatch(store: HoldingsStore) {
  const watchers = new Map<string, Set<Watcher>>();
  let streams = 0;
  let lookedTo = 0;
  let isLooking = false;

  async function look(updateNo: number): Promise<void> {
    const moved = new Set<string>();
    for (let after = lookedTo; streams > 0 && after < updateNo; ) {
      const { to, owners } = await store.facts({ kind: 'moved owners', after, until: updateNo });
      for (const owner of owners) if (watchers.has(owner)) moved.add(owner);
      after = to;
      await nextTurn();
    }
    // All at once: a stream that reads in between must not take a part of it for the whole.
    lookedTo = Math.max(lookedTo, updateNo);
    for (const owner of moved)
      for (const watcher of watchers.get(owner) ?? []) {
        watcher.moved?.add(owner);
        watcher.onMoved();
      }
  }

  return {
    /** Whether any stream is of movements. */
    isUsed: () => streams > 0,
    /** The number of the update that was looked up to. */
    lookedTo: () => lookedTo,
    /** Looks up to an update, and calls the streams of owners that moved. */
    async lookUpTo(updateNo: number): Promise<void> {
      isLooking = true;
      await look(updateNo).finally(() => {
        isLooking = false;
      });
    },
    /** The movements of a stream's owners; `onMoved` is called when one has moved. */
    open(owners: readonly string[], onMoved: () => void) {
      const watcher: Watcher = { moved: null, onMoved };
      streams += 1;
      for (const owner of owners) getOrMake(watchers, owner, () => new Set()).add(watcher);
      const events = createMovementEvents(owners, {
        store,
        watcher,
        lookedTo: () => lookedTo,
        isLooking: () => isLooking,
      });
      const close = (): void => {
        streams -= 1;
        for (const owner of owners) {
          const others = watchers.get(owner)!;
          others.delete(watcher);
          if (others.size === 0) watchers.delete(owner);
        }
      };
      return { ...events, close };
    },
  };
}

export type MovementEvents = ReturnType<typeof createMovementEvents>;

/** The events of owners' movements in order, from a place on. */
function createMovementEvents(
  owners: readonly string[],
  {
    store,
    watcher,
    lookedTo,
    isLooking,
  }: { store: HoldingsStore; watcher: Watcher; lookedTo: () => number; isLooking: () => boolean },
) {
  /** Where the next page begins. */
  let from: MovementPlace = { updateNo: 1, place: 0 };
  let page: readonly OwnersMovement[] = [];
  let at = 0;
  /** Behind the page there is no movement up to this update. */
  let readTo = 0;

  async function readPage(): Promise<void> {
    const until = lookedTo();
    const moved = watcher.moved === null ? owners : [...watcher.moved];
    const rows = MOVEMENTS_AT_ONCE;
    page =
      moved.length === 0 ? [] : await store.facts({ kind: 'movements of owners', owners: moved, from, until, rows });
    at = 0;
    const last = page.at(-1);
    if (last !== undefined && page.length === rows) {
      from = { updateNo: last.updateNo, place: last.place + 1 };
      readTo = last.updateNo - 1;
      return;
    }
    from = { updateNo: until + 1, place: 0 };
    readTo = until;
    // A look that is under way may have passed owners before this stream was there.
    if (lookedTo() === until && !isLooking()) watcher.moved = new Set();
  }

  return {
    startAt(place: MovementPlace): void {
      from = place;
      readTo = place.updateNo - 1;
    },
    /** The events of the updates up to one that was looked up to, those sent before left out. */
    async *upTo(updateNo: number): AsyncGenerator<string, void> {
      for (;;) {
        for (let next = page[at]; next !== undefined && next.updateNo <= updateNo; next = page[at]) {
          at += 1;
          yield eventText('movement', movementEvent(next), movementId(next));
        }
        if (at < page.length || readTo >= updateNo) return;
        await readPage();
      }
    },
  };
}
