import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOrMake } from '../get-or-make.ts';
import { movementId } from '../holdings/event-ids.ts';
import type { HoldingsStore } from '../holdings/facts.ts';
import type { OfInstrument } from '../holdings/instrument.ts';
import { movementEvent } from '../holdings/movement-answers.ts';
import type { MovementPlace, OwnersMovement } from '../holdings/movement-facts.ts';
import { eventText } from './event-text.ts';

/** What is read for one stream at a time, and the most that waits for it of what was read for all. */
const MOVEMENTS_AT_ONCE = 128;
/** What is read for all at a time: the balances of those that move the most are looked up once for all of it. */
const MOVEMENTS_OF_ALL_AT_ONCE = 4_096;

interface MovementText extends MovementPlace {
  readonly text: string;
}

/** A stream whose owners are watched. */
interface Watcher {
  /** Its movements in the updates after `aheadFrom`, up to the one that was looked up to. What is before is read for it alone. */
  ahead: MovementText[];
  aheadFrom: number;
  readonly onMoved: () => void;
}

type OwnersOf = OfInstrument & { readonly owners: readonly string[] };

interface Watched extends OfInstrument {
  readonly watchers: Map<string, Set<Watcher>>;
}

/** The movements of all streams' owners, each read once while its streams keep up. */
export function createMovementWatch(store: HoldingsStore) {
  const watched = new Map<string, Watched>();
  let streams = 0;
  let lookedTo = 0;
  /** Those that were opened while movements are read: not for them. */
  let opened: Set<Watcher> | null = null;

  /** Reads the movements of the first updates behind those looked up to. What fails is begun again. */
  async function lookFurther(updateNo: number): Promise<void> {
    const late = new Set<Watcher>();
    opened = late;
    const { to, owners } = await store.facts({ kind: 'moved owners', after: lookedTo, until: updateNo });
    for (const each of [...watched.values()]) await readAhead(each, owners, to);
    for (const watcher of late) watcher.aheadFrom = to;
    opened = null;
    lookedTo = to;
  }

  /** Of these owners, which moved something in the updates up to one. */
  async function readAhead({ instrument, watchers }: Watched, moved: readonly string[], until: number): Promise<void> {
    const owners = moved.filter((owner) => watchers.has(owner));
    let from: MovementPlace = { updateNo: lookedTo + 1, place: 0 };
    for (let isMore = owners.length > 0; isMore; ) {
      const rows = MOVEMENTS_OF_ALL_AT_ONCE;
      const page = await store.facts({ kind: 'movements of owners', instrument, owners, from, until, rows });
      for (const movement of page) {
        const watching = [...(watchers.get(movement.party) ?? [])].filter((each) => !opened?.has(each));
        if (watching.length === 0) continue;
        const next = textOf(movement);
        for (const watcher of watching) add(watcher, next);
      }
      isMore = page.length === rows;
      if (isMore) from = behind(page.at(-1)!);
      await nextTurn();
    }
  }

  /** A stream that does not keep up reads by itself what waited for it. */
  function add(watcher: Watcher, movement: MovementText): void {
    const last = watcher.ahead.at(-1);
    if (movement.updateNo <= watcher.aheadFrom || (last !== undefined && isBefore(movement, behind(last)))) return;
    if (watcher.ahead.length === MOVEMENTS_AT_ONCE) {
      watcher.ahead = [];
      watcher.aheadFrom = movement.updateNo;
    } else watcher.ahead.push(movement);
    watcher.onMoved();
  }

  return {
    /** Whether any stream is of movements. */
    isUsed: () => streams > 0,
    /** The number of the update that was looked up to. */
    lookedTo: () => lookedTo,
    /** Looks up to an update, and calls the streams of owners that moved; behind the source at the first updates only, not to delay the ingest. */
    async lookUpTo(updateNo: number, { isBehind }: { readonly isBehind: boolean }): Promise<void> {
      while (streams > 0 && lookedTo < updateNo) {
        await lookFurther(updateNo);
        if (isBehind) return;
      }
      lookedTo = Math.max(lookedTo, updateNo);
    },
    /** The movements of a stream's owners; `onMoved` is called when one has moved. */
    open({ owners, instrument }: OwnersOf, onMoved: () => void) {
      const watcher: Watcher = { ahead: [], aheadFrom: lookedTo, onMoved };
      streams += 1;
      opened?.add(watcher);
      const key = JSON.stringify([instrument?.admin, instrument?.id]);
      const { watchers } = getOrMake(watched, key, () => ({ instrument, watchers: new Map() }));
      for (const owner of owners) getOrMake(watchers, owner, () => new Set()).add(watcher);
      const close = (): void => {
        streams -= 1;
        for (const owner of owners) {
          const others = watchers.get(owner)!;
          others.delete(watcher);
          if (others.size === 0) watchers.delete(owner);
        }
        if (watchers.size === 0 && watched.get(key)?.watchers === watchers) watched.delete(key);
      };
      return { ...createMovementEvents({ owners, instrument }, { store, watcher, lookedTo: () => lookedTo }), close };
    },
  };
}

export type MovementEvents = ReturnType<typeof createMovementEvents>;

/** The events of owners' movements in order, from a place on. */
function createMovementEvents(
  of: OwnersOf,
  { store, watcher, lookedTo }: { store: HoldingsStore; watcher: Watcher; lookedTo: () => number },
) {
  /** Where the next one may be. */
  let from: MovementPlace = { updateNo: 1, place: 0 };
  let page: MovementText[] = [];

  /** The next movements where nothing was read ahead; those up to `until` at the most. */
  async function readPage(until: number): Promise<void> {
    const rows = MOVEMENTS_AT_ONCE;
    const found = await store.facts({ kind: 'movements of owners', ...of, from, until, rows });
    page = found.map(textOf);
    from = found.length === rows ? behind(found.at(-1)!) : { updateNo: until + 1, place: 0 };
  }

  return {
    startAt(place: MovementPlace): void {
      from = place;
    },
    /** The events of the updates up to one that was looked up to, those sent before left out. */
    async *upTo(updateNo: number): AsyncGenerator<string, void> {
      for (;;) {
        while (page.length > 0 && page[0]!.updateNo <= updateNo) yield page.shift()!.text;
        if (page.length > 0) return;
        const until = Math.min(watcher.aheadFrom, lookedTo());
        if (from.updateNo <= until) {
          await readPage(until);
          continue;
        }
        const next = watcher.ahead[0];
        if (next === undefined || next.updateNo > updateNo) break;
        watcher.ahead.shift();
        if (isBefore(next, from)) continue;
        from = behind(next);
        yield next.text;
      }
      const all = { updateNo: updateNo + 1, place: 0 };
      if (isBefore(from, all)) from = all;
    },
  };
}

function behind({ updateNo, place }: MovementPlace): MovementPlace {
  return { updateNo, place: place + 1 };
}

function isBefore(a: MovementPlace, b: MovementPlace): boolean {
  return a.updateNo < b.updateNo || (a.updateNo === b.updateNo && a.place < b.place);
}

function textOf(movement: OwnersMovement): MovementText {
  const { updateNo, place } = movement;
  return { updateNo, place, text: eventText('movement', movementEvent(movement), movementId(movement)) };
}
