import type { Contract, ExerciseEvent, HistoryEvent, HistoryItem, HistoryUpdate } from './history.ts';
import { inOrder } from './history.ts';
import { createArguments, plainDecimal, shortTime } from './wire-text.ts';

/** A Ledger API stream is read in one of two shapes; both have the same creates and archives here, transients included. */
export type LedgerApiShape = 'acs-delta' | 'ledger-effects';

const IMPORT_TIME = '0001-01-01T00:00:00Z';

/** One item as a line of format B (JSON Ledger API `/v2/updates`). */
export function ledgerApiLine(item: HistoryItem, shape: LedgerApiShape = 'ledger-effects'): string {
  const [kind, value] = wrapped(item, shape);
  return JSON.stringify({ update: { [kind]: { value } } });
}

function wrapped(item: HistoryItem, shape: LedgerApiShape): [string, unknown] {
  const { offset } = item;
  if (item.kind === 'checkpoint') {
    const synchronizerTimes = item.times.map((each) => ({ ...each, recordTime: shortTime(each.recordTime) }));
    return ['OffsetCheckpoint', { offset, synchronizerTimes }];
  }
  if (item.kind === 'notice') {
    const { name, synchronizerId, recordTime } = item;
    const updateId = `1220${offset.toString(16).padStart(64, '0')}`;
    return [name, { updateId, offset, synchronizerId, recordTime: shortTime(recordTime), events: [] }];
  }
  return item.wrapping.endsWith('assignment')
    ? ['Reassignment', reassignmentValue(item)]
    : ['Transaction', transactionValue(item, shape)];
}

function transactionValue(update: HistoryUpdate, shape: LedgerApiShape): unknown {
  return {
    updateId: update.updateId,
    commandId: '',
    workflowId: '',
    effectiveAt: shortTime(update.effectiveAt),
    events: [...inOrder(update.events)].flatMap((event) => transactionEvent(update, event, shape)),
    offset: update.offset,
    synchronizerId: update.synchronizerId,
    traceContext: null,
    recordTime: update.recordTime === null ? IMPORT_TIME : shortTime(update.recordTime),
    externalTransactionHash: null,
    paidTrafficCost: 0,
  };
}

function transactionEvent(update: HistoryUpdate, event: HistoryEvent, shape: LedgerApiShape): readonly unknown[] {
  if (event.kind === 'create') return [{ CreatedEvent: createdEvent(update, event) }];
  if (shape === 'ledger-effects') return [{ ExercisedEvent: exercisedEvent(update, event) }];
  return event.consuming && event.acsDelta ? [{ ArchivedEvent: archivedEvent(update, event) }] : [];
}

function createdEvent(update: HistoryUpdate, event: HistoryEvent): unknown {
  const { contract } = event;
  return {
    offset: update.offset,
    nodeId: event.node,
    contractId: contract.contractId,
    templateId: contract.templateId,
    contractKey: null,
    contractKeyHash: '',
    createArgument: createArguments(contract, plainDecimal),
    createdEventBlob: '',
    interfaceViews: contract.views ?? [],
    witnessParties: contract.signatories.slice(0, 1),
    signatories: contract.signatories,
    observers: contract.observers,
    createdAt: shortTime(contract.createdAt),
    packageName: contract.packageName,
    ...acsDelta(event),
  };
}

/** Older nodes leave `acsDelta` out where it is true; here every other event does. */
function acsDelta(event: HistoryEvent): { acsDelta?: boolean } {
  return event.acsDelta && event.node % 2 === 1 ? {} : { acsDelta: event.acsDelta };
}

function exercisedEvent(update: HistoryUpdate, event: ExerciseEvent): unknown {
  return {
    offset: update.offset,
    nodeId: event.node,
    contractId: event.contract.contractId,
    templateId: event.templateId,
    interfaceId: null,
    choice: event.choice,
    choiceArgument: {},
    actingParties: event.contract.signatories.slice(-1),
    consuming: event.consuming,
    exerciseResult: {},
    packageName: event.contract.packageName,
    ...acsDelta(event),
    lastDescendantNodeId: lastDescendant(event),
  };
}

function lastDescendant(event: HistoryEvent): number {
  const last = event.kind === 'exercise' ? event.children.at(-1) : undefined;
  return last === undefined ? event.node : lastDescendant(last);
}

function archivedEvent(update: HistoryUpdate, event: ExerciseEvent): unknown {
  return {
    offset: update.offset,
    nodeId: event.node,
    contractId: event.contract.contractId,
    templateId: event.templateId,
    witnessParties: event.contract.signatories.slice(0, 1),
    packageName: event.contract.packageName,
    implementedInterfaces: [],
  };
}

function reassignmentValue(update: HistoryUpdate): unknown {
  const event = update.events[0]!;
  return {
    updateId: update.updateId,
    commandId: '',
    workflowId: '',
    offset: update.offset,
    events: [update.wrapping === 'assignment' ? assigned(update, event) : unassigned(update, event)],
    traceContext: null,
    recordTime: shortTime(update.recordTime!),
    synchronizerId: update.synchronizerId,
  };
}

function assigned(update: HistoryUpdate, event: HistoryEvent): unknown {
  return {
    JsAssignmentEvent: {
      source: update.otherSynchronizerId,
      target: update.synchronizerId,
      ...reassigned(update, event.contract),
      createdEvent: createdEvent(update, event),
    },
  };
}

/** One level deeper than an assignment: so the node prints it. */
function unassigned(update: HistoryUpdate, event: HistoryEvent): unknown {
  const { contractId, packageName } = event.contract;
  const templateId = event.kind === 'exercise' ? event.templateId : event.contract.templateId;
  const value = {
    ...reassigned(update, event.contract),
    contractId,
    templateId,
    source: update.synchronizerId,
    target: update.otherSynchronizerId,
    assignmentExclusivity: null,
    witnessParties: event.contract.signatories.slice(0, 1),
    packageName,
    offset: update.offset,
    nodeId: event.node,
  };
  return { JsUnassignedEvent: { value } };
}

function reassigned(update: HistoryUpdate, contract: Contract): Record<string, unknown> {
  return {
    reassignmentId: `00${update.offset.toString(16).padStart(64, '0')}`,
    submitter: contract.signatories[0] ?? '',
    reassignmentCounter: 1,
  };
}
