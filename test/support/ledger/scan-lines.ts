import type { CreateEvent, ExerciseEvent, HistoryEvent, HistoryItem, HistoryUpdate } from './history.ts';
import { importsOfOne } from './history.ts';
import { createArguments, javaDecimal, shortTime, sixDigitTime } from './wire-text.ts';

const IMPORT_TIME = '0001-01-01T00:00:00.000000Z';

/** An import of a participant's active contracts: in format A, and with the views of its creates, which no Scan sends. */
export function viewedImportLine(item: HistoryItem): string {
  const message = JSON.parse(scanLine(item)!);
  const [event] = Object.values<Record<string, unknown>>(message.events_by_id);
  const [create] = item.kind === 'update' ? item.events : [];
  event!.interface_views = create?.contract.views ?? [];
  return JSON.stringify(message);
}

/** One item as a line of format A (Scan `/v2/updates`), or null where that format has no word for it. */
export function scanLine(item: HistoryItem): string | null {
  if (item.kind !== 'update' || item.sharesTime) return null;
  const [update, ...others] = importsOfOne(item);
  if (update === undefined || others.length > 0) throw new Error('an import of format A has one create');
  return JSON.stringify(update.wrapping.endsWith('assignment') ? reassignment(update) : transaction(update));
}

function transaction(update: HistoryUpdate): unknown {
  const { updateId } = update;
  return {
    update_id: updateId,
    migration_id: update.migrationId,
    workflow_id: '',
    record_time: update.recordTime === null ? IMPORT_TIME : sixDigitTime(update.recordTime),
    synchronizer_id: update.synchronizerId,
    effective_at: shortTime(update.effectiveAt),
    root_event_ids: onActiveSet(update.events).map((event) => eventId(updateId, event)),
    events_by_id: eventsById(updateId, update.events),
  };
}

/** Format A cannot say that an event is not on the active set, so its feed does not carry such events. */
function onActiveSet(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return events.filter((event) => event.acsDelta);
}

function eventsById(updateId: string, roots: readonly HistoryEvent[]): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  const walk = (events: readonly HistoryEvent[]): void => {
    for (const event of onActiveSet(events)) {
      const written = event.kind === 'create' ? createdEvent(updateId, event) : exercisedEvent(updateId, event);
      entries.push([eventId(updateId, event), written]);
      if (event.kind === 'exercise') walk(event.children);
    }
  };
  walk(roots);
  // Scan prints the keys sorted as strings: `:10` comes before `:2`.
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function createdEvent(updateId: string, { node, contract }: CreateEvent): unknown {
  return {
    event_type: 'created_event',
    event_id: `${updateId}:${node}`,
    contract_id: contract.contractId,
    template_id: contract.templateId,
    package_name: contract.packageName,
    create_arguments: createArguments(contract, javaDecimal),
    created_at: shortTime(contract.createdAt),
    signatories: contract.signatories,
    observers: contract.observers,
  };
}

function exercisedEvent(updateId: string, event: ExerciseEvent): unknown {
  return {
    event_type: 'exercised_event',
    event_id: eventId(updateId, event),
    contract_id: event.contract.contractId,
    template_id: event.templateId,
    package_name: event.contract.packageName,
    choice: event.choice,
    choice_argument: {},
    child_event_ids: onActiveSet(event.children).map((child) => eventId(updateId, child)),
    exercise_result: {},
    consuming: event.consuming,
    acting_parties: event.contract.signatories.slice(-1),
    interface_id: null,
  };
}

/** The migration and the synchronizers are inside `event`; no tag distinguishes the two kinds. */
function reassignment(update: HistoryUpdate): unknown {
  const event = update.events[0]!;
  const assigned = update.wrapping === 'assignment';
  return {
    update_id: update.updateId,
    offset: update.offset.toString().padStart(18, '0'),
    record_time: sixDigitTime(update.recordTime!),
    event: {
      submitter: event.contract.signatories[0] ?? '',
      source_synchronizer: assigned ? update.otherSynchronizerId : update.synchronizerId,
      migration_id: update.migrationId,
      target_synchronizer: assigned ? update.synchronizerId : update.otherSynchronizerId,
      unassign_id: `00${update.offset.toString(16).padStart(64, '0')}`,
      reassignment_counter: 1,
      ...(event.kind === 'create'
        ? { created_event: createdEvent(update.updateId, event) }
        : { contract_id: event.contract.contractId }),
    },
  };
}

function eventId(updateId: string, event: HistoryEvent): string {
  return `${updateId}:${event.node}`;
}
