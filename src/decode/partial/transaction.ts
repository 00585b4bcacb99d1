import { mayBeOurs } from '../create.ts';
import { EVENT_LOG_CHOICE, mayBeEventLog } from '../event-log.ts';
import type { Wire } from '../values.ts';
import {
  BRACE,
  BRACKET,
  BRACKET_END,
  BYTES,
  COLON,
  COMMA,
  FALSE,
  index,
  isLoaded,
  isSame,
  KnownTexts,
  keyEnd,
  keyStart,
  load,
  Members,
  memberCount,
  memberEnd,
  messageBytesMax,
  NULL,
  pieceOf,
  plainTextEnd,
  QUOTE,
  spaceEnd,
  valueEnd,
  valueStart,
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

/** How much of a page is copied at once: some dozens of the usual messages. A single message is copied whole. */
const WINDOW_BYTES = 2 ** 18;

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
const event = new Members([
  'event_type',
  'contract_id',
  'template_id',
  'package_name',
  'child_event_ids',
  'consuming',
  'interface_views',
]);
const [EVENT_TYPE, CONTRACT_ID, TEMPLATE_ID, PACKAGE_NAME, CHILD_EVENT_IDS, CONSUMING, INTERFACE_VIEWS] = [
  0, 1, 2, 3, 4, 5, 6,
];

/** Of an exercise that may be an EventLog event: too few are for `event` to look for it. */
const choice = new Members(['choice']);

/** Larger transactions are rare, and comparing each id with the others would cost more than to parse them in full. */
const EVENTS_MAX = 256;
const LISTED_MAX = 1024;

/** The events of one transaction, numbered as they are written, and the tree of their id lists; ids are compared as bytes. */
class EventTree {
  size = 0;
  #listed = 0;
  /** Start and end of each event's id, of each id in a list, and of each event's children among those. */
  readonly #ids = new Int32Array(EVENTS_MAX * 2);
  readonly #listedIds = new Int32Array(LISTED_MAX * 2);
  readonly #children = new Int32Array(EVENTS_MAX * 2);
  readonly #isVisited = new Uint8Array(EVENTS_MAX);
  readonly #pending = new Int32Array(LISTED_MAX);
  /** The events depth first from the roots, children in order. */
  readonly order = new Int32Array(EVENTS_MAX);

  begin(): void {
    this.size = 0;
    this.#listed = 0;
  }

  id(event: number): string {
    return BYTES.toString('utf8', this.#ids[event * 2], this.#ids[event * 2 + 1]);
  }

  /** Adds an event, without children, by the position of its id. False for one too many, or with the id of another. */
  add(start: number, end: number): boolean {
    if (this.size === EVENTS_MAX) return false;
    for (let other = 0; other < this.size; other++) if (this.#isNamed(other, start, end)) return false;
    this.#ids[this.size * 2] = start;
    this.#ids[this.size * 2 + 1] = end;
    this.#children.fill(this.#listed, this.size * 2, this.size * 2 + 2);
    this.size += 1;
    return true;
  }

  /** Gives the event that was added last its children, a list of ids. */
  addChildren(start: number): boolean {
    const isList = this.#readList(start);
    this.#children[this.size * 2 - 1] = this.#listed;
    return isList;
  }

  /** Puts the events in order. False where a list names an event twice or one that is missing, or no list names an event. */
  walk(roots: number): boolean {
    const first = this.#listed;
    if (!this.#readList(roots)) return false;
    this.#isVisited.fill(0, 0, this.size);
    let [visited, pending] = [0, 0];
    for (let i = this.#listed - 1; i >= first; i--) this.#pending[pending++] = i;
    while (pending > 0) {
      const event = this.#find(this.#pending[--pending]!, visited);
      if (event < 0) return false;
      this.#isVisited[event] = 1;
      this.order[visited++] = event;
      for (let i = this.#children[event * 2 + 1]! - 1; i >= this.#children[event * 2]!; i--)
        this.#pending[pending++] = i;
    }
    return visited === this.size;
  }

  /** The event of that id, if not visited yet; usually the next one. */
  #find(listed: number, likely: number): number {
    const [start, end] = [this.#listedIds[listed * 2]!, this.#listedIds[listed * 2 + 1]!];
    for (let i = 0; i < this.size; i++) {
      const event = likely + i < this.size ? likely + i : likely + i - this.size;
      if (this.#isVisited[event] === 0 && this.#isNamed(event, start, end)) return event;
    }
    return -1;
  }

  #isNamed(event: number, start: number, end: number): boolean {
    const idStart = this.#ids[event * 2]!;
    return this.#ids[event * 2 + 1]! - idStart === end - start && isSame(idStart, start, end - start);
  }

  /** Adds the ids of a list that is JSON. False where it is no list, has anything but strings without escapes, or has too many. */
  #readList(start: number): boolean {
    if (BYTES[start] !== BRACKET) return false;
    let p = spaceEnd(start + 1);
    while (BYTES[p] !== BRACKET_END) {
      const end = BYTES[p] === QUOTE ? plainTextEnd(p) : -1;
      if (end < 0 || this.#listed === LISTED_MAX) return false;
      this.#listedIds[this.#listed * 2] = p + 1;
      this.#listedIds[this.#listed * 2 + 1] = end - 1;
      this.#listed += 1;
      p = spaceEnd(end);
      if (BYTES[p] === COMMA) p = spaceEnd(p + 1);
    }
    return true;
  }
}

/** Template ids, package names and synchronizers. */
const names = new KnownTexts(256);

/** What was found in the message read last. */
const tree = new EventTree();
let found: Wire[] = [];

/** The part of a page that was loaded last, in which its next messages are looked for; a single message is its own window. */
let window: Uint8Array = new Uint8Array(0);
let windowText: Uint8Array = window;
let windowStart = 0;

/**
 * Parses only what the meaning of a Scan transaction depends on: its header, the tree of its events, each event's template,
 * and the events of templates that may be ours or have views. The rest, which is nearly all of a feed, is only checked to be JSON.
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
  // An update of a snapshot import has members of its own.
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
    const wire = eventOf(i);
    if (wire === null) return false;
    found.push(wire);
  }
  return true;
}

/** The event that was read last, an indexed member, with its members that are used. */
function eventOf(i: number): Wire | null {
  if (event.is(EVENT_TYPE, CREATED)) {
    const template_id = event.parsed(TEMPLATE_ID, names);
    const isUsed = mayBeOurs(template_id) || event.isThere(INTERFACE_VIEWS);
    return isUsed ? parsedEvent(i) : { event_type: 'created_event', template_id };
  }
  if (!event.is(EVENT_TYPE, EXERCISED) || !event.isThere(CHILD_EVENT_IDS)) return null;
  if (!tree.addChildren(event.start(CHILD_EVENT_IDS))) return null;
  if (event.is(CONSUMING, FALSE)) {
    const mayBeLog = mayBeEventLog(event.parsed(PACKAGE_NAME, names));
    if (mayBeLog && !choice.read(i + 1, memberEnd(i))) return null;
    const isLog = mayBeLog && choice.parsed(0, names) === EVENT_LOG_CHOICE;
    return isLog ? parsedEvent(i) : { event_type: 'exercised_event', consuming: false };
  }
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

/** An indexed member as a whole. */
function parsedEvent(i: number): Wire {
  return JSON.parse(BYTES.toString('utf8', valueStart(i), valueEnd(i)));
}
