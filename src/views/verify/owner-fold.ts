import { formatAmount } from '../../ledger/amount.ts';
import type { DigestedCoin } from '../../ledger/digest.ts';
import { decodeVersion, encodeVersion, noSums, type Sums, type SumTerms } from '../store/totals.ts';
import { getOrMake } from './types.ts';

const SIDES = ['unlocked', 'locked'] as const;
const EXACT = ['count', 'amount', 'rate', 'rateRound'] as const;

/** A coin as its row and its holding give it. */
export interface Contract {
  readonly coin: SumTerms & DigestedCoin;
  readonly contractId: string;
  readonly createdSeq: bigint;
  /** Null while it is active. */
  readonly archivedSeq: bigint | null;
}

/** How an owner's contracts of one kind (unlocked or locked) changed in one interval. */
interface Change {
  readonly sums: Sums;
  archived: number;
  /** The earliest expiry among the contracts created. */
  earliest: number | bigint;
}

interface Interval {
  readonly unlocked: Change;
  readonly locked: Change;
}

/** The changes of one owner by interval, from which its versions follow. Grows with intervals, not with contracts. */
export class OwnerFold {
  readonly intervals = new Map<bigint, Interval>();

  add({ coin, createdSeq, archivedSeq }: Contract): void {
    const side = coin.entity === 'Amulet' ? 'unlocked' : 'locked';
    const created = getOrMake(this.intervals, createdSeq, noChanges)[side];
    add(created.sums, coin, 1);
    created.earliest = least(created.earliest, coin.expiry);
    if (archivedSeq === null) return;
    const archived = getOrMake(this.intervals, archivedSeq, noChanges)[side];
    add(archived.sums, coin, -1, -1n);
    archived.archived += 1;
  }
}

function noChanges(): Interval {
  const noChange = (): Change => ({ sums: noSums(), archived: 0, earliest: Infinity });
  return { unlocked: noChange(), locked: noChange() };
}

function add(sums: Sums, terms: Omit<SumTerms, 'expiry'>, count: number, sign = 1n): void {
  sums.count += count;
  sums.amount += sign * terms.amount;
  sums.rate += sign * terms.rate;
  sums.rateRound += sign * terms.rateRound;
}

function least(a: number | bigint, b: number | bigint): number | bigint {
  return a < b ? a : b;
}

export interface Version {
  readonly seq: bigint;
  readonly v: Buffer;
}

/** The sums that the contracts give at the end of an interval. */
export interface Reached {
  readonly seq: bigint;
  readonly unlocked: Sums;
  readonly locked: Sums;
}

/**
 * Compares an owner's versions with its contracts: a version for each interval in which one was created or archived, each with
 * the exact sums. A version may be of an interval without a lasting change (contracts created and archived in it); it then
 * repeats the sums. Yields the sums at the end of each interval that changed something.
 */
export function* compareVersions(
  { intervals }: OwnerFold,
  versions: readonly Version[],
  differs: (seq: bigint, expected: string, found: string) => void,
): Generator<Reached> {
  const bySeq = new Map(versions.map(({ seq, v }) => [seq, v]));
  const seqs = [...new Set([...intervals.keys(), ...bySeq.keys()])].sort((a, b) => (a < b ? -1 : 1));
  // `expiryBound` is that of the previous version: it does not follow from the contracts alone.
  const now = { unlocked: noSums(), locked: noSums() };
  for (const seq of seqs) {
    const interval = intervals.get(seq) ?? noChanges();
    const v = bySeq.get(seq) ?? null;
    const found = v === null ? null : readVersion(v);
    if (found === null) differs(seq, 'a version', v === null ? 'none' : `bytes that are none: ${v.toString('hex')}`);
    for (const side of SIDES) {
      const [sums, { archived, earliest, sums: change }] = [now[side], interval[side]];
      const survivors = sums.count - archived;
      add(sums, change, change.count);
      if (found === null) continue;
      if (EXACT.some((each) => sums[each] !== found[side][each]))
        differs(seq, `${side} ${sumsText(sums)}`, `${side} ${sumsText(found[side])}`);
      // While any contract is held, the bound only falls; and it is at most the expiry of each one held.
      const most = survivors > 0 ? least(sums.expiryBound, earliest) : earliest;
      const bound = found[side].expiryBound;
      if (sums.count > 0 && bound > most) differs(seq, `${side} expiry bound of at most ${most}`, `${bound}`);
      sums.expiryBound = bound;
    }
    if (intervals.has(seq)) yield { seq, unlocked: { ...now.unlocked }, locked: { ...now.locked } };
  }
}

/** Null where the bytes are no version, or not the encoding of its sums. */
function readVersion(v: Buffer): { unlocked: Sums; locked: Sums } | null {
  try {
    const { unlocked, locked } = decodeVersion(v);
    return encodeVersion(unlocked, locked).equals(v) ? { unlocked, locked } : null;
  } catch {
    return null;
  }
}

function sumsText({ count, amount, rate, rateRound }: Sums): string {
  const rates = `sum of rates ${formatAmount(rate)}, of rate * round ${formatAmount(rateRound)}`;
  return `${formatAmount(amount)} in ${count} contracts (${rates})`;
}
