import { decodeMessage } from '../../../src/decode/decode-message.ts';
import { BadUpdate } from '../../../src/ledger/bad-update.ts';
import type { Coin, CoinCreate, Decoded, LedgerEvent, LedgerUpdate } from '../../../src/ledger/update.ts';

/** Good messages of both wire formats, as JSON values: each call makes new ones, so a test may change them. */
export type Json = Record<string, unknown>;

export const DSO = 'DSO::1220dd';
export const ALICE = 'alice::1220aa';
export const SYNC = 'global::1220ff';
const HASH = 'ab'.repeat(32);

export function template(entity: string, module = 'Splice.Amulet'): string {
  return `${HASH}:${module}:${entity}`;
}

export function amuletArguments(): Json {
  return {
    dso: DSO,
    owner: ALICE,
    amount: {
      initialAmount: '42.5000000000',
      createdAt: { number: '1207' },
      ratePerRound: { rate: '0.0025000000' },
    },
  };
}

export function lockedArguments(): Json {
  return {
    amulet: amuletArguments(),
    lock: { holders: [DSO], expiresAt: '2026-04-01T12:00:00Z', optContext: 'for bob' },
  };
}

export function roundArguments(): Json {
  return { dso: DSO, round: { number: '31' }, amuletPrice: '0.0750000000', opensAt: '2026-03-04T06:00:00.5Z' };
}

const CREATED_AT = '2026-03-04T05:06:07.891011Z';

export function scanCreate(node: number, entity: string, create_arguments: Json): Json {
  return {
    event_type: 'created_event',
    event_id: `u:${node}`,
    contract_id: `c${node}`,
    template_id: entity === 'OpenMiningRound' ? template(entity, 'Splice.Round') : template(entity),
    package_name: 'splice-amulet',
    create_arguments,
    created_at: CREATED_AT,
    signatories: entity === 'OpenMiningRound' ? [DSO] : [DSO, ALICE],
    observers: [],
  };
}

export function scanExercise(node: number, exercise: { consuming: boolean; children?: string[] }): Json {
  return {
    event_type: 'exercised_event',
    event_id: `u:${node}`,
    contract_id: `c${node}`,
    template_id: exercise.consuming ? template('Amulet') : template('AmuletRules', 'Splice.AmuletRules'),
    package_name: 'splice-amulet',
    choice: 'SomeChoice',
    choice_argument: {},
    child_event_ids: exercise.children ?? [],
    exercise_result: {},
    consuming: exercise.consuming,
    acting_parties: [ALICE],
    interface_id: null,
  };
}

export function scanTransaction(): Json {
  return {
    update_id: 'u',
    migration_id: 4,
    workflow_id: '',
    record_time: '2026-03-04T05:06:08.250000Z',
    synchronizer_id: SYNC,
    effective_at: CREATED_AT,
    root_event_ids: ['u:0'],
    events_by_id: {
      'u:0': scanExercise(0, { consuming: false, children: ['u:1', 'u:2', 'u:10', 'u:11'] }),
      'u:1': scanExercise(1, { consuming: true }),
      'u:10': scanCreate(10, 'LockedAmulet', lockedArguments()),
      'u:11': scanCreate(11, 'OpenMiningRound', roundArguments()),
      'u:2': scanCreate(2, 'Amulet', amuletArguments()),
    },
  };
}

export function scanImport(): Json {
  const create = scanCreate(0, 'Amulet', amuletArguments());
  return {
    ...scanTransaction(),
    record_time: '0001-01-01T00:00:00.000000Z',
    root_event_ids: ['u:0'],
    events_by_id: { 'u:0': create },
  };
}

function scanReassignment(rest: Json): Json {
  return {
    update_id: 'u',
    offset: '12',
    record_time: '2026-03-04T05:10:00.000000Z',
    event: {
      submitter: ALICE,
      source_synchronizer: SYNC,
      target_synchronizer: 'other::1220ee',
      migration_id: 4,
      unassign_id: '00ee',
      reassignment_counter: 1,
      ...rest,
    },
  };
}

export function scanAssignment(): Json {
  return scanReassignment({ created_event: scanCreate(0, 'Amulet', amuletArguments()) });
}

export function scanUnassignment(): Json {
  return scanReassignment({ contract_id: 'c2' });
}

/** An unassignment within a synchronizer: an operator's purge, of which format A names no template. */
export function scanPurge(): Json {
  return scanReassignment({ contract_id: 'c1', target_synchronizer: SYNC });
}

export function ledgerApiCreate(nodeId: number, entity: string, createArgument: Json): Json {
  return {
    offset: 101,
    nodeId,
    contractId: `c${nodeId}`,
    templateId: entity === 'OpenMiningRound' ? template(entity, 'Splice.Round') : template(entity),
    contractKey: null,
    createArgument,
    createdEventBlob: '',
    interfaceViews: [],
    witnessParties: [DSO],
    signatories: entity === 'OpenMiningRound' ? [DSO] : [DSO, ALICE],
    observers: [],
    createdAt: CREATED_AT,
    packageName: 'splice-amulet',
    acsDelta: true,
  };
}

export function ledgerApiArchive(nodeId: number): Json {
  return {
    offset: 101,
    nodeId,
    contractId: `c${nodeId}`,
    templateId: template('Amulet'),
    witnessParties: [DSO],
    packageName: 'splice-amulet',
  };
}

export function bareTransaction(): Json {
  return {
    updateId: 'u',
    commandId: '',
    workflowId: '',
    effectiveAt: CREATED_AT,
    events: [
      { ArchivedEvent: ledgerApiArchive(1) },
      { CreatedEvent: ledgerApiCreate(2, 'Amulet', amuletArguments()) },
      { CreatedEvent: ledgerApiCreate(10, 'LockedAmulet', lockedArguments()) },
      { CreatedEvent: ledgerApiCreate(11, 'OpenMiningRound', roundArguments()) },
      {
        ExercisedEvent: {
          ...ledgerApiArchive(12),
          interfaceId: null,
          choice: 'SomeChoice',
          choiceArgument: {},
          actingParties: [ALICE],
          consuming: true,
          exerciseResult: {},
          lastDescendantNodeId: 12,
        },
      },
    ],
    offset: 101,
    synchronizerId: SYNC,
    traceContext: null,
    recordTime: '2026-03-04T05:06:08.250Z',
    externalTransactionHash: null,
  };
}

export function ledgerApi(kind: string, value: Json): Json {
  return { update: { [kind]: { value } } };
}

export function ledgerApiTransaction(): Json {
  return ledgerApi('Transaction', bareTransaction());
}

export function ledgerApiImport(): Json {
  const events = [
    { CreatedEvent: ledgerApiCreate(0, 'Amulet', amuletArguments()) },
    { CreatedEvent: ledgerApiCreate(1, 'LockedAmulet', lockedArguments()) },
    { CreatedEvent: ledgerApiCreate(2, 'OpenMiningRound', roundArguments()) },
  ];
  return ledgerApi('Transaction', { ...bareTransaction(), recordTime: '0001-01-01T00:00:00Z', events });
}

export function ledgerApiReassignment(event: Json): Json {
  return ledgerApi('Reassignment', {
    updateId: 'u',
    commandId: '',
    workflowId: '',
    offset: 104,
    events: [event],
    traceContext: null,
    recordTime: '2026-03-04T05:10:01Z',
    synchronizerId: 'other::1220ee',
  });
}

export function ledgerApiAssignment(): Json {
  const createdEvent = ledgerApiCreate(0, 'Amulet', amuletArguments());
  return ledgerApiReassignment({ JsAssignmentEvent: { source: SYNC, target: 'other::1220ee', createdEvent } });
}

export function ledgerApiUnassignment(): Json {
  const value = { ...ledgerApiArchive(2), source: SYNC, target: 'other::1220ee', assignmentExclusivity: null };
  return ledgerApiReassignment({ JsUnassignedEvent: { value } });
}

/** An unassignment within a synchronizer: an operator's purge. */
export function ledgerApiPurge(): Json {
  const value = { ...ledgerApiArchive(1), source: SYNC, target: SYNC, assignmentExclusivity: null };
  return ledgerApiReassignment({ JsUnassignedEvent: { value } });
}

export function ledgerApiCheckpoint(): Json {
  const synchronizerTimes = [{ synchronizerId: SYNC, recordTime: '2026-03-04T05:07:00Z' }];
  return ledgerApi('OffsetCheckpoint', { offset: 102, synchronizerTimes });
}

/** Sets what a path of keys, such as `events_by_id/u:1/contract_id`, leads to; undefined takes it away. */
export function change(message: Json, path: string, value: unknown): Json {
  const keys = path.split('/');
  const last = keys.pop()!;
  const target = keys.reduce<Json>((parent, key) => parent[key] as Json, message);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return message;
}

export function decode(message: unknown, migrationId = 7): Decoded {
  return decodeMessage(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), { migrationId });
}

export function decodeUpdate(message: unknown): LedgerUpdate {
  const decoded = decode(message);
  if (decoded.kind !== 'update') throw new Error(`decoded as ${decoded.kind}`);
  return decoded;
}

/** `coin c1` for each event, in order. */
export function outline(events: readonly LedgerEvent[]): string[] {
  return events.map((event) => `${event.kind} ${event.contractId}`);
}

/** The first thing wrong with a message whose dso is ours: at once, or waiting in an event. Null where nothing is. */
export function faultOf(message: unknown): BadUpdate | null {
  try {
    const decoded = decode(message);
    const events = decoded.kind === 'update' ? decoded.events : [];
    for (const event of events) {
      if (!('body' in event)) continue;
      if (event.signatories instanceof BadUpdate) return event.signatories;
      if (event.body instanceof BadUpdate) return event.body;
    }
    return null;
  } catch (error) {
    if (error instanceof BadUpdate) return error;
    throw error;
  }
}

/** The coin of an update's only coin create. */
export function onlyCoin(message: unknown): Coin {
  const [create, ...others] = decodeUpdate(message).events.filter(
    (event): event is CoinCreate => event.kind === 'Amulet' || event.kind === 'LockedAmulet',
  );
  if (create === undefined || others.length > 0) throw new Error('not exactly one coin create');
  if (create.body instanceof BadUpdate) throw create.body;
  return create.body;
}
