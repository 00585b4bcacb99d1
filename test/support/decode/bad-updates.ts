import * as messages from './messages.ts';

/**
 * One bad update a line: the good message it is derived from, what is changed in it, to what (JSON, or `-` for nothing there),
 * and the field that the message about it must name.
 */
const SCAN = `
Transaction  | update_id                                    | -                        | update_id
Transaction  | update_id                                    | 7                        | update_id
Transaction  | migration_id                                 | -                        | migration_id
Transaction  | migration_id                                 | -1                       | migration_id
Transaction  | migration_id                                 | 9007199254740992         | migration_id
Transaction  | record_time                                  | -                        | record_time
Transaction  | record_time                                  | "2025-02-12"             | record_time
Transaction  | record_time                                  | "1969-12-31T23:59:59.999999Z" | record_time
Transaction  | record_time                                  | "2201-01-01T00:00:00Z"   | record_time
Transaction  | record_time                                  | "0001-01-01T00:00:00Z"   | record_time
Transaction  | synchronizer_id                              | -                        | synchronizer_id
Transaction  | root_event_ids                               | -                        | root_event_ids
Transaction  | root_event_ids                               | "u:0"                    | root_event_ids
Transaction  | root_event_ids                               | [7]                      | root_event_ids[0]
Transaction  | root_event_ids                               | ["u:99"]                 | root_event_ids
Transaction  | root_event_ids                               | ["u:0","u:0"]            | root_event_ids
Transaction  | root_event_ids                               | ["u:0","u:1"]            | root_event_ids
Transaction  | root_event_ids                               | []                       | events_by_id["u:1"]
Transaction  | events_by_id                                 | -                        | events_by_id
Transaction  | events_by_id                                 | []                       | events_by_id
Transaction  | events_by_id/u:0                             | null                     | events_by_id["u:0"]
Transaction  | events_by_id/u:0/event_type                  | -                        | events_by_id["u:0"].event_type
Transaction  | events_by_id/u:0/child_event_ids             | -                        | events_by_id["u:0"].child_event_ids
Transaction  | events_by_id/u:0/child_event_ids             | ["u:1",null]             | events_by_id["u:0"].child_event_ids[1]
Transaction  | events_by_id/u:0/child_event_ids             | ["u:1","u:3"]            | events_by_id["u:0"].child_event_ids
Transaction  | events_by_id/u:1/child_event_ids             | ["u:0"]                  | events_by_id["u:1"].child_event_ids
Transaction  | events_by_id/u:1/consuming                   | -                        | events_by_id["u:1"].consuming
Transaction  | events_by_id/u:1/consuming                   | "true"                   | events_by_id["u:1"].consuming
Transaction  | events_by_id/u:1/contract_id                 | -                        | events_by_id["u:1"].contract_id
Transaction  | events_by_id/u:1/contract_id                 | ""                       | events_by_id["u:1"].contract_id
Transaction  | events_by_id/u:1/template_id                 | -                        | events_by_id["u:1"].template_id
Transaction  | events_by_id/u:1/template_id                 | "p\\n:Splice.Amulet:Amulet" | events_by_id["u:1"].template_id
Transaction  | events_by_id/u:1/template_id                 | "\\u007f:Splice.Amulet:Amulet" | events_by_id["u:1"].template_id
Transaction  | events_by_id/u:1/template_id                 | "p:Other:Te\\u007fmplate" | events_by_id["u:1"].template_id
Transaction  | events_by_id/u:1/package_name                | -                        | events_by_id["u:1"].package_name
Transaction  | events_by_id/u:1/package_name                | 7                        | events_by_id["u:1"].package_name
Transaction  | events_by_id/u:2/contract_id                 | -                        | events_by_id["u:2"].contract_id
Transaction  | events_by_id/u:2/template_id                 | 7                        | events_by_id["u:2"].template_id
Transaction  | events_by_id/u:2/template_id                 | "p\\nq:Splice.Amulet:Amulet" | events_by_id["u:2"].template_id
Transaction  | events_by_id/u:2/template_id                 | "p\\u007f:Splice.Amulet:Amulet" | events_by_id["u:2"].template_id
Transaction  | events_by_id/u:2/template_id                 | "p:Other\\u0000:Template" | events_by_id["u:2"].template_id
Transaction  | events_by_id/u:2/package_name                | null                     | events_by_id["u:2"].package_name
Transaction  | events_by_id/u:2/event_id                    | -                        | events_by_id["u:2"].event_id
Transaction  | events_by_id/u:2/event_id                    | "2"                      | events_by_id["u:2"].event_id
Transaction  | events_by_id/u:2/event_id                    | "u:2147483648"           | events_by_id["u:2"].event_id
Transaction  | events_by_id/u:2/created_at                  | -                        | events_by_id["u:2"].created_at
Transaction  | events_by_id/u:2/created_at                  | "0001-01-01T00:00:00Z"   | events_by_id["u:2"].created_at
Transaction  | events_by_id/u:2/signatories                 | -                        | events_by_id["u:2"].signatories
Transaction  | events_by_id/u:2/signatories                 | "DSO::1220dd"            | events_by_id["u:2"].signatories
Transaction  | events_by_id/u:2/signatories                 | ["DSO::1220dd","alice"]  | events_by_id["u:2"].signatories[1]
Transaction  | events_by_id/u:2/observers                   | -                        | events_by_id["u:2"].observers
Transaction  | events_by_id/u:2/observers                   | [null]                   | events_by_id["u:2"].observers[0]
Transaction  | events_by_id/u:2/create_arguments            | -                        | events_by_id["u:2"].create_arguments
Transaction  | events_by_id/u:2/create_arguments            | []                       | events_by_id["u:2"].create_arguments
Transaction  | events_by_id/u:2/create_arguments            | {"record":{"fields":[]}} | events_by_id["u:2"].create_arguments
Transaction  | events_by_id/u:2/create_arguments/dso        | -                        | events_by_id["u:2"].create_arguments.dso
Transaction  | events_by_id/u:2/create_arguments/dso        | 7                        | events_by_id["u:2"].create_arguments.dso
Transaction  | events_by_id/u:2/create_arguments/owner      | -                        | events_by_id["u:2"].create_arguments.owner
Transaction  | events_by_id/u:2/create_arguments/owner      | "alice"                  | events_by_id["u:2"].create_arguments.owner
Transaction  | events_by_id/u:2/create_arguments/amount     | -                        | events_by_id["u:2"].create_arguments.amount
Transaction  | events_by_id/u:2/create_arguments/amount/initialAmount | -              | events_by_id["u:2"].create_arguments.amount.initialAmount
Transaction  | events_by_id/u:2/create_arguments/amount/initialAmount | 500            | events_by_id["u:2"].create_arguments.amount.initialAmount
Transaction  | events_by_id/u:2/create_arguments/amount/initialAmount | "0.0000000000" | events_by_id["u:2"].create_arguments.amount.initialAmount
Transaction  | events_by_id/u:2/create_arguments/amount/initialAmount | "-1.0"         | events_by_id["u:2"].create_arguments.amount.initialAmount
Transaction  | events_by_id/u:2/create_arguments/amount/initialAmount | "10000000000000000000000000000" | events_by_id["u:2"].create_arguments.amount.initialAmount
Transaction  | events_by_id/u:2/create_arguments/amount/createdAt | -                  | events_by_id["u:2"].create_arguments.amount.createdAt
Transaction  | events_by_id/u:2/create_arguments/amount/createdAt/number | "-1"        | events_by_id["u:2"].create_arguments.amount.createdAt.number
Transaction  | events_by_id/u:2/create_arguments/amount/createdAt/number | "9223372036854775808" | events_by_id["u:2"].create_arguments.amount.createdAt.number
Transaction  | events_by_id/u:2/create_arguments/amount/createdAt/number | 9007199254740992 | events_by_id["u:2"].create_arguments.amount.createdAt.number
Transaction  | events_by_id/u:2/create_arguments/amount/ratePerRound | "0.1"           | events_by_id["u:2"].create_arguments.amount.ratePerRound
Transaction  | events_by_id/u:2/create_arguments/amount/ratePerRound/rate | "-0.1"     | events_by_id["u:2"].create_arguments.amount.ratePerRound.rate
Transaction  | events_by_id/u:10/create_arguments/amulet    | -                        | events_by_id["u:10"].create_arguments.amulet
Transaction  | events_by_id/u:10/create_arguments/amulet/dso | -                       | events_by_id["u:10"].create_arguments.amulet.dso
Transaction  | events_by_id/u:10/create_arguments/amulet/owner | "bob"                 | events_by_id["u:10"].create_arguments.amulet.owner
Transaction  | events_by_id/u:11/contract_id                | 11                       | events_by_id["u:11"].contract_id
Transaction  | events_by_id/u:11/signatories                | [""]                     | events_by_id["u:11"].signatories[0]
Transaction  | events_by_id/u:11/create_arguments/dso       | null                     | events_by_id["u:11"].create_arguments.dso
Transaction  | events_by_id/u:11/create_arguments/round     | -                        | events_by_id["u:11"].create_arguments.round
Transaction  | events_by_id/u:11/create_arguments/round/number | "two"                 | events_by_id["u:11"].create_arguments.round.number
Import       | root_event_ids                               | []                       | events_by_id["u:0"]
Import       | events_by_id                                 | {"u:0":{"event_type":"exercised_event","consuming":false,"child_event_ids":[]}} | record_time
Assignment   | update_id                                    | -                        | update_id
Assignment   | record_time                                  | "0001-01-01T00:00:00Z"   | record_time
Assignment   | event                                        | []                       | event
Assignment   | event                                        | {"migration_id":1}       | event
Assignment   | event/migration_id                           | -                        | event.migration_id
Assignment   | event/target_synchronizer                    | -                        | event.target_synchronizer
Assignment   | event/contract_id                            | "c2"                     | event
Assignment   | event/created_event                          | "c2"                     | event.created_event
Assignment   | event/created_event/contract_id              | -                        | event.created_event.contract_id
Assignment   | event/created_event/created_at               | -                        | event.created_event.created_at
Assignment   | event/created_event/create_arguments/dso     | -                        | event.created_event.create_arguments.dso
Unassignment | event/source_synchronizer                    | -                        | event.source_synchronizer
Unassignment | event/contract_id                            | null                     | event
Unassignment | event/target_synchronizer                    | -                        | event.target_synchronizer
Unassignment | event/target_synchronizer                    | ""                       | event.target_synchronizer
Purge        | event/contract_id                            | 7                        | event.contract_id
Purge        | event/contract_id                            | ""                       | event.contract_id
Purge        | record_time                                  | -                        | record_time
`;

const LEDGER_API = `
Bare         | updateId                                     | null                     | updateId
Bare         | updateId                                     | -                        | updateId
Bare         | events                                       | {}                       | events
Bare         | recordTime                                   | -                        | recordTime
Bare         | synchronizerId                               | -                        | synchronizerId
Transaction  | update                                       | {}                       | update
Transaction  | update                                       | {"transaction":{}}       | update
Transaction  | update/Reassignment                          | {}                       | update
Transaction  | update/Transaction                           | []                       | update.Transaction
Transaction  | update/Transaction/value                     | -                        | update.Transaction.value
Transaction  | update/Transaction/value/updateId            | -                        | updateId
Transaction  | update/Transaction/value/recordTime          | "0001-01-01T00:00:00Z"   | recordTime
Transaction  | update/Transaction/value/synchronizerId      | 7                        | synchronizerId
Transaction  | update/Transaction/value/events              | -                        | events
Transaction  | update/Transaction/value/events/0            | null                     | events[0]
Transaction  | update/Transaction/value/events/0            | {}                       | events[0]
Transaction  | update/Transaction/value/events/0            | {"NewEvent":{}}          | events[0]
Transaction  | update/Transaction/value/events/0            | {"CreatedEvent":{},"ArchivedEvent":{}} | events[0]
Transaction  | update/Transaction/value/events/0/ArchivedEvent | []                    | events[0].ArchivedEvent
Transaction  | update/Transaction/value/events/0/ArchivedEvent/contractId | -          | events[0].ArchivedEvent.contractId
Transaction  | update/Transaction/value/events/0/ArchivedEvent/templateId | "x"        | events[0].ArchivedEvent.templateId
Transaction  | update/Transaction/value/events/0/ArchivedEvent/templateId | "p\\r:Splice.Amulet:Amulet" | events[0].ArchivedEvent.templateId
Transaction  | update/Transaction/value/events/0/ArchivedEvent/templateId | "p:Other:\\tTemplate" | events[0].ArchivedEvent.templateId
Transaction  | update/Transaction/value/events/0/ArchivedEvent/packageName | -         | events[0].ArchivedEvent.packageName
Transaction  | update/Transaction/value/events/0/ArchivedEvent/acsDelta | "false"      | events[0].ArchivedEvent.acsDelta
Transaction  | update/Transaction/value/events/1/CreatedEvent/contractId | ""          | events[1].CreatedEvent.contractId
Transaction  | update/Transaction/value/events/1/CreatedEvent/templateId | -           | events[1].CreatedEvent.templateId
Transaction  | update/Transaction/value/events/1/CreatedEvent/templateId | "#splice-amulet\\n:Splice.Amulet:Amulet" | events[1].CreatedEvent.templateId
Transaction  | update/Transaction/value/events/1/CreatedEvent/templateId | "p\\nq:Splice.Amulet:Amulet" | events[1].CreatedEvent.templateId
Transaction  | update/Transaction/value/events/1/CreatedEvent/packageName | -          | events[1].CreatedEvent.packageName
Transaction  | update/Transaction/value/events/1/CreatedEvent/acsDelta | 1             | events[1].CreatedEvent.acsDelta
Transaction  | update/Transaction/value/events/1/CreatedEvent/nodeId | -               | events[1].CreatedEvent.nodeId
Transaction  | update/Transaction/value/events/1/CreatedEvent/nodeId | 2147483648      | events[1].CreatedEvent.nodeId
Transaction  | update/Transaction/value/events/1/CreatedEvent/createdAt | -            | events[1].CreatedEvent.createdAt
Transaction  | update/Transaction/value/events/1/CreatedEvent/signatories | null       | events[1].CreatedEvent.signatories
Transaction  | update/Transaction/value/events/1/CreatedEvent/observers | null         | events[1].CreatedEvent.observers
Transaction  | update/Transaction/value/events/1/CreatedEvent/createArgument | null    | events[1].CreatedEvent.createArgument
Transaction  | update/Transaction/value/events/1/CreatedEvent/createArgument/dso | -   | events[1].CreatedEvent.createArgument.dso
Transaction  | update/Transaction/value/events/1/CreatedEvent/createArgument/amount/initialAmount | "x" | events[1].CreatedEvent.createArgument.amount.initialAmount
Transaction  | update/Transaction/value/events/2/CreatedEvent/createArgument/amulet/dso | - | events[2].CreatedEvent.createArgument.amulet.dso
Transaction  | update/Transaction/value/events/2/CreatedEvent/createArgument/amulet/amount/ratePerRound/rate | - | events[2].CreatedEvent.createArgument.amulet.amount.ratePerRound.rate
Transaction  | update/Transaction/value/events/3/CreatedEvent/createArgument/round/number | - | events[3].CreatedEvent.createArgument.round.number
Transaction  | update/Transaction/value/events/4/ExercisedEvent/consuming | -          | events[4].ExercisedEvent.consuming
Transaction  | update/Transaction/value/events/4/ExercisedEvent/contractId | 7         | events[4].ExercisedEvent.contractId
Import       | update/Transaction/value/recordTime          | "0001-01-01T00:00:01Z"   | recordTime
Import       | update/Transaction/value/events              | null                     | events
Import       | update/Transaction/value/events/1            | null                     | recordTime
Import       | update/Transaction/value/events/1            | {"ArchivedEvent":{"contractId":"c1"}} | recordTime
Import       | update/Transaction/value/events/1            | {"ExercisedEvent":{"consuming":false}} | recordTime
Import       | update/Transaction/value/events/2/CreatedEvent/contractId | null        | events[2].CreatedEvent.contractId
Import       | update/Transaction/value/updateId            | -                        | updateId
Assignment   | update/Reassignment/value/events/0           | {"JsAssignedEvent":{}}   | events[0]
Assignment   | update/Reassignment/value/events/0/JsAssignmentEvent | []               | events[0].JsAssignmentEvent
Assignment   | update/Reassignment/value/events/0/JsAssignmentEvent/createdEvent | - | events[0].JsAssignmentEvent.createdEvent
Assignment   | update/Reassignment/value/events/0/JsAssignmentEvent/createdEvent/contractId | - | events[0].JsAssignmentEvent.createdEvent.contractId
Assignment   | update/Reassignment/value/events/0/JsAssignmentEvent/createdEvent/nodeId | - | events[0].JsAssignmentEvent.createdEvent.nodeId
Assignment   | update/Reassignment/value/recordTime         | -                        | recordTime
Assignment   | update/Reassignment/value/recordTime         | "0001-01-01T00:00:00Z"   | recordTime
Unassignment | update/Reassignment/value/events/0/JsUnassignedEvent | 7                 | events[0].JsUnassignedEvent
Unassignment | update/Reassignment/value/events/0/JsUnassignedEvent/value | -           | events[0].JsUnassignedEvent.value
Unassignment | update/Reassignment/value/events/0/JsUnassignedEvent/value/source | -    | events[0].JsUnassignedEvent.value.source
Unassignment | update/Reassignment/value/events/0/JsUnassignedEvent/value/target | ""   | events[0].JsUnassignedEvent.value.target
Purge        | update/Reassignment/value/events/0/JsUnassignedEvent/value/target | null | events[0].JsUnassignedEvent.value.target
Purge        | update/Reassignment/value/events/0/JsUnassignedEvent/value/templateId | "x" | events[0].JsUnassignedEvent.value.templateId
Purge        | update/Reassignment/value/events/0/JsUnassignedEvent/value/packageName | - | events[0].JsUnassignedEvent.value.packageName
Purge        | update/Reassignment/value/events/0/JsUnassignedEvent/value/contractId | - | events[0].JsUnassignedEvent.value.contractId
Purge        | update/Reassignment/value/events/0/JsUnassignedEvent/value/acsDelta | "no" | events[0].JsUnassignedEvent.value.acsDelta
Checkpoint   | update/OffsetCheckpoint/value/synchronizerTimes | -                     | synchronizerTimes
Checkpoint   | update/OffsetCheckpoint/value/synchronizerTimes/0 | null                | synchronizerTimes[0]
Checkpoint   | update/OffsetCheckpoint/value/synchronizerTimes/0/synchronizerId | -    | synchronizerTimes[0].synchronizerId
Checkpoint   | update/OffsetCheckpoint/value/synchronizerTimes/0/recordTime | "now"    | synchronizerTimes[0].recordTime
`;

export const GOOD: Record<string, Record<string, () => messages.Json>> = {
  scan: {
    Transaction: messages.scanTransaction,
    Import: messages.scanImport,
    Assignment: messages.scanAssignment,
    Unassignment: messages.scanUnassignment,
    Purge: messages.scanPurge,
  },
  'ledger-api': {
    Transaction: messages.ledgerApiTransaction,
    Bare: messages.bareTransaction,
    Import: messages.ledgerApiImport,
    Assignment: messages.ledgerApiAssignment,
    Unassignment: messages.ledgerApiUnassignment,
    Purge: messages.ledgerApiPurge,
    Checkpoint: messages.ledgerApiCheckpoint,
  },
};

/** The good message a bad one is derived from, the place of the change, the value as JSON (`-`: nothing), the field to be named. */
export type BadKind = readonly [kind: string, path: string, value: string, field: string];

function rows(table: string): readonly BadKind[] {
  const lines = table.trim().split('\n');
  return lines.map((line) => line.split(' | ').map((cell) => cell.trim()) as [string, string, string, string]);
}

export const BAD_UPDATES = { scan: rows(SCAN), 'ledger-api': rows(LEDGER_API) } as const;

/** The bad message of one line of the table, derived from `good`. */
export function badMessage([, path, value]: BadKind, good: messages.Json): messages.Json {
  return messages.change(good, path, value === '-' ? undefined : JSON.parse(value));
}
