import type { CoinPayload, Contract, Lock, Micros, RoundPayload } from './history.ts';

const FRACTION_DIGITS = 10;
/** BigDecimal.toString turns to an exponent where the leading digit is after the sixth decimal. */
const SCIENTIFIC_BELOW = 10_000n;

export type DecimalText = (units: bigint) => string;

/** 1e-10 units as the Ledger API prints a Decimal, and as our answers must: `0.0000000001`. */
export function plainDecimal(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(FRACTION_DIGITS + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -FRACTION_DIGITS)}.${digits.slice(-FRACTION_DIGITS)}`;
}

/** 1e-10 units as Scan prints a Decimal (Java's BigDecimal.toString at scale 10): `1E-10`, `9.999E-7`, `0E-10`. */
export function javaDecimal(units: bigint): string {
  const size = units < 0n ? -units : units;
  if (size >= SCIENTIFIC_BELOW) return plainDecimal(units);
  const digits = size.toString();
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${units < 0n ? '-' : ''}${digits[0]}${fraction}E-${FRACTION_DIGITS - digits.length + 1}`;
}

/** Six fraction digits and Z, as Scan prints record times. */
export function sixDigitTime(micros: Micros): string {
  const fraction = micros % 1_000_000;
  const seconds = new Date((micros - fraction) / 1000).toISOString().slice(0, 19);
  return `${seconds}.${fraction.toString().padStart(6, '0')}Z`;
}

/** Trailing zeros of the fraction dropped, as the Ledger API prints times and our answers must. */
export function shortTime(micros: Micros): string {
  return sixDigitTime(micros).replace(/\.?0+Z$/, 'Z');
}

export function createArguments(contract: Contract, decimal: DecimalText): Record<string, unknown> {
  const { payload } = contract;
  if (payload.kind === 'other') return payload.arguments;
  return payload.kind === 'coin' ? coinArguments(payload, decimal) : roundArguments(payload, decimal);
}

function coinArguments(coin: CoinPayload, decimal: DecimalText): Record<string, unknown> {
  const amulet = {
    dso: coin.dso,
    owner: coin.owner,
    amount: {
      initialAmount: decimal(coin.amount),
      createdAt: { number: coin.round.toString() },
      ratePerRound: { rate: decimal(coin.rate) },
    },
  };
  return coin.lock === null ? { ...amulet, ...coin.unknown } : { amulet, lock: lockValue(coin.lock), ...coin.unknown };
}

function lockValue(lock: Lock): Record<string, unknown> {
  return { holders: lock.holders, expiresAt: shortTime(lock.expiresAt), optContext: lock.context };
}

function roundArguments(round: RoundPayload, decimal: DecimalText): Record<string, unknown> {
  return {
    dso: round.dso,
    round: { number: round.round.toString() },
    amuletPrice: decimal(50_000_000n),
    opensAt: shortTime(round.opensAt),
    targetClosesAt: shortTime(round.opensAt + 1_200_000_000),
    tickDuration: { microseconds: '600000000' },
  };
}
