import { areSignatories, COIN_FIELDS, readAmulet, readLockedAmulet } from './coin-spans.ts';
import type { IdLists } from './id-lists.ts';
import {
  BRACE,
  BRACE_END,
  bytesOf,
  COMMA,
  FALSE,
  Keys,
  spaceEnd,
  standsAt,
  TRUE,
  textSpan,
  valueEnd,
} from './json-bytes.ts';

/** Fields of an event that are looked at; their order gives the numbers below. */
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
export const CHILD_EVENT_IDS = 9;
const CONSUMING = 10;
/** Behind the fields: the whole event, and the key it stands under. */
export const WHOLE = 11;
export const ID = 12;
/** The texts of a coin's arguments, where they are written as usual. */
const COIN = 13;
const EVENT_FIELDS = COIN + COIN_FIELDS;

/** How a create's arguments are written: as an Amulet's, as a LockedAmulet's, or in another way. */
export const FORM = { other: 0, amulet: 1, locked: 2 } as const;

const CREATED_NEEDED = 0b001_1111_1111;
const EXERCISED_NEEDED = 0b110_0001_1101;

const NO_OBSERVERS = bytesOf('[]');
export const EVENTS_MAX = 256;
const CREATED_EVENT = bytesOf('"created_event"');
const EXERCISED_EVENT = bytesOf('"exercised_event"');

/** Where the fields of the events of one message lie: start and end of each, strings without their quotes. */
export class EventSpans {
  size = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  readonly #lists: IdLists;
  readonly #spans = new Int32Array(EVENTS_MAX * EVENT_FIELDS * 2);
  readonly #isCreate = new Uint8Array(EVENTS_MAX);
  readonly #form = new Uint8Array(EVENTS_MAX);

  /** Children's ids go to `lists`. */
  constructor(lists: IdLists) {
    this.#lists = lists;
  }

  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.size = 0;
  }

  start(event: number, field: number): number {
    return this.#spans[(event * EVENT_FIELDS + field) * 2]!;
  }

  end(event: number, field: number): number {
    return this.#spans[(event * EVENT_FIELDS + field) * 2 + 1]!;
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
    const [b, observers] = [this.#bytes, this.start(event, OBSERVERS)];
    const base = (event * EVENT_FIELDS + COIN) * 2;
    return (
      this.end(event, OBSERVERS) - observers === NO_OBSERVERS.length &&
      standsAt(b, observers, NO_OBSERVERS) &&
      areSignatories(b, this.start(event, SIGNATORIES), this.end(event, SIGNATORIES), this.#spans, base)
    );
  }

  isCreate(event: number): boolean {
    return this.#isCreate[event] === 1;
  }

  /** Null for what is neither true nor false. */
  isConsuming(event: number): boolean | null {
    const first = this.#bytes[this.start(event, CONSUMING)];
    if (first === TRUE[0]) return true;
    return first === FALSE[0] ? false : null;
  }

  /** Reads the event at `at`, which stands under that key: the position behind it, or -1. */
  read(keyStart: number, keyEnd: number, at: number): number {
    const b = this.#bytes;
    if (this.size === EVENTS_MAX) return -1;
    const base = this.size * EVENT_FIELDS * 2;
    this.#set(base + ID * 2, keyStart, keyEnd);
    if (b[at] !== BRACE) return -1;
    EVENT_KEYS.seen = 0;
    let p = at;
    do {
      const start = EVENT_KEYS.read(b, p + 1);
      if (start < 0) return -1;
      p = EVENT_KEYS.found < 0 ? valueEnd(b, start) : this.#readEventField(EVENT_KEYS.found, start, base);
      if (p < 0) return -1;
      p = spaceEnd(b, p);
    } while (b[p] === COMMA);
    if (b[p] !== BRACE_END) return -1;
    const needed = this.#isCreate[this.size] === 1 ? CREATED_NEEDED : EXERCISED_NEEDED;
    if ((EVENT_KEYS.seen & needed) !== needed) return -1;
    this.#set(base + WHOLE * 2, at, p + 1);
    this.size += 1;
    return p + 1;
  }

  #readEventField(field: number, start: number, base: number): number {
    switch (field) {
      case EVENT_ID:
      case CONTRACT_ID:
      case TEMPLATE_ID:
      case PACKAGE_NAME:
      case CREATED_AT:
        return textSpan(this.#bytes, start, this.#spans, base + field * 2);
      case CHILD_EVENT_IDS:
        return this.#lists.read(this.#bytes, start, this.#spans, base + field * 2);
      case EVENT_TYPE: {
        const isCreate = standsAt(this.#bytes, start, CREATED_EVENT);
        this.#isCreate[this.size] = isCreate ? 1 : 0;
        if (isCreate) return start + CREATED_EVENT.length;
        return standsAt(this.#bytes, start, EXERCISED_EVENT) ? start + EXERCISED_EVENT.length : -1;
      }
      case CREATE_ARGUMENTS:
        return this.#readArguments(start, base);
      default: {
        const end = valueEnd(this.#bytes, start);
        this.#set(base + field * 2, start, end);
        return end;
      }
    }
  }

  #readArguments(start: number, base: number): number {
    const coin = base + COIN * 2;
    let form: number = FORM.amulet;
    let end = readAmulet(this.#bytes, start, this.#spans, coin);
    if (end < 0) {
      form = FORM.locked;
      end = readLockedAmulet(this.#bytes, start, this.#spans, coin);
    }
    this.#form[this.size] = end < 0 ? FORM.other : form;
    return end < 0 ? valueEnd(this.#bytes, start) : end;
  }

  #set(at: number, start: number, end: number): void {
    this.#spans[at] = start;
    this.#spans[at + 1] = end;
  }
}
