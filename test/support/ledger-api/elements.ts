/** The parts of format B that a participant's answers depend on. */
export interface WireCreated {
  readonly offset: number;
  readonly nodeId: number;
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly createArgument: Readonly<Record<string, unknown>>;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly interfaceViews?: readonly { readonly interfaceId: string; readonly viewValue: unknown }[];
  readonly acsDelta?: boolean;
}

export interface WireEvent {
  readonly CreatedEvent?: WireCreated;
  readonly ArchivedEvent?: { readonly contractId: string };
  readonly JsAssignmentEvent?: { readonly source: string; readonly target: string; readonly createdEvent: WireCreated };
  readonly JsUnassignedEvent?: {
    readonly value: { readonly source: string; readonly target: string; readonly contractId: string };
  };
}

export interface WireValue {
  readonly updateId: string;
  readonly offset: number;
  readonly synchronizerId: string;
  readonly recordTime: string;
  readonly events: readonly WireEvent[];
}

export type WireKind = 'Transaction' | 'Reassignment' | 'OffsetCheckpoint' | 'TopologyTransaction';

export interface WireElement {
  readonly update: Readonly<Partial<Record<WireKind, { readonly value: WireValue }>>>;
}

export function contentOf({ update }: WireElement): { readonly kind: WireKind; readonly value: WireValue } {
  const [kind, { value }] = Object.entries(update)[0] as [WireKind, { value: WireValue }];
  return { kind, value };
}

/** What an event creates, whichever way. */
export function createdOf({ CreatedEvent, JsAssignmentEvent }: WireEvent): WireCreated | undefined {
  return CreatedEvent ?? JsAssignmentEvent?.createdEvent;
}

/** The contract that an event ends; a contract that goes to another synchronizer stays. */
export function endedBy({ ArchivedEvent, JsUnassignedEvent }: WireEvent): string | undefined {
  const gone = JsUnassignedEvent?.value;
  return ArchivedEvent?.contractId ?? (gone?.source === gone?.target ? gone?.contractId : undefined);
}

/** The owner of a coin; undefined for any other contract. */
export function ownerOf({ createArgument }: WireCreated): string | undefined {
  const coin = (createArgument.amulet ?? createArgument) as { owner?: unknown };
  return typeof coin.owner === 'string' ? coin.owner : undefined;
}
