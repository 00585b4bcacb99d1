/** An update of the network before it has a wire format: a tree of events, numbered depth first when it is written. */
export type LedgerEvent = CreateEvent | ExerciseEvent;

export interface CreateEvent {
  /** `Module:Entity` */
  readonly template: string;
  readonly contractId: string;
  readonly payload: object;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

export interface ExerciseEvent {
  readonly template: string;
  readonly contractId: string;
  readonly choice: string;
  readonly argument: object;
  /** Any JSON value: choices without a record answer with the bare name of their result. */
  readonly result: unknown;
  readonly consuming: boolean;
  readonly actors: readonly string[];
  readonly children: readonly LedgerEvent[];
}

/** The message around the tree. */
export interface Envelope {
  readonly updateId: string;
  readonly migrationId: number;
  readonly synchronizerId: string;
  readonly recordTime: string;
  readonly effectiveAt: string;
  readonly packageIds: Readonly<Record<PackageName, string>>;
}

/** The same as a participant prints it, where it shows all of a transaction (LEDGER_EFFECTS): amounts without an exponent. */
export function ledgerApiLine(root: ExerciseEvent, envelope: Envelope, offset: number): string {
  const { updateId, synchronizerId, recordTime, effectiveAt } = envelope;
  const events: object[] = [];
  writeLedgerApiEvents(root, { ...envelope, offset }, events);
  const value = {
    ...{
      updateId,
      commandId: '',
      workflowId: '',
      effectiveAt,
      events,
      offset,
      synchronizerId,
      traceContext: null,
      recordTime,
    },
    ...{ externalTransactionHash: null, paidTrafficCost: 0 },
  };
  return JSON.stringify({ update: { Transaction: { value } } }).replaceAll('"0E-10"', '"0.0000000000"');
}

/** Writes the event and all below it; returns the number of the last. */
function writeLedgerApiEvents(event: LedgerEvent, envelope: Envelope & { offset: number }, events: object[]): number {
  const nodeId = events.length;
  const packageName = packageOf(event.template);
  const { contractId } = event;
  const templateId = `${envelope.packageIds[packageName]}:${event.template}`;
  const about = { offset: envelope.offset, nodeId, contractId, templateId, packageName, acsDelta: true };
  if ('payload' in event) {
    const { payload: createArgument, signatories, observers } = event;
    const parties = { witnessParties: signatories.slice(0, 1), signatories, observers };
    const empty = { contractKey: null, contractKeyHash: '', createdEventBlob: '', interfaceViews: [] };
    const created = { ...about, createArgument, ...empty, ...parties, createdAt: envelope.effectiveAt };
    events.push({ CreatedEvent: created });
    return nodeId;
  }
  const { choice, argument: choiceArgument, result: exerciseResult, consuming, actors: actingParties } = event;
  const exercised = { ...about, interfaceId: null, choice, choiceArgument, actingParties, consuming, exerciseResult };
  events.push({});
  const last = event.children.reduce((_, child) => writeLedgerApiEvents(child, envelope, events), nodeId);
  events[nodeId] = { ExercisedEvent: { ...exercised, lastDescendantNodeId: last } };
  return last;
}

/** One update as a line of Scan's form. Its root is one exercise, as of nearly every update on the network. */
export function scanLine(root: ExerciseEvent, envelope: Envelope): string {
  const entries: [string, unknown][] = [];
  writeEvents(root, envelope, entries);
  return JSON.stringify({
    update_id: envelope.updateId,
    migration_id: envelope.migrationId,
    workflow_id: '',
    record_time: envelope.recordTime,
    synchronizer_id: envelope.synchronizerId,
    effective_at: envelope.effectiveAt,
    root_event_ids: [`${envelope.updateId}:0`],
    // Scan prints the keys sorted as strings: `:10` comes before `:2`.
    events_by_id: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))),
  });
}

/** Writes the event and all below it; returns its id. */
function writeEvents(event: LedgerEvent, envelope: Envelope, entries: [string, unknown][]): string {
  const eventId = `${envelope.updateId}:${entries.length}`;
  const packageName = packageOf(event.template);
  const about = {
    event_id: eventId,
    contract_id: event.contractId,
    template_id: `${envelope.packageIds[packageName]}:${event.template}`,
    package_name: packageName,
  };
  const entry: [string, unknown] = [eventId, null];
  entries.push(entry);
  if ('payload' in event) {
    entry[1] = {
      event_type: 'created_event',
      ...about,
      create_arguments: event.payload,
      created_at: envelope.effectiveAt,
      signatories: event.signatories,
      observers: event.observers,
    };
  } else {
    entry[1] = {
      event_type: 'exercised_event',
      ...about,
      choice: event.choice,
      choice_argument: event.argument,
      child_event_ids: event.children.map((child) => writeEvents(child, envelope, entries)),
      exercise_result: event.result,
      consuming: event.consuming,
      acting_parties: event.actors,
      interface_id: null,
    };
  }
  return eventId;
}

type PackageName = 'splice-amulet' | 'splice-dso-governance';

function packageOf(template: string): PackageName {
  return /^Splice\.(DsoRules|DSO\.)/.test(template) ? 'splice-dso-governance' : 'splice-amulet';
}
