import { isImportTime, type Micros } from '../ledger/time.ts';
import type { Checkpoint, Ignored, IgnoredEvent, LedgerEvent, LedgerUpdate } from '../ledger/update.ts';
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
import {
  fault,
  isContractId,
  isWire,
  ledgerOffsetOf,
  readContractId,
  readList,
  readNodeId,
  readObject,
  readText,
  readTime,
  type Wire,
  within,
} from './values.ts';

/** Format B: an item of the JSON Ledger API's `/v2/updates`: camelCase, a list of one-key events. */
const FIELDS: CreateFields = {
  contractId: 'contractId',
  templateId: 'templateId',
  packageName: 'packageName',
  arguments: 'createArgument',
  createdAt: 'createdAt',
  signatories: 'signatories',
  observers: 'observers',
  node: 'nodeId',
  readNode: readNodeId,
  views: 'interfaceViews',
};

const UPDATE_KINDS = ['Transaction', 'Reassignment', 'OffsetCheckpoint', 'TopologyTransaction'] as const;
const UPDATE_KINDS_EXPECTED = 'one of Transaction, Reassignment, OffsetCheckpoint, TopologyTransaction';
const SYNCHRONIZER_EXPECTED = 'a synchronizer id';
const SCAN_EVENTS_EXPECTED = `${UPDATE_KINDS_EXPECTED}; this looks like an item of Scan /v0/events, whose "update" alone is a feed`;

/** The format carries no migration id: it is the source's (docs/rules.md, rule 11). */
export interface LedgerApiOptions {
  readonly migrationId: number;
}

export function looksLikeLedgerApi(message: Wire): boolean {
  return isWire(message.update) || 'updateId' in message || 'events' in message;
}

/** Throws Fault for what is wrong with the update itself, BadUpdate for what is wrong with one of its events. */
export function decodeLedgerApi(message: Wire, options: LedgerApiOptions): LedgerUpdate | Checkpoint | Ignored {
  const { update } = message;
  if (!isWire(update)) return readUpdate(message, options, TRANSACTION);
  const kind = onlyKey(update, UPDATE_KINDS, 'update') ?? unknownKind(update);
  if (kind === null) return { kind: 'ignored', what: 'unknown update kind' };
  if (kind === 'TopologyTransaction') return { kind: 'ignored', what: 'topology transaction' };
  const value = readObject(readObject(update[kind], `update.${kind}`).value, `update.${kind}.value`);
  if (kind === 'OffsetCheckpoint') return decodeCheckpoint(value, options);
  return readUpdate(value, options, kind === 'Transaction' ? TRANSACTION : REASSIGNMENT);
}

/** Null for a kind that this program does not know; a known one with another shape is bad. */
function unknownKind(update: Wire): null {
  if ('update_id' in update) fault('update', update, SCAN_EVENTS_EXPECTED);
  const keys = Object.keys(update).filter((key) => update[key] !== null);
  const isKind = keys.length === 1 && /^[A-Z]/.test(keys[0]!);
  return isKind ? null : fault('update', update, UPDATE_KINDS_EXPECTED);
}

/** Which of `names` is the one key of a wire object; undefined where it is another. */
function onlyKey<Name extends string>(wire: Wire, names: readonly Name[], field = ''): Name | undefined {
  let found: Name | undefined;
  for (const name of names) {
    if (wire[name] === undefined || wire[name] === null) continue;
    if (found !== undefined) fault(field, wire, `${found} or ${name}, not both`);
    found = name;
  }
  return found;
}

/** Reads the parts in which a transaction and a reassignment differ. */
interface UpdateParts {
  /** Null for an import. */
  readRecordTime(value: Wire): Micros | null;
  readEvent(event: Wire, path: () => string): ReadEvent;
}

function readUpdate(value: Wire, { migrationId }: LedgerApiOptions, parts: UpdateParts): LedgerUpdate {
  const updateId = readText(value.updateId, 'updateId', 'an update id');
  const recordTime = parts.readRecordTime(value);
  const synchronizerId = readText(value.synchronizerId, 'synchronizerId', SYNCHRONIZER_EXPECTED);
  const read: Collected = { events: [], ignored: [] };
  const list = readList(value.events, 'events');
  for (let index = 0; index < list.length; index++) {
    const path = (): string => `events[${index}]`;
    const event = within(path, () => parts.readEvent(readObject(list[index], ''), path));
    collect(read, event);
  }
  const offset = ledgerOffsetOf(value.offset);
  const { events, ignored, eventLogs } = read;
  const header = { kind: 'update', format: 'ledger-api', updateId, migrationId, synchronizerId, recordTime } as const;
  const update = { ...header, offset, events, ignored };
  return eventLogs === undefined ? update : withEventLogs(update, eventLogs);
}

const TRANSACTION: UpdateParts = { readRecordTime: readTransactionTime, readEvent: readTransactionEvent };
const REASSIGNMENT: UpdateParts = {
  readRecordTime: ({ recordTime }) => readTime(recordTime, 'recordTime'),
  readEvent: readReassignmentEvent,
};

/** Null for an import (docs/rules.md, rule 5). An import only creates contracts; on anything else its time is bad. */
function readTransactionTime({ recordTime, events }: Wire): Micros | null {
  if (typeof recordTime !== 'string' || !isImportTime(recordTime)) return readTime(recordTime, 'recordTime');
  const isImport = readList(events, 'events').every((event) => isWire(event) && isWire(event.CreatedEvent));
  return isImport ? null : fault('recordTime', recordTime, 'a time, or an import update of nothing but CreatedEvents');
}

const EVENT_KINDS = ['CreatedEvent', 'ArchivedEvent', 'ExercisedEvent'] as const;

function readTransactionEvent(wire: Wire, path: () => string): ReadEvent {
  const kind = onlyKey(wire, EVENT_KINDS) ?? fault('', wire, 'one of CreatedEvent, ArchivedEvent, ExercisedEvent');
  const kindPath = (): string => `${path()}.${kind}`;
  return within(kindPath, () => {
    const event = readObject(wire[kind], '');
    if (kind === 'ExercisedEvent' && event.consuming === false && event.choice === EVENT_LOG_CHOICE) {
      const log = readEventLog(event);
      if (log !== null) return log;
    }
    return kind === 'CreatedEvent' ? readLedgerApiCreate(event, kindPath) : readArchive(event, kind);
  });
}

function readLedgerApiCreate(event: Wire, path: () => string): LedgerEvent | IgnoredEvent {
  if (event.acsDelta === false) return 'acsDelta false';
  const created = readCreate(event, FIELDS, path);
  if (typeof created !== 'string') checkAcsDelta(event);
  return created;
}

/** An ArchivedEvent, a consuming exercise of any choice, or a purge. */
function readArchive(
  event: Wire,
  kind: 'ArchivedEvent' | 'ExercisedEvent' | 'JsUnassignedEvent',
): LedgerEvent | IgnoredEvent {
  if (event.acsDelta === false) return 'acsDelta false';
  if (kind === 'ExercisedEvent' && event.consuming === false) return 'not consuming';
  const entity = readEntity(event, FIELDS);
  const isExact = kind !== 'ExercisedEvent' || event.consuming === true;
  // Nothing else of another template is validated, because it may be none of a holding.
  if (isOther(entity)) {
    const { contractId } = event;
    return isExact && isContractId(contractId) ? { kind: 'other archive', contractId, ignoredAs: entity } : entity;
  }
  if (!isExact) fault('consuming', event.consuming, 'true or false');
  checkAcsDelta(event);
  return { kind: 'archive', entity, contractId: readContractId(event.contractId, 'contractId') };
}

/** Only true is left here: events with false were ignored before, and absent means true. */
function checkAcsDelta({ acsDelta }: Wire): void {
  if (acsDelta !== undefined && acsDelta !== null && acsDelta !== true) fault('acsDelta', acsDelta, 'true or false');
}

const REASSIGNMENT_KINDS = ['JsAssignmentEvent', 'JsUnassignedEvent'] as const;

function readReassignmentEvent(wire: Wire, path: () => string): LedgerEvent | IgnoredEvent {
  const kind = onlyKey(wire, REASSIGNMENT_KINDS) ?? fault('', wire, 'one of JsAssignmentEvent, JsUnassignedEvent');
  const kindPath = (): string => `${path()}.${kind}`;
  return kind === 'JsUnassignedEvent' ? readUnassigned(wire[kind], kindPath) : readAssigned(wire[kind], kindPath);
}

/** A contract that goes to another synchronizer stays active; one without another synchronizer is purged (docs/rules.md, rule 9). */
function readUnassigned(wire: unknown, path: () => string): LedgerEvent | IgnoredEvent {
  const { value } = within(path, () => readObject(wire, ''));
  return within(
    () => `${path()}.value`,
    () => {
      const event = readObject(value, '');
      const source = readText(event.source, 'source', SYNCHRONIZER_EXPECTED);
      const target = readText(event.target, 'target', SYNCHRONIZER_EXPECTED);
      return source === target ? readArchive(event, 'JsUnassignedEvent') : 'unassignment';
    },
  );
}

function readAssigned(value: unknown, path: () => string): LedgerEvent | IgnoredEvent {
  const { createdEvent } = within(path, () => readObject(value, ''));
  const createdPath = (): string => `${path()}.createdEvent`;
  return within(createdPath, () => readLedgerApiCreate(readObject(createdEvent, ''), createdPath));
}

function decodeCheckpoint(value: Wire, { migrationId }: LedgerApiOptions): Checkpoint | Ignored {
  const list = readList(value.synchronizerTimes, 'synchronizerTimes');
  if (list.length === 0) return { kind: 'ignored', what: 'empty checkpoint' };
  const times = list.map((item, index) => {
    const path = `synchronizerTimes[${index}]`;
    const wire = readObject(item, path);
    return {
      synchronizerId: readText(wire.synchronizerId, `${path}.synchronizerId`, SYNCHRONIZER_EXPECTED),
      recordTime: readTime(wire.recordTime, `${path}.recordTime`),
    };
  });
  return { kind: 'checkpoint', format: 'ledger-api', migrationId, times, offset: ledgerOffsetOf(value.offset) };
}
