import { isImportTime } from '../ledger/time.ts';
import type { IgnoredEvent, LedgerEvent, LedgerUpdate } from '../ledger/update.ts';
import {
  type Collected,
  type CreateFields,
  collect,
  isOther,
  type ReadEvent,
  readCreate,
  readEntity,
} from './create.ts';
import { EVENT_LOG_CHOICE, readEventLog, withEventLogs } from './event-log.ts';
import type { PartialTransaction } from './partial/transaction.ts';
import {
  fault,
  isWire,
  readContractId,
  readEventIdNode,
  readList,
  readMigrationId,
  readObject,
  readText,
  readTime,
  type Wire,
  within,
} from './values.ts';

/** Format A: an item of Scan's `/v2/updates`: snake_case, a tree of events. */
const FIELDS: CreateFields = {
  contractId: 'contract_id',
  templateId: 'template_id',
  packageName: 'package_name',
  arguments: 'create_arguments',
  createdAt: 'created_at',
  signatories: 'signatories',
  observers: 'observers',
  node: 'event_id',
  readNode: readEventIdNode,
  // No Scan has it, only a participant's snapshot import.
  views: 'interface_views',
};

const SYNCHRONIZER_EXPECTED = 'a synchronizer id';

export function looksLikeScan(message: Wire): boolean {
  return 'update_id' in message || 'events_by_id' in message || 'root_event_ids' in message || isWire(message.event);
}

/** Throws Fault for what is wrong with the update itself, BadUpdate for what is wrong with one of its events. */
export function decodeScan(message: Wire): LedgerUpdate {
  const isReassignment = message.event !== undefined && message.event !== null;
  return isReassignment ? decodeReassignment(message) : decodeTransaction(message);
}

function decodeTransaction(message: Wire): LedgerUpdate {
  const read: Collected = { events: [], ignored: [] };
  const update = readHeader(message, read);
  const visited = walk(message, read);
  if (update.recordTime === null) checkImport(message, visited);
  return read.eventLogs === undefined ? update : withEventLogs(update, read.eventLogs);
}

/** Decodes a transaction that was parsed partially. Only faults within an event are given their path. */
export function decodePartialTransaction({ header, events, eventId }: PartialTransaction): LedgerUpdate {
  const read: Collected = { events: [], ignored: [] };
  let event = 0;
  const path = (): string => eventPath(eventId(event));
  for (; event < events.length; event++) collect(read, readEvent(events[event]!, path));
  const update = readHeader(header, read);
  if (update.recordTime === null) checkImport(header, events);
  return read.eventLogs === undefined ? update : withEventLogs(update, read.eventLogs);
}

function readHeader(message: Wire, { events, ignored }: Collected): LedgerUpdate {
  const updateId = readText(message.update_id, 'update_id', 'an update id');
  const migrationId = readMigrationId(message.migration_id, 'migration_id');
  const time = message.record_time;
  const recordTime = typeof time === 'string' && isImportTime(time) ? null : readTime(time, 'record_time');
  const update = { kind: 'update', format: 'scan', updateId, migrationId, recordTime, events, ignored } as const;
  // An import belongs to no synchronizer.
  if (recordTime === null && (message.synchronizer_id ?? null) === null)
    return { ...update, synchronizerId: '', ...readSnapshotImport(message) };
  const synchronizerId = readText(message.synchronizer_id, 'synchronizer_id', SYNCHRONIZER_EXPECTED);
  return { ...update, synchronizerId, ...(recordTime === null ? readSnapshotImport(message) : {}) };
}

/** What an update of a snapshot import has besides that of any import. */
function readSnapshotImport(message: Wire): Pick<LedgerUpdate, 'seed'> {
  if (message.seed !== true) return {};
  const id = message.created_in_update_id ?? null;
  return { seed: { createdIn: id === null ? null : readText(id, 'created_in_update_id', 'an update id') } };
}

/** An import brings one contract from an older migration (docs/rules.md, rule 5); on anything else its time is bad. */
function checkImport(message: Wire, events: readonly Wire[]): void {
  if (events.length !== 1 || events[0]?.event_type !== 'created_event') {
    fault('record_time', message.record_time, 'a time, or an import update of one created_event');
  }
}

/**
 * Depth first from the roots, children in order; the order of keys in events_by_id means nothing (docs/rules.md, rule 7).
 * A stack instead of recursion, because the feed chooses the depth. Returns the events that it visited.
 */
function walk(message: Wire, read: Collected): readonly Wire[] {
  const events = readObject(message.events_by_id, 'events_by_id');
  const seen = new Set<string>();
  const visited: Wire[] = [];
  const pending = listedIn(message.root_event_ids, null);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { id, parent } = next;
    const list = (): string => (parent === null ? 'root_event_ids' : `${eventPath(parent)}.child_event_ids`);
    if (seen.has(id)) fault(list(), id, 'an event id that is listed only once');
    seen.add(id);
    const event = eventOf(events, id) ?? fault(list(), id, 'an event id that is in events_by_id');
    visited.push(event);
    const path = (): string => eventPath(id);
    const found = within(path, () => {
      if (event.event_type === 'exercised_event')
        for (const child of listedIn(event.child_event_ids, id)) pending.push(child);
      return readEvent(event, path);
    });
    collect(read, found);
  }
  checkUnlisted(events, seen, read);
  return visited;
}

/** Undefined for an id that is not there, and for inherited names such as `constructor` or `__proto__`. */
function eventOf(events: Wire, id: string): Wire | undefined {
  const event = events[id];
  if (isWire(event) && event !== Object.prototype) return event;
  return Object.hasOwn(events, id) ? fault(eventPath(id), event, 'an object') : undefined;
}

interface ListedId {
  readonly id: string;
  /** The event whose list of children names it; null for a root. */
  readonly parent: string | null;
}

/** The ids of a list in reverse, so that the first is the next to be popped. */
function listedIn(value: unknown, parent: string | null): ListedId[] {
  const field = parent === null ? 'root_event_ids' : 'child_event_ids';
  const ids = readList(value, field);
  const bad = ids.findLastIndex((id) => typeof id !== 'string');
  if (bad >= 0) fault(`${field}[${bad}]`, ids[bad], 'an event id');
  return ids.map((id) => ({ id: id as string, parent })).reverse();
}

function eventPath(id: string): string {
  return `events_by_id[${JSON.stringify(id)}]`;
}

/** An event that no list names is never applied: harmless for another template, a loss for one of ours. */
function checkUnlisted(events: Wire, seen: ReadonlySet<string>, read: Collected): void {
  const ids = Object.keys(events);
  if (ids.length === seen.size) return;
  for (const id of ids) {
    if (seen.has(id)) continue;
    const path = (): string => eventPath(id);
    const event = within(path, () => {
      const wire = readObject(events[id], '');
      if (wire.event_type === 'exercised_event') listedIn(wire.child_event_ids, id);
      return readEvent(wire, path);
    });
    if (typeof event !== 'string' && event.kind !== 'event log')
      fault(path(), id, 'an event that root_event_ids or child_event_ids lists');
    read.ignored.push('unlisted event');
  }
}

function readEvent(event: Wire, path: () => string): ReadEvent {
  if (event.event_type === 'created_event') return readCreate(event, FIELDS, path);
  if (event.event_type === 'exercised_event') return readExercise(event);
  return fault('event_type', event.event_type, '"created_event" or "exercised_event"');
}

/** Any consuming exercise is an archive; the name of its choice does not matter. */
function readExercise(event: Wire): ReadEvent {
  if (event.consuming === false)
    return (event.choice === EVENT_LOG_CHOICE ? readEventLog(event) : null) ?? 'not consuming';
  const entity = readEntity(event, FIELDS);
  if (isOther(entity)) return entity;
  if (event.consuming !== true) fault('consuming', event.consuming, 'true or false');
  return { kind: 'archive', entity, contractId: readContractId(event.contract_id, 'contract_id') };
}

/** An assignment has a created event, an unassignment the id of a contract that leaves. */
function decodeReassignment(message: Wire): LedgerUpdate {
  const updateId = readText(message.update_id, 'update_id', 'an update id');
  const recordTime = readTime(message.record_time, 'record_time');
  const event = readObject(message.event, 'event');
  const migrationId = readMigrationId(event.migration_id, 'event.migration_id');
  const created = event.created_event ?? null;
  const isAssignment = created !== null;
  if (isAssignment === ((event.contract_id ?? null) !== null)) {
    fault('event', event, 'either created_event (an assignment) or contract_id (an unassignment)');
  }
  const synchronizer = isAssignment ? 'target_synchronizer' : 'source_synchronizer';
  const synchronizerId = readText(event[synchronizer], `event.${synchronizer}`, SYNCHRONIZER_EXPECTED);
  const { events, ignored }: Collected = { events: [], ignored: [] };
  collect({ events, ignored }, isAssignment ? readAssigned(created) : readUnassigned(event));
  return { kind: 'update', format: 'scan', updateId, migrationId, synchronizerId, recordTime, events, ignored };
}

/** A contract that goes to another synchronizer stays active; one without another synchronizer is purged (docs/rules.md, rule 9). */
function readUnassigned(event: Wire): LedgerEvent | IgnoredEvent {
  const target = readText(event.target_synchronizer, 'event.target_synchronizer', SYNCHRONIZER_EXPECTED);
  if (target !== event.source_synchronizer) return 'unassignment';
  return { kind: 'archive', entity: null, contractId: readContractId(event.contract_id, 'event.contract_id') };
}

function readAssigned(created: unknown): LedgerEvent | IgnoredEvent {
  const path = (): string => 'event.created_event';
  return within(path, () => readCreate(readObject(created, ''), FIELDS, path));
}
