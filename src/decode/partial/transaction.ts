import { isUtf8 } from 'node:buffer';
import { mayBeOurs } from '../template.ts';
import type { Wire } from '../values.ts';
import { EventTree } from './event-tree.ts';
import { BRACE, BRACKET, COLON, FALSE, NULL, pieceOf, QUOTE, spaceEnd } from './json-bytes.ts';
import {
  BYTES,
  index,
  isLoaded,
  keyEnd,
  keyStart,
  load,
  memberCount,
  memberEnd,
  plainTextEnd,
  valueEnd,
  valueStart,
} from './json-index.ts';
import { KnownTexts } from './known-texts.ts';
import { Members } from './members.ts';

/** A Scan transaction without most of what is not used, as JSON.parse would return it. */
export interface PartialTransaction {
  /** Its members, except for its events and the list of their roots. */
  readonly header: Wire;
  /** Depth first from the roots, children in order. */
  readonly events: readonly Wire[];
  /** The id of the event with that number in `events`; only valid until the next message is parsed. */
  eventId(event: number): string;
}

interface Read {
  readonly transaction: PartialTransaction;
  readonly end: number;
}

/** How much of a text of many messages is copied at once: some dozens of the usual ones. */
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
const event = new Members(['event_type', 'contract_id', 'template_id', 'package_name', 'child_event_ids', 'consuming']);
const [EVENT_TYPE, CONTRACT_ID, TEMPLATE_ID, PACKAGE_NAME, CHILD_EVENT_IDS, CONSUMING] = [0, 1, 2, 3, 4, 5];

/** Template ids, package names and synchronizers. */
const names = new KnownTexts(256);

/** What was found in the message read last. */
const tree = new EventTree();
let found: Wire[] = [];

/**
 * Parses only what the meaning of a Scan transaction depends on: its header, the tree of its events, each event's template,
 * and the events of templates that may be ours. The rest, which is nearly all of a feed, is only checked to be JSON.
 * No value is validated. Null for what is no transaction, no JSON, or JSON that must be parsed in full to be understood
 * (keys or ids with escapes, a member or an event twice, an event that is not listed, deep nesting, many events).
 */
export function parsePartially(bytes: Uint8Array): PartialTransaction | null {
  if (!isUtf8(bytes) || !load(bytes)) return null;
  const read = parseAt(spaceEnd(0));
  return read !== null && spaceEnd(read.end) === bytes.length ? read.transaction : null;
}

/**
 * Parses transactions of a text that has many, which must be UTF-8, as `parsePartially` does each of them; the position is where
 * one begins, and `end` where it ends. Null for what must be parsed in full to be understood, and for what is no transaction.
 */
export function partialReader(text: Uint8Array): (at: number) => Read | null {
  let from = 0;
  let window = text.subarray(0, 0);

  function readAgain(at: number): Read | null {
    from = at;
    window = text.subarray(at, at + WINDOW_BYTES);
    load(window);
    return parseAt(0);
  }

  return (at) => {
    const isWithin = isLoaded(window) && at > from && at < from + window.length;
    // It may end behind the window.
    const read = (isWithin ? parseAt(at - from) : null) ?? readAgain(at);
    return read && { ...read, end: from + read.end };
  };
}

/** As `parsePartially`, of what begins at `at` in what was loaded, which may go on behind it. */
function parseAt(at: number): Read | null {
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
  return { transaction: parsed, end };
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
