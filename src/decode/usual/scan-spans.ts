import { CHILD_EVENT_IDS, EVENTS_MAX, EventSpans, ID } from './event-spans.ts';
import { IdLists, LISTED_MAX } from './id-lists.ts';
import {
  BRACE,
  BRACE_END,
  COMMA,
  Keys,
  NULL,
  QUOTE,
  spaceEnd,
  standsAt,
  stringEnd,
  textSpan,
  valueEnd,
  valueStart,
} from './json-bytes.ts';

/** Fields of a transaction that are looked at; their order gives the numbers below. */
const UPDATE_KEYS = new Keys([
  'update_id',
  'migration_id',
  'record_time',
  'synchronizer_id',
  'root_event_ids',
  'events_by_id',
  'event',
]);
export const UPDATE_ID = 0;
export const MIGRATION_ID = 1;
export const RECORD_TIME = 2;
export const SYNCHRONIZER_ID = 3;
const ROOT_EVENT_IDS = 4;
const EVENTS_BY_ID = 5;
const EVENT = 6;
const UPDATE_FIELDS = 7;
const UPDATE_NEEDED = 0b111111;

/**
 * Where the fields of one Scan transaction lie in its bytes: start and end of each, strings without their quotes. It is
 * filled anew for each message, and holds nothing else.
 */
export class ScanSpans {
  readonly #lists = new IdLists();
  readonly events = new EventSpans(this.#lists);
  /** The events depth first from the roots, children in order, as numbers of where they stand. */
  readonly order = new Int32Array(EVENTS_MAX);
  #bytes: Uint8Array = new Uint8Array(0);
  readonly #spans = new Int32Array(UPDATE_FIELDS * 2);
  readonly #isVisited = new Uint8Array(EVENTS_MAX);
  readonly #pending = new Int32Array(LISTED_MAX);

  start(field: number): number {
    return this.#spans[field * 2]!;
  }

  end(field: number): number {
    return this.#spans[field * 2 + 1]!;
  }

  /** False where the message is not a usual transaction: it must then be read in the general way. */
  read(bytes: Uint8Array): boolean {
    this.#bytes = bytes;
    this.events.begin(bytes);
    this.#lists.size = 0;
    const end = this.#readUpdate(spaceEnd(bytes, 0));
    return end >= 0 && spaceEnd(bytes, end) === bytes.length && this.#walk();
  }

  #readUpdate(at: number): number {
    const b = this.#bytes;
    if (b[at] !== BRACE) return -1;
    UPDATE_KEYS.seen = 0;
    let p = at;
    do {
      const start = UPDATE_KEYS.read(b, p + 1);
      if (start < 0) return -1;
      p = this.#readUpdateField(UPDATE_KEYS.found, start);
      if (p < 0) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    return b[p] === BRACE_END && (UPDATE_KEYS.seen & UPDATE_NEEDED) === UPDATE_NEEDED ? p + 1 : -1;
  }

  #readUpdateField(field: number, start: number): number {
    switch (field) {
      case UPDATE_ID:
      case RECORD_TIME:
      case SYNCHRONIZER_ID:
        return textSpan(this.#bytes, start, this.#spans, field * 2);
      case ROOT_EVENT_IDS:
        return this.#lists.read(this.#bytes, start, this.#spans, field * 2);
      case EVENTS_BY_ID:
        return this.#readEvents(start);
      case EVENT:
        return standsAt(this.#bytes, start, NULL) ? start + NULL.length : -1;
      default: {
        const end = valueEnd(this.#bytes, start);
        if (field !== MIGRATION_ID) return end;
        this.#spans[field * 2] = start;
        this.#spans[field * 2 + 1] = end;
        return end;
      }
    }
  }

  #readEvents(at: number): number {
    const b = this.#bytes;
    let p = at;
    if (b[p] !== BRACE) return -1;
    do {
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE) return -1;
      const keyStart = p + 1;
      const keyEnd = stringEnd(b, keyStart);
      if (keyEnd < 0) return -1;
      p = valueStart(b, keyEnd);
      if (p < 0) return -1;
      p = this.events.read(keyStart, keyEnd, p);
      if (p < 0 || this.#isRepeated(this.events.size - 1)) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    return b[p] === BRACE_END ? p + 1 : -1;
  }

  /** Depth first from the roots. False where an event is listed twice or not at all, or is not there: bad, or rare. */
  #walk(): boolean {
    this.#isVisited.fill(0, 0, this.events.size);
    let [visited, pending] = [0, 0];
    const push = (from: number, to: number): void => {
      for (let i = to - 1; i >= from; i--) this.#pending[pending++] = i;
    };
    push(this.start(ROOT_EVENT_IDS), this.end(ROOT_EVENT_IDS));
    while (pending > 0) {
      const event = this.#eventOf(this.#pending[--pending]!, visited);
      if (event < 0) return false;
      this.#isVisited[event] = 1;
      this.order[visited++] = event;
      if (!this.events.isCreate(event)) {
        push(this.events.start(event, CHILD_EVENT_IDS), this.events.end(event, CHILD_EVENT_IDS));
      }
    }
    return visited === this.events.size;
  }

  /** Whether an event before it has its key: of the two JSON.parse gives the last one only. */
  #isRepeated(event: number): boolean {
    const [start, end] = [this.events.start(event, ID), this.events.end(event, ID)];
    for (let other = 0; other < event; other++) if (this.#isNamed(other, start, end)) return true;
    return false;
  }

  /** The event that a list names; mostly the next one in the message. -1 for none that was not visited. */
  #eventOf(listed: number, likely: number): number {
    const [start, end] = [this.#lists.start(listed), this.#lists.end(listed)];
    const { size } = this.events;
    for (let i = 0; i < size; i++) {
      const event = likely + i < size ? likely + i : likely + i - size;
      if (this.#isVisited[event] === 0 && this.#isNamed(event, start, end)) return event;
    }
    return -1;
  }

  #isNamed(event: number, start: number, end: number): boolean {
    const idStart = this.events.start(event, ID);
    if (this.events.end(event, ID) - idStart !== end - start) return false;
    const b = this.#bytes;
    // From the end: ids of one update differ in their last characters.
    for (let i = end - start - 1; i >= 0; i--) if (b[idStart + i] !== b[start + i]) return false;
    return true;
  }
}
