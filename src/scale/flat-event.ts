import { BadUpdate } from '../ledger/bad-update.ts';
import { FLAT_MIGRATION_MAX, type Micros } from '../ledger/time.ts';

/**
 * What a stream engine needs to know of an update, one after the other: everything that takes rules is decided. A message each,
 * as JSON; `schemas/flat-event.json` describes it. Amounts and rates have ten decimals, and are texts, as all that may not fit a
 * double.
 */
export type FlatEvent = CoinCreated | CounterfeitCreated | ContractArchived | RoundOpened | TimeMoved;

/** When an event happened: the same for all events of an update. */
export interface EventTime {
  /** The migration. */
  readonly m: number;
  /** The record time in microseconds since 1970; null for an import. */
  readonly t: Micros | null;
  /**
   * The time in milliseconds, of one order over all migrations: that of the last microsecond before the record time, so that a
   * window [start, end) of a stream engine has what belongs to the snapshot at its end.
   */
  readonly clk: number;
  /** The number of the interval since 1970, which ends with the snapshot at `seq` periods; 0 for imports. */
  readonly seq: number;
}

/** So that the store can see that a snapshot import is whole (docs/rules.md, rule 13). */
interface OfImport {
  /** Of an import of a snapshot import 0, of its import marker the record time. */
  readonly seeded?: Micros;
}

/** A coin that counts. */
export interface CoinCreated extends EventTime, OfImport {
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
  /** Equal for equal content: `fingerprint` in flatten.ts. */
  readonly fp: string;
  /** When it was created, in microseconds since 1970. */
  readonly at: Micros;
  /** Null for an import, but for those of a snapshot import where it is known. */
  readonly upd: string | null;
  readonly node: number;
  readonly tpl: string;
  /** What of the content does not follow from the other fields: `src/ledger/coin.ts`. */
  readonly extra: string | null;
}

/** A contract of these templates that does not count (docs/rules.md, rule 10): only its archive must be recognized. */
export interface CounterfeitCreated extends EventTime {
  readonly k: 'G';
  readonly cid: string;
  readonly fp: string;
}

/** A: a coin or a counterfeit, X: a round, P: of any template, ignored where it is not active. `locked` of an A: as its template says. */
export type ContractArchived =
  | (EventTime & { readonly k: 'A'; readonly cid: string; readonly locked: 0 | 1 })
  | (EventTime & { readonly k: 'X' | 'P'; readonly cid: string });

export interface RoundOpened extends EventTime, OfImport {
  readonly k: 'O';
  readonly cid: string;
  readonly round: number;
  readonly fp: string;
}

/** M: an update without coin, or an import marker; T: a watermark without an update, which begins no migration. */
export interface TimeMoved extends EventTime, OfImport {
  readonly k: 'M' | 'T';
}

/** A migration's clock begins so long after the one before, so that all migrations are in one order. A century. */
const MIGRATION_MS = 3_155_760_000_000;

/** `t`: null for an import. Throws BadUpdate for a migration that the clock has no room for. */
export function eventTime(m: number, t: Micros | null, periodUs: number): EventTime {
  if (m > FLAT_MIGRATION_MAX) {
    const expected = `at most ${FLAT_MIGRATION_MAX}, which flat events have room for`;
    throw new BadUpdate('bad_field', 'migration_id', m, expected);
  }
  const start = m * MIGRATION_MS;
  if (t === null) return { m, t, clk: start, seq: 0 };
  return { m, t, clk: start + Math.floor((t - 1) / 1000), seq: Math.ceil(t / periodUs) };
}
