import type { Micros } from '../ledger/time.ts';
import type { Place } from './place.ts';

/**
 * What a stream engine needs to know of an update, one after the other: everything that takes rules is decided. A message each,
 * as JSON; `schemas/flat-event.json` describes it. Amounts and rates have ten decimals, and are texts, as all that may not fit a
 * double.
 */
export type FlatEvent = CoinCreated | CounterfeitCreated | ContractArchived | RoundOpened | TimeMoved;

/** So that a store can see for itself that a seed is whole (docs/rules.md, rule 13). */
interface OfSeed {
  /** Of an import of a seed 0, of its mark the record time. */
  readonly seeded?: Micros;
}

/** A coin that counts. */
export interface CoinCreated extends Place, OfSeed {
  readonly k: 'C';
  readonly cid: string;
  readonly owner: string;
  readonly locked: 0 | 1;
  readonly amt: string;
  readonly rate: string;
  readonly round: number;
  /** rate * round */
  readonly rr: string;
  /** The first round in which the fee has reached the amount; null for none. */
  readonly expires: string | null;
  /** Equal for equal content: `fingerprint.ts`. */
  readonly fp: string;
  /** When it was created, in microseconds since 1970. */
  readonly at: Micros;
  /** Null for an import, but for those of a seed where it is known. */
  readonly upd: string | null;
  readonly node: number;
  readonly tpl: string;
  /** What of the content does not follow from the other fields: `src/ledger/coin.ts`. */
  readonly extra: string | null;
}

/** A contract of these templates that does not count (docs/rules.md, rule 10): only its archive must be recognized. */
export interface CounterfeitCreated extends Place {
  readonly k: 'G';
  readonly cid: string;
  readonly fp: string;
}

/**
 * A: a coin or a counterfeit, X: a round, P: a contract of any template, which is ignored where it is not active. `locked` of an A
 * is what its template says.
 */
export type ContractArchived =
  | (Place & { readonly k: 'A'; readonly cid: string; readonly locked: 0 | 1 })
  | (Place & { readonly k: 'X' | 'P'; readonly cid: string });

export interface RoundOpened extends Place, OfSeed {
  readonly k: 'O';
  readonly cid: string;
  readonly round: number;
  readonly fp: string;
}

/** M: an update without coin, or a seed's mark; T: a time reached without an update, which begins no migration. */
export interface TimeMoved extends Place, OfSeed {
  readonly k: 'M' | 'T';
}
