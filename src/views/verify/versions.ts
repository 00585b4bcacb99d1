import { formatAmount } from '../../ledger/amount.ts';
import { decodeVersion, encodeVersion, noSums, type Sums, type SumTerms } from '../store/totals.ts';
import { getOrMake } from './types.ts';

/** How an owner's contracts of one kind (unlocked or locked) changed in one interval. */
interface Change {
  created: number;
  archived: number;
  amount: bigint;
  rate: bigint;
  rateRound: bigint;
  /** The earliest expiry among the contracts created. */
  earliest: number | bigint;
}

export interface Interval {
  readonly unlocked: Change;
  readonly locked: Change;
}

/** The changes of one owner by interval, from which its versions follow. Grows with intervals, not with contracts. */
export class OwnerFold {
  readonly intervals = new Map<bigint, Interval>();

  created(seq: bigint, locked: boolean, terms: SumTerms): void {
    const change = this.#change(seq, locked);
    change.created += 1;
    change.amount += terms.amount;
    change.rate += terms.rate;
    change.rateRound += terms.rateRound;
    if (terms.expiry < change.earliest) change.earliest = terms.expiry;
  }

  archived(seq: bigint, locked: boolean, terms: SumTerms): void {
    const change = this.#change(seq, locked);
    change.archived += 1;
    change.amount -= terms.amount;
    change.rate -= terms.rate;
    change.rateRound -= terms.rateRound;
  }

  #change(seq: bigint, locked: boolean): Change {
    const interval = getOrMake(this.intervals, seq, noChanges);
    return locked ? interval.locked : interval.unlocked;
  }
}

function noChange(): Change {
  return { created: 0, archived: 0, amount: 0n, rate: 0n, rateRound: 0n, earliest: Infinity };
}

function noChanges(): Interval {
  return { unlocked: noChange(), locked: noChange() };
}

export interface Version {
  readonly seq: bigint;
  readonly v: Buffer;
}

/** The sums that the contracts give at the end of an interval; the bound does not follow from them alone. */
export interface Reached {
  readonly seq: bigint;
  readonly unlocked: Sums;
  readonly locked: Sums;
}

type Fault = (seq: bigint, expected: string, found: string) => void;

/**
 * Compares an owner's versions with its contracts: a version for each interval in which one was created or archived, each with
 * the exact sums. A version may be of an interval without a lasting change (contracts created and archived in it); it then
 * repeats the sums. Yields the sums at the end of each interval that changed something.
 */
export function* compareVersions(fold: OwnerFold, versions: readonly Version[], fault: Fault): Generator<Reached> {
  const bySeq = new Map(versions.map(({ seq, v }) => [seq, v]));
  const seqs = [...new Set([...fold.intervals.keys(), ...bySeq.keys()])].sort((a, b) => (a < b ? -1 : 1));
  const now = { unlocked: noSums(), locked: noSums() };
  for (const seq of seqs) {
    const interval = fold.intervals.get(seq) ?? noChanges();
    const survivors = {
      unlocked: now.unlocked.count - interval.unlocked.archived,
      locked: now.locked.count - interval.locked.archived,
    };
    change(now.unlocked, interval.unlocked);
    change(now.locked, interval.locked);
    const v = bySeq.get(seq);
    if (v === undefined) fault(seq, `a version: ${sumsText(now)}`, 'none');
    else checkVersion(v, now, { interval, survivors }, (expected, found) => fault(seq, expected, found));
    if (fold.intervals.has(seq)) yield { seq, unlocked: { ...now.unlocked }, locked: { ...now.locked } };
  }
}

function change(sums: Sums, { created, archived, amount, rate, rateRound }: Change): void {
  sums.count += created - archived;
  sums.amount += amount;
  sums.rate += rate;
  sums.rateRound += rateRound;
}

/** `now.expiryBound` keeps the bound of the previous version between calls. */
function checkVersion(
  v: Buffer,
  now: { unlocked: Sums; locked: Sums },
  { interval, survivors }: { interval: Interval; survivors: { unlocked: number; locked: number } },
  fault: (expected: string, found: string) => void,
): void {
  const found = readVersion(v);
  if (found === null) return fault(sumsText(now), `bytes that are no version: ${v.toString('hex')}`);
  for (const side of ['unlocked', 'locked'] as const) {
    const [expected, stored] = [now[side], found[side]];
    const same = (['count', 'amount', 'rate', 'rateRound'] as const).every((each) => expected[each] === stored[each]);
    if (!same) fault(`${side} ${sideText(expected)}`, `${side} ${sideText(stored)}`);
    const bound = stored.expiryBound;
    if (expected.count > 0) {
      // While any contract is held, the bound only falls; and it is at most the expiry of each one held.
      const most = survivors[side] > 0 ? least(expected.expiryBound, interval[side].earliest) : interval[side].earliest;
      if (bound > most) fault(`${side} expiry bound of at most ${most}`, `${bound}`);
    }
    expected.expiryBound = bound;
  }
}

function least(a: number | bigint, b: number | bigint): number | bigint {
  return a < b ? a : b;
}

/** Null where the bytes are no version, or not the encoding of its sums. */
export function readVersion(v: Buffer): { unlocked: Sums; locked: Sums } | null {
  try {
    const { unlocked, locked } = decodeVersion(v);
    return encodeVersion(unlocked, locked).equals(v) ? { unlocked, locked } : null;
  } catch {
    return null;
  }
}

export function sumsText({ unlocked, locked }: { unlocked: Sums; locked: Sums }): string {
  return `unlocked ${sideText(unlocked)}, locked ${sideText(locked)}`;
}

function sideText({ count, amount, rate, rateRound }: Sums): string {
  return (
    `${formatAmount(amount)} in ${count} contracts (sum of rates ${formatAmount(rate)}, ` +
    `of rate * round ${formatAmount(rateRound)})`
  );
}
