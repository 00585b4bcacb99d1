import { areSignatories, COIN_FIELDS, readAmulet, readLockedAmulet } from './coin-spans.ts';
import {
  BRACE,
  BRACE_END,
  BRACKET,
  BRACKET_END,
  bytesOf,
  COMMA,
  FALSE,
  Keys,
  NULL,
  QUOTE,
  spaceEnd,
  standsAt,
  stringEnd,
  TRUE,
  valueEnd,
  valueStart,
} from './json-bytes.ts';

/** Fields of a transaction, and of an event, that are looked at; their order gives the numbers below. */
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

const EVENT_KEYS = new Keys([
  'event_type',
  'event_id',
  'contract_id',
  'template_id',
  'package_name',
  'create_arguments',
  'created_at',
  'signatories',
  'observers',
  'child_event_ids',
  'consuming',
]);
const EVENT_TYPE = 0;
export const EVENT_ID = 1;
export const CONTRACT_ID = 2;
export const TEMPLATE_ID = 3;
export const PACKAGE_NAME = 4;
const CREATE_ARGUMENTS = 5;
export const CREATED_AT = 6;
const SIGNATORIES = 7;
const OBSERVERS = 8;
const CHILD_EVENT_IDS = 9;
const CONSUMING = 10;
/** Behind the fields: the whole event, and the key it stands under. */
export const WHOLE = 11;
const ID = 12;
/** The texts of a coin's arguments, where they are written as usual. */
const COIN = 13;
const EVENT_FIELDS = COIN + COIN_FIELDS;

/** How a create's arguments are written: as an Amulet's, as a LockedAmulet's, or in another way. */
export const FORM = { other: 0, amulet: 1, locked: 2 } as const;

const CREATED_NEEDED = 0b001_1111_1111;
const EXERCISED_NEEDED = 0b110_0001_1101;

const NO_OBSERVERS = bytesOf('[]');
const EVENTS_MAX = 256;
const LISTED_MAX = 1024;
const CREATED_EVENT = bytesOf('"created_event"');
const EXERCISED_EVENT = bytesOf('"exercised_event"');

/**
 * Where the fields of one Scan transaction lie in its bytes: start and end of each, strings without their quotes. It is
 * filled anew for each message, and holds nothing else.
 */
export class ScanSpans {
  bytes: Uint8Array = new Uint8Array(0);
  /** Events found; `order` has as many. */
  events = 0;
  /** The events depth first from the roots, children in order, as numbers of where they stand. */
  readonly order = new Int32Array(EVENTS_MAX);
  readonly #update = new Int32Array(UPDATE_FIELDS * 2);
  readonly #event = new Int32Array(EVENTS_MAX * EVENT_FIELDS * 2);
  readonly #isCreate = new Uint8Array(EVENTS_MAX);
  readonly #form = new Uint8Array(EVENTS_MAX);
  readonly #isVisited = new Uint8Array(EVENTS_MAX);
  /** Ids of the roots' and children's lists, start and end; a list is a range of them. */
  readonly #listed = new Int32Array(LISTED_MAX * 2);
  #listedEnd = 0;
  readonly #pending = new Int32Array(LISTED_MAX);

  updateStart(field: number): number {
    return this.#update[field * 2]!;
  }

  updateEnd(field: number): number {
    return this.#update[field * 2 + 1]!;
  }

  start(event: number, field: number): number {
    return this.#event[(event * EVENT_FIELDS + field) * 2]!;
  }

  end(event: number, field: number): number {
    return this.#event[(event * EVENT_FIELDS + field) * 2 + 1]!;
  }

  /** One of FORM. */
  form(event: number): number {
    return this.#form[event]!;
  }

  /** Start and end of a text of a coin's arguments; `text` is one of coin-spans. */
  coinStart(event: number, text: number): number {
    return this.start(event, COIN + text);
  }

  coinEnd(event: number, text: number): number {
    return this.end(event, COIN + text);
  }

  /** Whether dso and owner sign it, and nobody observes it. */
  hasUsualStakeholders(event: number): boolean {
    const [b, observers] = [this.bytes, this.start(event, OBSERVERS)];
    const base = (event * EVENT_FIELDS + COIN) * 2;
    return (
      this.end(event, OBSERVERS) - observers === NO_OBSERVERS.length &&
      standsAt(b, observers, NO_OBSERVERS) &&
      areSignatories(b, this.start(event, SIGNATORIES), this.end(event, SIGNATORIES), this.#event, base)
    );
  }

  isCreate(event: number): boolean {
    return this.#isCreate[event] === 1;
  }

  /** Null for what is neither true nor false. */
  isConsuming(event: number): boolean | null {
    const first = this.bytes[this.start(event, CONSUMING)];
    if (first === TRUE[0]) return true;
    return first === FALSE[0] ? false : null;
  }

  /** False where the message is not a usual transaction: it must then be read in the general way. */
  read(bytes: Uint8Array): boolean {
    this.bytes = bytes;
    this.events = 0;
    this.#listedEnd = 0;
    const end = this.#readUpdate(spaceEnd(bytes, 0));
    return end >= 0 && spaceEnd(bytes, end) === bytes.length && this.#walk();
  }

  #readUpdate(at: number): number {
    const b = this.bytes;
    let seen = 0;
    let p = at;
    if (b[p] !== BRACE) return -1;
    do {
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE) return -1;
      const keyEnd = stringEnd(b, p + 1);
      if (keyEnd < 0) return -1;
      const field = UPDATE_KEYS.find(b, p + 1, keyEnd);
      const start = valueStart(b, keyEnd);
      if (start < 0) return -1;
      if (field >= 0) {
        if ((seen & (1 << field)) !== 0) return -1;
        seen |= 1 << field;
      }
      p = this.#readUpdateField(field, start);
      if (p < 0) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    return b[p] === BRACE_END && (seen & UPDATE_NEEDED) === UPDATE_NEEDED ? p + 1 : -1;
  }

  #readUpdateField(field: number, start: number): number {
    switch (field) {
      case UPDATE_ID:
      case RECORD_TIME:
      case SYNCHRONIZER_ID:
        return this.#readText(this.#update, field * 2, start);
      case ROOT_EVENT_IDS:
        return this.#readIds(this.#update, field * 2, start);
      case EVENTS_BY_ID:
        return this.#readEvents(start);
      case EVENT:
        return standsAt(this.bytes, start, NULL) ? start + NULL.length : -1;
      default: {
        const end = valueEnd(this.bytes, start);
        if (field === MIGRATION_ID) this.#set(this.#update, field * 2, start, end);
        return end;
      }
    }
  }

  #readEvents(at: number): number {
    const b = this.bytes;
    let p = at;
    if (b[p] !== BRACE) return -1;
    do {
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE || this.events === EVENTS_MAX) return -1;
      const keyEnd = stringEnd(b, p + 1);
      if (keyEnd < 0) return -1;
      this.#set(this.#event, (this.events * EVENT_FIELDS + ID) * 2, p + 1, keyEnd);
      p = valueStart(b, keyEnd);
      if (p < 0) return -1;
      p = this.#readEvent(p);
      if (p < 0) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    return b[p] === BRACE_END ? p + 1 : -1;
  }

  #readEvent(at: number): number {
    const b = this.bytes;
    const base = this.events * EVENT_FIELDS * 2;
    let seen = 0;
    let p = at;
    if (b[p] !== BRACE) return -1;
    do {
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE) return -1;
      const keyEnd = stringEnd(b, p + 1);
      if (keyEnd < 0) return -1;
      const field = EVENT_KEYS.find(b, p + 1, keyEnd);
      const start = valueStart(b, keyEnd);
      if (start < 0) return -1;
      if (field < 0) {
        p = valueEnd(b, start);
      } else {
        if ((seen & (1 << field)) !== 0) return -1;
        seen |= 1 << field;
        p = this.#readEventField(field, start, base);
      }
      if (p < 0) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    if (b[p] !== BRACE_END) return -1;
    const needed = this.#isCreate[this.events] === 1 ? CREATED_NEEDED : EXERCISED_NEEDED;
    if ((seen & needed) !== needed) return -1;
    this.#set(this.#event, base + WHOLE * 2, at, p + 1);
    this.#isVisited[this.events] = 0;
    this.events += 1;
    return p + 1;
  }

  #readEventField(field: number, start: number, base: number): number {
    switch (field) {
      case EVENT_ID:
      case CONTRACT_ID:
      case TEMPLATE_ID:
      case PACKAGE_NAME:
      case CREATED_AT:
        return this.#readText(this.#event, base + field * 2, start);
      case CHILD_EVENT_IDS:
        return this.#readIds(this.#event, base + field * 2, start);
      case EVENT_TYPE: {
        const isCreate = standsAt(this.bytes, start, CREATED_EVENT);
        this.#isCreate[this.events] = isCreate ? 1 : 0;
        if (isCreate) return start + CREATED_EVENT.length;
        return standsAt(this.bytes, start, EXERCISED_EVENT) ? start + EXERCISED_EVENT.length : -1;
      }
      case CREATE_ARGUMENTS:
        return this.#readArguments(start, base);
      default: {
        const end = valueEnd(this.bytes, start);
        this.#set(this.#event, base + field * 2, start, end);
        return end;
      }
    }
  }

  #readArguments(start: number, base: number): number {
    const coin = base + COIN * 2;
    let form: number = FORM.amulet;
    let end = readAmulet(this.bytes, start, this.#event, coin);
    if (end < 0) {
      form = FORM.locked;
      end = readLockedAmulet(this.bytes, start, this.#event, coin);
    }
    this.#form[this.events] = end < 0 ? FORM.other : form;
    return end < 0 ? valueEnd(this.bytes, start) : end;
  }

  /** A string that is not empty. */
  #readText(spans: Int32Array, at: number, start: number): number {
    if (this.bytes[start] !== QUOTE) return -1;
    const end = stringEnd(this.bytes, start + 1);
    if (end <= start + 1) return -1;
    this.#set(spans, at, start + 1, end);
    return end + 1;
  }

  /** A list of strings; the span is a range of `#listed`. */
  #readIds(spans: Int32Array, at: number, start: number): number {
    const b = this.bytes;
    const first = this.#listedEnd;
    if (b[start] !== BRACKET) return -1;
    let p = spaceEnd(b, start + 1);
    while (b[p] !== BRACKET_END) {
      if (b[p] !== QUOTE || this.#listedEnd === LISTED_MAX) return -1;
      const end = stringEnd(b, p + 1);
      if (end < 0) return -1;
      this.#set(this.#listed, this.#listedEnd * 2, p + 1, end);
      this.#listedEnd += 1;
      p = spaceEnd(b, end + 1);
      if (b[p] === BRACKET_END) break;
      if (b[p] !== COMMA) return -1;
      p = spaceEnd(b, p + 1);
      if (b[p] !== QUOTE) return -1;
    }
    this.#set(spans, at, first, this.#listedEnd);
    return p + 1;
  }

  #set(spans: Int32Array, at: number, start: number, end: number): void {
    spans[at] = start;
    spans[at + 1] = end;
  }

  /** Depth first from the roots. False where an event is listed twice or not at all, or is not there: bad, or rare. */
  #walk(): boolean {
    let [visited, pending] = [0, 0];
    const push = (from: number, to: number): void => {
      for (let i = to - 1; i >= from; i--) this.#pending[pending++] = i;
    };
    push(this.updateStart(ROOT_EVENT_IDS), this.updateEnd(ROOT_EVENT_IDS));
    while (pending > 0) {
      const event = this.#eventOf(this.#pending[--pending]!, visited);
      if (event < 0) return false;
      this.#isVisited[event] = 1;
      this.order[visited++] = event;
      if (this.#isCreate[event] === 0) push(this.start(event, CHILD_EVENT_IDS), this.end(event, CHILD_EVENT_IDS));
    }
    return visited === this.events;
  }

  /** The event that a list names; mostly the next one in the message. -1 for none that was not visited. */
  #eventOf(listed: number, likely: number): number {
    const [start, end] = [this.#listed[listed * 2]!, this.#listed[listed * 2 + 1]!];
    for (let i = 0; i < this.events; i++) {
      const event = likely + i < this.events ? likely + i : likely + i - this.events;
      if (this.#isVisited[event] === 0 && this.#isNamed(event, start, end)) return event;
    }
    return -1;
  }

  #isNamed(event: number, start: number, end: number): boolean {
    const idStart = this.start(event, ID);
    if (this.end(event, ID) - idStart !== end - start) return false;
    const b = this.bytes;
    // From the end: ids of one update differ in their last characters.
    for (let i = end - start - 1; i >= 0; i--) if (b[idStart + i] !== b[start + i]) return false;
    return true;
  }
}
