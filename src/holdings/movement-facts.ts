import type { Micros } from '../ledger/time.ts';
import type { AccountName, InstrumentName, OfInstrument } from './instrument.ts';

export const MOVEMENT_KINDS = ['in', 'out', 'lock', 'unlock'] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** Amounts in 1e-10 units, signed where they are changes. */
export interface Amounts {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** The updates of a migration, by counted time: when they count, which never falls (docs/rules.md, rule 2). */
export interface UpdateHistory {
  readonly migrationId: number;
  /** One microsecond before the first update, or the time of the import marker: the balance there is what imports brought. */
  readonly begin: Micros;
  /** The counted time that was reached. */
  readonly appliedTo: Micros;
  /** The counted time from which movements are kept; null: from the beginning. */
  readonly movementsSince: Micros | null;
  /** The time of the newest snapshot, forced ones included; null where none is sealed. */
  readonly sealedTo: Micros | null;
  /** The store's number of the last update that changed a coin; 0 for none. */
  readonly lastUpdateNo: number;
  /** Identifies the store: numbers of updates are its own. */
  readonly store: string;
}

/** The net effect of one update on one account; an owner of coin has one. */
export interface Movement {
  /** The store's number of the update, in feed order. */
  readonly updateNo: number;
  readonly recordTime: Micros;
  readonly countedAt: Micros;
  readonly updateId: string;
  /** Empty where the account has no owner. */
  readonly party: string;
  readonly account?: AccountName;
  /** Its place among those of its update, from 0: the largest changes first, then by party id, provider and account id (UTF-8 bytes). */
  readonly place: number;
  readonly change: Amounts;
  /** The balance after it. */
  readonly after: Amounts;
  /** The owners whose totals it changed, too, in their order; at most OTHERS_MAX of them. */
  readonly others: readonly { readonly party: string; readonly account?: AccountName; readonly change: bigint }[];
  readonly othersCount: number;
  /** What the update added to the supply, negative where it took from it; null where not all owners are known. */
  readonly supplyChange: bigint | null;
  /** What the ledger says of it; null where it says nothing. */
  readonly legs: readonly MovementLeg[] | null;
}

export const OTHERS_MAX = 10;

export interface MovementLeg {
  readonly side: 'sender' | 'receiver';
  /** Null where the ledger names none. */
  readonly counterparty: string | null;
  /** With ten decimals. */
  readonly amount: string;
  readonly reason: string | null;
}

export function movementKind({ unlocked, locked }: Amounts): MovementKind {
  const total = unlocked + locked;
  if (total !== 0n) return total > 0n ? 'in' : 'out';
  return locked > 0n ? 'lock' : 'unlock';
}

/** The kinds of fact that movements are answered from. Times are counted times. */
export interface MovementFactKinds extends MovementStreamFactKinds {
  /** Null where the migration has no update other than imports. Null: the newest that has one. */
  'update history': { lookup: { migrationId: bigint | null }; facts: UpdateHistory | null };
  movements: { lookup: MovementsLookup; facts: readonly Movement[] };
  statement: { lookup: StatementLookup; facts: readonly Period[] };
  /** What has an id on the ledger: the accounts that the newest such update moved, the largest changes first, or that of a contract. */
  found: { lookup: { id: string }; facts: readonly Found[] };
}

/** An account with what an update changed in it, or with the contract that it has or had. */
export interface Found extends Amounts, AccountName {
  readonly kind: 'update' | 'contract';
  readonly migrationId: number;
  /** When the update was recorded, or the contract created. */
  readonly recordTime: Micros;
  /** Of the newest snapshot that has the contract; null for an update, and where none has it yet. */
  readonly snapshot: Micros | null;
  /** Empty where the account has no owner. */
  readonly party: string;
  readonly instrument: InstrumentName;
}

/** Both inclusive, unless it is said otherwise. */
export interface TimesBetween {
  readonly from: Micros;
  readonly to: Micros;
}

export interface StatementLookup extends OfInstrument {
  readonly migrationId: number;
  readonly party: string;
  /** Exclusive: what counts then is in the first opening. */
  readonly from: Micros;
  /** Of the periods, inclusive. */
  readonly ends: readonly Micros[];
  readonly untilNo: number;
}

/** What moved of an owner within ]from, to]. Totals in 1e-10 units. */
export interface Period extends TimesBetween {
  readonly opening: bigint;
  readonly received: bigint;
  readonly sent: bigint;
  readonly lockedChange: bigint;
  readonly closing: bigint;
  readonly movements: number;
  /** By time, rounded half up. */
  readonly average: bigint;
  /** Of what was received and sent, what the supply gained and lost; null where not all owners are known. */
  readonly minted: bigint | null;
  readonly burned: bigint | null;
}

export interface MovementsLookup extends TimesBetween, OfInstrument {
  readonly migrationId: number;
  /** Null: of all owners, for which the order is `desc`. */
  readonly party: string | null;
  /** Null: all. */
  readonly kinds: readonly MovementKind[] | null;
  /** The least change of a total, whatever its sign. */
  readonly min: bigint;
  /** Of the updates. */
  readonly order: 'asc' | 'desc';
  /** Those behind that one in that order; null: from the first on. */
  readonly after: MovementPlace | null;
  /** The number of the last update that counts. */
  readonly untilNo: number;
  readonly rows: number;
}

/** The kinds of fact that streams of movements are made of. Updates are of all migrations, in the order of their numbers. */
interface MovementStreamFactKinds {
  /** The number of the newest update; 0 before the first. */
  'last update': { lookup: unknown; facts: number };
  /** Who has movements in the updates after a number, up to another one or, where these are many, up to `to`. */
  'moved owners': {
    lookup: { after: number; until: number };
    facts: { readonly to: number; readonly owners: readonly string[] };
  };
  /** In the order of the updates; fewer than `rows` where these are all. */
  'movements of owners': { lookup: OwnersMovementsLookup; facts: readonly OwnersMovement[] };
  /** Null where there is no such movement. */
  'movement place': { lookup: MovementName & OfInstrument; facts: KnownMovement | null };
}

/** A place in the order of movements. */
export type MovementPlace = Pick<Movement, 'updateNo' | 'place'>;

export interface OwnersMovementsLookup extends OfInstrument {
  readonly owners: readonly string[];
  /** Where the first may be. */
  readonly from: MovementPlace;
  /** The number of the last update, inclusive. */
  readonly until: number;
  readonly rows: number;
}

export type OwnersMovement = Movement & OfInstrument & { readonly migrationId: number };

/** What names a movement on the ledger. Its record time may be of any year. */
export interface MovementName {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
  readonly updateId: string;
  readonly party: string;
  readonly account?: AccountName;
}

export interface KnownMovement extends MovementPlace {
  /** The number of the last snapshot that was sealed before it; 0 for none. */
  readonly sealedBefore: number;
}
