/**
 * What happened on a ledger, in no wire format: `scan-lines.ts` and `ledger-api-lines.ts` write it, `oracle.ts` applies
 * it. Nothing here or in those files imports from src/: expected answers must not come from the code under test.
 */
export type HistoryItem = HistoryUpdate | HistoryCheckpoint | HistoryNotice;

/** Microseconds since 1970 UTC. */
export type Micros = number;

export interface HistoryUpdate {
  readonly kind: 'update';
  /** How the feed wraps it; an import is a transaction of creates whose record time is a flag. */
  readonly wrapping: 'transaction' | 'import' | 'assignment' | 'unassignment';
  readonly updateId: string;
  readonly migrationId: number;
  readonly synchronizerId: string;
  /** The other end of a reassignment: an assignment's source, an unassignment's target. */
  readonly otherSynchronizerId?: string;
  /** Null for an import. */
  readonly recordTime: Micros | null;
  /** A repair at the time of an earlier update, or of a checkpoint: only format B has words for it. */
  readonly sharesTime?: true;
  readonly effectiveAt: Micros;
  readonly offset: number;
  /**
   * Root events in order; an exercise carries its children. An unassignment has one exercise, which consumes only where both
   * ends are one synchronizer.
   */
  readonly events: readonly HistoryEvent[];
}

export interface HistoryCheckpoint {
  readonly kind: 'checkpoint';
  readonly migrationId: number;
  readonly offset: number;
  readonly times: readonly { readonly synchronizerId: string; readonly recordTime: Micros }[];
}

/** An update that concerns no contract: only the Ledger API form has these. */
export interface HistoryNotice {
  readonly kind: 'notice';
  readonly migrationId: number;
  /** The key under `update`, such as TopologyTransaction, or an unknown kind. */
  readonly name: string;
  readonly synchronizerId: string;
  readonly recordTime: Micros;
  readonly offset: number;
}

export type HistoryEvent = CreateEvent | ExerciseEvent;

export interface CreateEvent {
  readonly kind: 'create';
  readonly node: number;
  readonly contract: Contract;
  /** False: not on the active set, and only the Ledger API form can say so. */
  readonly acsDelta: boolean;
}

export interface ExerciseEvent {
  readonly kind: 'exercise';
  readonly node: number;
  readonly contract: Contract;
  /** May name another package id than the create did. */
  readonly templateId: string;
  readonly choice: string;
  readonly consuming: boolean;
  readonly acsDelta: boolean;
  readonly children: readonly HistoryEvent[];
}

export interface Contract {
  readonly contractId: string;
  readonly templateId: string;
  readonly packageName: string;
  readonly createdAt: Micros;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly payload: CoinPayload | RoundPayload | OtherPayload;
  /** `interfaceViews` as the feed writes them; absent for none. Only format B and imports of a participant carry them. */
  readonly views?: readonly unknown[];
}

export interface CoinPayload {
  readonly kind: 'coin';
  readonly dso: string;
  readonly owner: string;
  /** 1e-10 units */
  readonly amount: bigint;
  /** 1e-10 units per round */
  readonly rate: bigint;
  readonly round: bigint;
  /** Null for an Amulet. */
  readonly lock: Lock | null;
  /** Unknown arguments, which must be returned. */
  readonly unknown: Readonly<Record<string, unknown>>;
}

export interface Lock {
  readonly holders: readonly string[];
  readonly expiresAt: Micros;
  readonly context: string | null;
}

export interface RoundPayload {
  readonly kind: 'round';
  readonly dso: string;
  readonly round: bigint;
  readonly opensAt: Micros;
}

/** Any other template, and counterfeits whose fields make no sense. */
export interface OtherPayload {
  readonly kind: 'other';
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Format A has an import for each contract, whose id is that of the update too; format B has several in one. */
export function importsOfOne<Item extends HistoryItem>(item: Item): readonly Item[] {
  if (item.kind !== 'update' || item.wrapping !== 'import') return [item];
  return item.events.map((event) => ({ ...item, updateId: event.contract.contractId, events: [event] }));
}

/** Every event in the order it happened: roots in order, each before its children. */
export function* inOrder(events: readonly HistoryEvent[]): Generator<HistoryEvent> {
  for (const event of events) {
    yield event;
    if (event.kind === 'exercise') yield* inOrder(event.children);
  }
}

/** An event before it has its number in the update. */
export type Draft =
  | Omit<CreateEvent, 'node'>
  | (Omit<ExerciseEvent, 'node' | 'children'> & { readonly children: readonly Draft[] });

/** Numbers the events of one update in the order they happened, as both wire formats do. */
export function numbered(drafts: readonly Draft[]): readonly HistoryEvent[] {
  let next = 0;
  const number = (draft: Draft): HistoryEvent => {
    const node = next++;
    return draft.kind === 'create' ? { ...draft, node } : { ...draft, node, children: draft.children.map(number) };
  };
  return drafts.map(number);
}

export const COIN_PACKAGE = 'splice-amulet';
export const AMULET = 'Splice.Amulet:Amulet';
export const LOCKED_AMULET = 'Splice.Amulet:LockedAmulet';
export const OPEN_ROUND = 'Splice.Round:OpenMiningRound';

/** What is neither coin nor round by its template may be a token by its views. */
export function isOurs({ templateId, packageName }: Contract): boolean {
  return packageName === COIN_PACKAGE && [AMULET, LOCKED_AMULET, OPEN_ROUND].includes(entityOf(templateId));
}

/** `<package id>:<Module>:<Entity>` -> `<Module>:<Entity>` */
export function entityOf(templateId: string): string {
  return templateId.slice(templateId.indexOf(':') + 1);
}
