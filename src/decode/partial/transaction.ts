import { isUtf8 } from 'node:buffer';
import { mayBeOurs } from '../template.ts';
import type { Wire } from '../values.ts';
import { EventTree } from './event-tree.ts';
import { BRACE, BRACKET, bytesOf, FALSE, NULL, spaceEnd, valueEnd } from './json-bytes.ts';
import { Member, type ReadValue, readMembers } from './members.ts';

/** A Scan transaction without most of what is not used, as JSON.parse would return it. */
export interface PartialTransaction {
  /** Its members, except for its events and the list of their roots. */
  readonly header: Wire;
  /** Depth first from the roots, children in order. */
  readonly events: readonly Wire[];
  /** The id of the event with that number in `events`; only valid until the next message is parsed. */
  eventId(event: number): string;
}

const CREATED = bytesOf('"created_event"');
const EXERCISED = bytesOf('"exercised_event"');

/** What was found in the message read last. */
const tree = new EventTree();
let found: Wire[] = [];

const eventType = new Member('event_type');
const contractId = new Member('contract_id');
const templateId = new Member('template_id');
const packageName = new Member('package_name');
const childEventIds = new Member('child_event_ids');
const consuming = new Member('consuming');
const eventMembers = [eventType, contractId, templateId, packageName, childEventIds, consuming];

const readEvent: ReadValue = (b, at, key, keyEnd) => {
  if (!tree.add(key, keyEnd)) return -1;
  const end = readMembers(b, at, eventMembers);
  const event = end < 0 ? null : eventOf(b, at, end);
  if (event === null) return -1;
  found.push(event);
  return end;
};

const updateId = new Member('update_id');
const migrationId = new Member('migration_id');
const recordTime = new Member('record_time');
const synchronizerId = new Member('synchronizer_id');
const reassignment = new Member('event');
const rootEventIds = new Member('root_event_ids');
const eventsById = new Member('events_by_id', (b, at) => readMembers(b, at, [], readEvent));
const transactionMembers = [updateId, migrationId, recordTime, synchronizerId, reassignment, rootEventIds, eventsById];

/** No other member of a transaction is an object or a list: a message with one is something else, and is not read further. */
const readScalar: ReadValue = (b, at) => (b[at] === BRACE || b[at] === BRACKET ? -1 : valueEnd(b, at));

/**
 * Parses only what the meaning of a Scan transaction depends on: its header, the tree of its events, each event's template,
 * and the events of templates that may be ours. The rest, which is nearly all of a feed, is only checked to be JSON.
 * No value is validated. Null for what is no transaction, no JSON, or JSON that must be parsed in full to be understood
 * (keys or ids with escapes, a member or an event twice, an event that is not listed, deep nesting, many events).
 */
export function parsePartially(bytes: Uint8Array): PartialTransaction | null {
  if (!isUtf8(bytes)) return null;
  const b = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  tree.begin(b);
  found = [];
  const end = readMembers(b, spaceEnd(b, 0), transactionMembers, readScalar);
  if (end < 0 || spaceEnd(b, end) !== b.length || !eventsById.isThere || !rootEventIds.isThere) return null;
  if (reassignment.isThere && !reassignment.is(b, NULL)) return null;
  if (!tree.walk(rootEventIds.start)) return null;
  const order = tree.order.subarray(0, tree.size);
  const events: Wire[] = [];
  for (const event of order) events.push(found[event]!);
  return {
    header: {
      update_id: updateId.parsed(b),
      migration_id: migrationId.parsed(b),
      record_time: recordTime.parsed(b),
      synchronizer_id: synchronizerId.parsed(b),
    },
    events,
    eventId: (event) => tree.id(order[event]!),
  };
}

/** The event from `at` to `end`, which was read last, with the members that are used. */
function eventOf(b: Buffer, at: number, end: number): Wire | null {
  if (eventType.is(b, CREATED)) {
    const template_id = templateId.parsed(b);
    if (mayBeOurs(template_id)) return JSON.parse(b.toString('utf8', at, end)) as Wire;
    return { event_type: 'created_event', template_id };
  }
  if (!eventType.is(b, EXERCISED) || !childEventIds.isThere || !tree.addChildren(childEventIds.start)) return null;
  if (consuming.is(b, FALSE)) return { event_type: 'exercised_event', consuming: false };
  const template_id = templateId.parsed(b);
  if (!mayBeOurs(template_id)) return { event_type: 'exercised_event', template_id };
  return {
    event_type: 'exercised_event',
    consuming: consuming.parsed(b),
    template_id,
    package_name: packageName.parsed(b),
    contract_id: contractId.parsed(b),
  };
}
