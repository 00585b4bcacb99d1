import type { BadUpdate } from './bad-update.ts';
import type { CoinEntity, Entity } from './templates.ts';
import type { Micros } from './time.ts';

/** The two public wire formats: Scan `/v2/updates` (A) and JSON Ledger API `/v2/updates` (B). Rules 1, 11 and 13 distinguish them. */
export type WireFormat = 'scan' | 'ledger-api';

/** How a format writes a field that Scan calls so. */
export function fieldNameIn(format: WireFormat, scanName: string): string {
  return format === 'scan' ? scanName : scanName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The meaning of one message, in either format. Kinds that are none of these are `ignored` under a name by which they are counted. */
export type Decoded = LedgerUpdate | Checkpoint | ImportMarker | Ignored;

export interface LedgerUpdate {
  readonly kind: 'update';
  readonly format: WireFormat;
  readonly updateId: string;
  readonly migrationId: number;
  readonly synchronizerId: string;
  /** Null for an import update, whose record time is a flag and not a time. */
  readonly recordTime: Micros | null;
  /** Its participant's own number of it, in the Ledger API's format; null where that is no whole number. */
  readonly offset?: number | null;
  /** Set in a snapshot import, which counts only once its marker has come; the update of the create, where known. */
  readonly seed?: { readonly createdIn: string | null };
  /** In feed order; only those of coins, rounds and holdings. */
  readonly events: readonly LedgerEvent[];
  /** Why each of the other events was ignored; for counting. */
  readonly ignored: readonly IgnoredEvent[];
  /** In feed order; absent where there are none. */
  readonly eventLogs?: readonly EventLog[];
}

export interface Checkpoint {
  readonly kind: 'checkpoint';
  readonly format: WireFormat;
  readonly migrationId: number;
  readonly times: readonly { readonly synchronizerId: string; readonly recordTime: Micros }[];
  readonly offset?: number | null;
}

/**
 * The end of a snapshot import: the imports before it are all that is active in the migration after every update up to a time. That is
 * `recordTime`, or the time of a synchronizer that is named; of a participant's own updates, after all up to an offset.
 */
export interface ImportMarker {
  readonly kind: 'import marker';
  readonly migrationId: number;
  readonly recordTime: Micros;
  readonly times: readonly { readonly synchronizerId: string; readonly recordTime: Micros }[];
  /** Of the participant that gave it; null where its source has no offsets. */
  readonly offset: number | null;
}

export interface Ignored {
  readonly kind: 'ignored';
  readonly what: 'topology transaction' | 'unknown update kind' | 'empty checkpoint' | 'null value';
}

export type LedgerEvent = CoinCreate | RoundCreate | Archive | HoldingCreate | OtherArchive;

/**
 * A create of a coin template. Of the payload only `dso` is validated at once: faults of the rest are kept in `body`, because
 * they do not matter if the dso is not ours (docs/rules.md, rule 10).
 */
export interface CoinCreate {
  readonly kind: CoinEntity;
  readonly contractId: string;
  readonly dso: string;
  /** Parties in feed order; a BadUpdate where the field is missing or is no list of parties. */
  readonly signatories: readonly string[] | BadUpdate;
  readonly body: Coin | BadUpdate;
}

export interface Coin {
  readonly entity: CoinEntity;
  readonly owner: string;
  /** 1e-10 units, > 0 */
  readonly amount: bigint;
  /** 1e-10 units per round, >= 0 */
  readonly rate: bigint;
  /** the round of creation, 0 <= round < 2^63 */
  readonly round: bigint;
  readonly createdAt: Micros;
  /** The event's place in its update: the digits after the last `:` of event_id, or nodeId. */
  readonly node: number;
  /** As the feed wrote it: `<package id>:M:E` or `#<package name>:M:E`. */
  readonly templateId: string;
  readonly packageName: string;
  /**
   * Null for the canonical Amulet, whose arguments, signatories [dso, owner] and observers [] follow from the other fields.
   * Otherwise what does not follow from them, as canonical JSON text; see coin.ts.
   */
  readonly extra: string | null;
  /** Set where its views name another owner or amount: its arguments count. */
  readonly viewDiffers?: true;
}

/** The create of a contract of another template that shows a Holding view of the token standard (CIP-0056, CIP-0112). */
export interface HoldingCreate {
  readonly kind: 'holding';
  readonly contractId: string;
  /** As the feed wrote it. */
  readonly templateId: string;
  readonly packageName: string;
  /** How it is counted where there are no tokens. */
  readonly ignoredAs: OtherContract;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly node: number;
  readonly createdAt: Micros;
  /** What its views say (docs/rules.md, rule 16). */
  readonly view: HoldingView | Unreadable;
}

export interface HoldingView {
  /** The party that issues the instrument; only a holding that it has signed counts. */
  readonly admin: string;
  readonly instrument: string;
  /** Null for an account without an owner. */
  readonly owner: string | null;
  readonly provider: string | null;
  /** Empty for none. */
  readonly accountId: string;
  /** 1e-10 units, >= 0, up to 38 digits */
  readonly amount: bigint;
  readonly locked: boolean;
  /** Micros as a bigint, because it may be in any of the years 1 to 9999; null for a lock without end. */
  readonly lockExpiresAt: bigint | null;
}

/** Views that cannot be read. The instrument is set where it can be: a counterfeit is one whatever else its views say. */
export interface Unreadable {
  readonly reason: string;
  readonly admin?: string;
  readonly instrument?: string;
}

/** What the ledger says of a change of an account: it explains a movement, and no total depends on it (docs/rules.md, rule 15). */
export interface EventLog {
  /** Whose event it is; null where that party did not act. */
  readonly admin: string | null;
  readonly owner: string;
  /** What its legs come to, in 1e-10 units; null where the feed does not show all of the account. */
  readonly net: bigint | null;
  /** JSON of its legs with `,` between, each `{side, counterparty, amount, reason}`; empty for none. */
  readonly legs: string;
}

export interface RoundCreate {
  readonly kind: 'OpenMiningRound';
  readonly contractId: string;
  readonly dso: string;
  readonly signatories: readonly string[] | BadUpdate;
  readonly body: OpenRound | BadUpdate;
}

export interface OpenRound {
  readonly round: bigint;
  /** SHA-256 hex of the canonical content. */
  readonly content: string;
}

/** The name under which coins of others are counted where only some owners are followed. */
export const UNFOLLOWED = 'coin of an owner that is not followed';

/** The names under which holdings of tokens are counted that change nothing. */
export const UNFOLLOWED_TOKEN = 'not followed';
export const TOKEN_COUNTERFEIT = 'token counterfeit';
/** A create of an id that is active. */
export const TOKEN_AGAIN = 'token again';

/** An archive has no owner and no amount: only the contract id and the template. */
export interface Archive {
  readonly kind: 'archive';
  /** Null where the feed gives only the id (a purge in format A): of any template, and ignored where it is not active. */
  readonly entity: Entity | null;
  readonly contractId: string;
}

/** An archive of another template, which may be that of a holding. Format A has none: it shows holdings only in imports. */
export interface OtherArchive {
  readonly kind: 'other archive';
  readonly contractId: string;
  readonly ignoredAs: OtherContract;
}

/** A contract that is neither a coin nor a round, as it is counted where it is ignored. */
export type OtherContract = Extract<IgnoredEvent, 'other template' | 'other package'>;

/** The name under which an archive without a template is counted where its contract is not active. */
export const INACTIVE_PURGE = 'purge of an inactive contract';

/** The name under which EventLog events are counted that are not the DSO's, or of an owner that is not followed. */
export const UNCOUNTED_LOG = 'EventLog that does not count';

/** What is left out of the views without being wrong. /status counts under these names, so they are a promise, like a route. */
export const IGNORED_EVENTS = [
  /** Of a template that is neither a coin nor a round. */
  'other template',
  /** Of a template named like one of ours, in another package than splice-amulet. */
  'other package',
  /** An exercise that archives nothing. */
  'not consuming',
  /** An event that never reaches the active set, such as one of a contract used only within its transaction. */
  'acsDelta false',
  /** A contract on its way to another synchronizer stays held. */
  'unassignment',
  /** An unassignment within one synchronizer, which names only an id, and that is not active: its template may be another. */
  INACTIVE_PURGE,
  /** An event of another template that neither a root nor a child list names. */
  'unlisted event',
  /** An EventLog event that is not understood, or one of too many in its update: the movement has no legs of it. */
  'unreadable EventLog',
] as const;

export type IgnoredEvent = (typeof IGNORED_EVENTS)[number];
