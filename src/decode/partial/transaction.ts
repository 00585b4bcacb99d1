import { mayBeOurs } from '../create.ts';
import type { Wire } from '../values.ts';
import { EventTree } from './event-tree.ts';
import {
  BRACE,
  BRACKET,
  BYTES,
  COLON,
  FALSE,
  hasEscapes,
  index,
  isLoaded,
  keyEnd,
  keyStart,
  load,
  memberCount,
  memberEnd,
  messageBytesMax,
  NULL,
  type Piece,
  pieceOf,
  plainTextEnd,
  QUOTE,
  spaceEnd,
  standsAt,
  valueEnd,
  valueStart,
  WORD_BYTES,
  wordAt,
} from './indexed-json.ts';

/** A Scan transaction without most of what is not used, as JSON.parse would return it. */
export interface PartialTransaction {
  /** Its members, except for its events and the list of their roots. */
  readonly header: Wire;
  /** Depth first from the roots, children in order. */
  readonly events: readonly Wire[];
  /** The id of the event with that number in `events`; only valid until the next message is parsed. */
  eventId(event: number): string;
}

export interface PartialRead {
  readonly transaction: PartialTransaction;
  readonly end: number;
  /** The end of the white space behind it. */
  readonly next: number;
}

/** How much of a text of many messages is copied at once: some dozens of the usual ones. */
const WINDOW_BYTES = 2 ** 18;

/** Longer texts are not kept: a template id has about 100 bytes. */
const KNOWN_LENGTH_MAX = 128;

/**
 * Strings that a feed repeats (template ids, synchronizers), found by their bytes in the message. The same string object costs
 * less than a new one: it is hashed already, and equal by identity. Bounded, because a new text replaces the one in its slot.
 */
class KnownTexts {
  readonly #mask: number;
  readonly #texts: string[];
  readonly #lengths: Uint8Array;
  /** The bytes of each slot's text. */
  readonly #words: Int32Array;

  /** `slots` is a power of two. */
  constructor(slots: number) {
    this.#mask = slots - 1;
    this.#texts = Array.from({ length: slots }, () => '');
    this.#lengths = new Uint8Array(slots);
    this.#words = new Int32Array((slots * KNOWN_LENGTH_MAX) / WORD_BYTES);
  }

  /** The text of the message from `start` to `end`. */
  of(start: number, end: number): string {
    const length = end - start;
    if (length < WORD_BYTES || length > KNOWN_LENGTH_MAX) return BYTES.toString('utf8', start, end);
    const slot = hashOf(start, end) & this.#mask;
    const words = (slot * KNOWN_LENGTH_MAX) / WORD_BYTES;
    if (this.#lengths[slot] === length && this.#areThere(words, start, end)) return this.#texts[slot]!;
    const text = BYTES.toString('utf8', start, end);
    this.#lengths[slot] = length;
    this.#texts[slot] = text;
    for (let p = start, i = words; p < end; p += WORD_BYTES, i++)
      this.#words[i] = wordAt(Math.min(p, end - WORD_BYTES));
    return text;
  }

  /** Compares word by word; the last word may overlap the one before. */
  #areThere(words: number, start: number, end: number): boolean {
    let i = words;
    for (let p = start; p < end - WORD_BYTES; p += WORD_BYTES) if (wordAt(p) !== this.#words[i++]) return false;
    return wordAt(end - WORD_BYTES) === this.#words[i];
  }
}

/** Of the length and three words, which differ between templates of one package and between packages of one template. */
function hashOf(start: number, end: number): number {
  let hash = Math.imul(wordAt(start) ^ (end - start), 0x9e3779b1);
  hash = Math.imul(hash ^ wordAt(start + ((end - start) >> 1) - WORD_BYTES / 2), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ wordAt(end - WORD_BYTES), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Keys are looked up by five bits of their length and of their first byte, before their bytes are compared. */
const SLOTS = 1024;

/** The members that objects of one kind have, by number, and the positions of their values in the object read last. */
class Members {
  readonly #keys: readonly Piece[];
  /** The member's number by the slot of its key; -1 for none. */
  readonly #bySlot = new Int8Array(SLOTS).fill(-1);
  readonly #starts: Int32Array;
  /** 0 for one that was not there. */
  readonly #ends: Int32Array;

  constructor(names: readonly string[]) {
    this.#keys = names.map(pieceOf);
    this.#starts = new Int32Array(names.length);
    this.#ends = new Int32Array(names.length);
    for (const [number, key] of this.#keys.entries()) {
      const slot = slotOf(key.length, names[number]!.charCodeAt(0));
      if (this.#bySlot[slot] !== -1) throw new Error(`two keys in one slot: ${names[number]}`);
      this.#bySlot[slot] = number;
    }
  }

  /** Forgets the object read last. */
  clear(): void {
    for (let i = 0; i < this.#ends.length; i++) this.#ends[i] = 0;
  }

  /** Keeps where the values of an object's members are, which are indexed from `first` to `end`. False for a member twice. */
  read(first: number, end: number): boolean {
    this.clear();
    for (let i = first; i < end; i = memberEnd(i)) {
      const member = this.find(i);
      if (member >= 0 && !this.add(member, i)) return false;
    }
    return true;
  }

  /** Which member an indexed one is, by its key; -1 for another one. */
  find(indexed: number): number {
    const key = keyStart(indexed);
    const length = keyEnd(indexed) - key;
    const number = this.#bySlot[slotOf(length, BYTES[key]!)]!;
    if (number < 0) return -1;
    const name = this.#keys[number]!;
    return name.length === length && standsAt(key, name) ? number : -1;
  }

  /** Keeps the position of a member's value. False for a member that occurs twice: JSON.parse keeps the last value. */
  add(member: number, indexed: number): boolean {
    if (this.#ends[member] !== 0) return false;
    this.#starts[member] = valueStart(indexed);
    this.#ends[member] = valueEnd(indexed);
    return true;
  }

  isThere(member: number): boolean {
    return this.#ends[member] !== 0;
  }

  start(member: number): number {
    return this.#starts[member]!;
  }

  /** Whether a member's value has exactly these bytes. */
  is(member: number, value: Piece): boolean {
    const start = this.#starts[member]!;
    return this.#ends[member]! - start === value.length && standsAt(start, value);
  }

  /** A member's value as JSON.parse returns it; undefined where it is missing. */
  parsed(member: number, texts: KnownTexts | null = null): unknown {
    const [start, end] = [this.#starts[member]!, this.#ends[member]!];
    if (end === 0) return undefined;
    if (BYTES[start] === QUOTE) {
      const text = texts === null ? BYTES.toString('utf8', start + 1, end - 1) : texts.of(start + 1, end - 1);
      if (!hasEscapes || !text.includes('\\')) return text;
    }
    return JSON.parse(BYTES.toString('utf8', start, end));
  }
}

function slotOf(length: number, firstByte: number): number {
  return ((length & 31) << 5) | (firstByte & 31);
}

const CREATED = pieceOf('"created_event"');
const EXERCISED = pieceOf('"exercised_event"');

const transaction = new Members([
  'update_id',
  'migration_id',
  'record_time',
  'synchronizer_id',
  'event',
  'root_event_ids',
  'events_by_id',
  'seed',
]);
const [UPDATE_ID, MIGRATION_ID, RECORD_TIME, SYNCHRONIZER_ID, REASSIGNMENT, ROOT_EVENT_IDS, EVENTS_BY_ID, SEED] = [
  0, 1, 2, 3, 4, 5, 6, 7,
];
const event = new Members(['event_type', 'contract_id', 'template_id', 'package_name', 'child_event_ids', 'consuming']);
const [EVENT_TYPE, CONTRACT_ID, TEMPLATE_ID, PACKAGE_NAME, CHILD_EVENT_IDS, CONSUMING] = [0, 1, 2, 3, 4, 5];

/** Template ids, package names and synchronizers. */
const names = new KnownTexts(256);

/** What was found in the message read last. */
const tree = new EventTree();
let found: Wire[] = [];

/** The part of a text that was loaded last. */
let window: Uint8Array = new Uint8Array(0);
let windowText: Uint8Array = window;
let windowStart = 0;

/**
 * Parses only what the meaning of a Scan transaction depends on: its header, the tree of its events, each event's template,
 * and the events of templates that may be ours. The rest, which is nearly all of a feed, is only checked to be JSON.
 * No value is validated. `text` is UTF-8, one message or many, and the transaction begins at `at`. Null for what is no transaction,
 * no JSON, or JSON that must be parsed in full to be understood (keys or ids with escapes, a member or an event twice, an event that
 * is not listed, deep nesting, many events).
 */
export function readPartially(text: Uint8Array, at: number): PartialRead | null {
  const offset = at - windowStart;
  if (text === windowText && isLoaded(window) && offset > 0 && offset < window.length) {
    // It may end behind the window.
    const read = parseAt(offset);
    if (read !== null) return { ...read, end: read.end + windowStart, next: read.next + windowStart };
  }
  windowText = text;
  windowStart = at;
  window = at === 0 && text.length <= messageBytesMax ? text : text.subarray(at, at + WINDOW_BYTES);
  load(window);
  const read = parseAt(spaceEnd(0));
  return read && { ...read, end: read.end + at, next: read.next + at };
}

/** Parses what begins at `at` in what was loaded. */
function parseAt(at: number): PartialRead | null {
  if (beginsWithObject(at)) return null;
  tree.begin();
  found = [];
  const end = index(at);
  if (end < 0 || !readTransaction()) return null;
  if (!transaction.isThere(EVENTS_BY_ID) || !transaction.isThere(ROOT_EVENT_IDS)) return null;
  if (transaction.isThere(REASSIGNMENT) && !transaction.is(REASSIGNMENT, NULL)) return null;
  // An import of a seed has members of its own.
  if (transaction.isThere(SEED)) return null;
  if (!tree.walk(transaction.start(ROOT_EVENT_IDS))) return null;
  const events: Wire[] = [];
  for (let i = 0; i < tree.size; i++) events.push(found[tree.order[i]!]!);
  const parsed = {
    header: {
      update_id: transaction.parsed(UPDATE_ID),
      migration_id: transaction.parsed(MIGRATION_ID),
      record_time: transaction.parsed(RECORD_TIME),
      synchronizer_id: transaction.parsed(SYNCHRONIZER_ID, names),
    },
    events,
    eventId: (event: number) => tree.id(tree.order[event]!),
  };
  return { transaction: parsed, end, next: spaceEnd(end) };
}

/** Whether its first member is an object: a message of the Ledger API, of which nothing is indexed in vain. */
function beginsWithObject(at: number): boolean {
  const key = spaceEnd(at + 1);
  const end = BYTES[key] === QUOTE ? plainTextEnd(key) : -1;
  if (end < 0) return false;
  const colon = spaceEnd(end);
  return BYTES[colon] === COLON && BYTES[spaceEnd(colon + 1)] === BRACE;
}

/** False for what has other objects or lists than those of a transaction, which is something else and is not read further. */
function readTransaction(): boolean {
  transaction.clear();
  for (let i = 0; i < memberCount(); i = memberEnd(i)) {
    const member = transaction.find(i);
    const isRead = member === EVENTS_BY_ID ? readEvents(i) : member >= 0 || !isNested(i);
    if (!isRead || (member >= 0 && !transaction.add(member, i))) return false;
  }
  return true;
}

function isNested(member: number): boolean {
  const first = BYTES[valueStart(member)];
  return first === BRACE || first === BRACKET;
}

function readEvents(member: number): boolean {
  if (BYTES[valueStart(member)] !== BRACE) return false;
  for (let i = member + 1; i < memberEnd(member); i = memberEnd(i)) {
    if (!tree.add(keyStart(i), keyEnd(i)) || !event.read(i + 1, memberEnd(i))) return false;
    const wire = eventOf(valueStart(i), valueEnd(i));
    if (wire === null) return false;
    found.push(wire);
  }
  return true;
}

/** The event from `at` to `end`, which was read last, with the members that are used. */
function eventOf(at: number, end: number): Wire | null {
  if (event.is(EVENT_TYPE, CREATED)) {
    const template_id = event.parsed(TEMPLATE_ID, names);
    if (mayBeOurs(template_id)) return JSON.parse(BYTES.toString('utf8', at, end)) as Wire;
    return { event_type: 'created_event', template_id };
  }
  if (!event.is(EVENT_TYPE, EXERCISED) || !event.isThere(CHILD_EVENT_IDS)) return null;
  if (!tree.addChildren(event.start(CHILD_EVENT_IDS))) return null;
  if (event.is(CONSUMING, FALSE)) return { event_type: 'exercised_event', consuming: false };
  const template_id = event.parsed(TEMPLATE_ID, names);
  if (!mayBeOurs(template_id)) return { event_type: 'exercised_event', template_id };
  return {
    event_type: 'exercised_event',
    consuming: event.parsed(CONSUMING),
    template_id,
    package_name: event.parsed(PACKAGE_NAME, names),
    contract_id: event.parsed(CONTRACT_ID),
  };
}
