import { formatPeriodLength, type PeriodLength } from '../ledger/duration.ts';
import type { Micros } from '../ledger/time.ts';
import { HoldingsFault } from './holdings-fault.ts';
import type { Movement, Period, StatementLookup, TimesBetween } from './movement-facts.ts';

const HOUR_US = 3_600_000_000;
export const DAY_US = 24 * HOUR_US;
const WEEK_US = 7 * DAY_US;
/** The first Monday after 1970 began. */
const MONDAY_US = 4 * DAY_US;

/** The first time after another at which a period of this length ends. */
export function nextEnd(time: Micros, length: PeriodLength): Micros {
  if (length === 'all') return Infinity;
  if (length === '1w') return nextMultiple(time - MONDAY_US, WEEK_US) + MONDAY_US;
  if (length !== '1mo') return nextMultiple(time, length);
  const date = new Date(Math.floor(time / 1_000));
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) * 1_000;
}

function nextMultiple(time: number, step: number): number {
  return Math.floor(time / step) * step + step;
}

const PERIODS_MAX = 5_000;
/** The lengths that a fault recommends. */
const USUAL_LENGTHS = [HOUR_US, DAY_US, '1w', '1mo', 'all'] as const;

/** The ends of the periods of a statement, the last at `to`. Throws the fault of too many. */
export function periodEnds(range: TimesBetween, length: PeriodLength): readonly Micros[] {
  const ends = endsUpTo(range, length);
  if (ends !== null) return ends;
  const fitting = formatPeriodLength(USUAL_LENGTHS.find((each) => endsUpTo(range, each) !== null)!);
  const given = `given ${formatPeriodLength(length)}, which makes more than ${PERIODS_MAX} periods`;
  throw new HoldingsFault('wrong_parameter', `every: ${given}, expected at least ${fitting}`);
}

/** Null where there are more than PERIODS_MAX. */
function endsUpTo({ from, to }: TimesBetween, length: PeriodLength): readonly Micros[] | null {
  const ends: Micros[] = [];
  for (let end = from; end < to; ends.push(end)) {
    if (ends.length === PERIODS_MAX) return null;
    end = Math.min(nextEnd(end, length), to);
  }
  return ends;
}

/** What a statement says of a movement. */
type Booking = Pick<Movement, 'countedAt' | 'change' | 'supplyChange'>;

/** The periods, from a time on, of an owner's movements by counted time. `isSupplyKnown`: whether all owners are known. */
export function statementOf(
  movements: Iterable<Booking>,
  {
    opening,
    from,
    ends,
    isSupplyKnown,
  }: Pick<StatementLookup, 'from' | 'ends'> & { readonly opening: bigint; readonly isSupplyKnown: boolean },
): readonly Period[] {
  const periods: Period[] = [];
  const none = { received: 0n, sent: 0n, lockedChange: 0n, movements: 0, minted: 0n, burned: 0n };
  let sums = { ...none };
  let [begin, start, balance, last] = [from, opening, opening, from];
  /** Of the balance since `begin`, over the microseconds up to `last`. */
  let integral = 0n;

  function passTo(time: Micros): void {
    integral += balance * BigInt(time - last);
    last = time;
  }

  /** Ends the period that is under way. */
  function end(time: Micros): void {
    passTo(time);
    const average = roundedHalfUp(integral, BigInt(time - begin));
    const supply = isSupplyKnown ? {} : { minted: null, burned: null };
    periods.push({ from: begin, to: time, opening: start, ...sums, closing: balance, average, ...supply });
    [begin, start, integral, sums] = [time, balance, 0n, { ...none }];
  }

  for (const { countedAt, change, supplyChange } of movements) {
    while (ends[periods.length]! < countedAt) end(ends[periods.length]!);
    passTo(countedAt);
    const total = change.unlocked + change.locked;
    balance += total;
    sums.movements += 1;
    sums.lockedChange += change.locked;
    if (total > 0n) sums.received += total;
    else sums.sent -= total;
    const supply = supplyChange ?? 0n;
    if (total > 0n && supply > 0n) sums.minted += least(total, supply);
    if (total < 0n && supply < 0n) sums.burned += least(-total, -supply);
  }
  while (periods.length < ends.length) end(ends[periods.length]!);
  return periods;
}

function roundedHalfUp(sum: bigint, parts: bigint): bigint {
  return (2n * sum + parts) / (2n * parts);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
