import { createRandom, type Random } from '../../test/support/ledger/random.ts';
import { javaDecimal, sixDigitTime } from '../../test/support/ledger/wire-text.ts';
import type { Envelope } from './event.ts';

const START = Date.UTC(2025, 0, 1) * 1000;
/** Two seconds to six between two updates, so a snapshot of ten minutes has some 150 of them. */
const STEP_LEAST_MICROS = 2_000_000;
const STEP_SPREAD_MICROS = 4_000_000;
const SUPER_VALIDATORS = 13;
const VALIDATORS = 600;
/** Names of parties are of many lengths. */
const HINTS = ['-mainnet-', '-validator-', '-ghost-', '-mainnet-validator-', '-LP-'];
const LONG_NAME = 'Foundation-of-All-Validators-1';

export interface Coin {
  readonly contractId: string;
  readonly units: bigint;
}

export interface OpenRound {
  readonly contractId: string;
  readonly number: number;
}

/** Who and what a feed of the network's shape speaks of, and those of its active contracts that it must archive again. */
export interface Ledger {
  readonly random: Random;
  readonly dso: string;
  readonly synchronizerId: string;
  /** Contract ids that are exercised forever. */
  readonly dsoRules: string;
  readonly amuletRules: string;
  readonly superValidators: readonly string[];
  /** Anybody; some are much busier than others. */
  party(): string;
  contractId(): string;
  contractIds(count: number): string[];
  /** A public key in base64. */
  key(): string;
  /** A random Decimal of at most so many integer digits, as Scan prints it. */
  decimal(integerDigits: number): string;
  /** Somebody who collects rewards: mostly one who has done so before. */
  collector(): string;
  coinsOf(owner: string): Coin[];
  /** Oldest first. */
  readonly openRounds: OpenRound[];
  /** The time of the current update, or one so many seconds later. */
  time(laterSeconds?: number): string;
  /** Goes on to the next update. */
  next(): Envelope;
}

export function createLedger(seed: number): Ledger {
  const random = createRandom(seed);
  const party = (hint: string): string => `${hint}::1220${random.hex(64)}`;
  const contractId = (): string => `00${random.hex(64)}ca111220${random.hex(64)}`;
  const dso = party('DSO');
  const synchronizerId = `global-domain::${dso.slice('DSO::'.length)}`;
  const superValidators = Array.from({ length: SUPER_VALIDATORS }, (_, at) => {
    return party(at === 0 ? LONG_NAME : `SuperValidator-${at}`);
  });
  const validators = Array.from({ length: VALIDATORS }, (_, at) => {
    return party(`${random.hex(8).slice(random.below(6))}${random.pick(HINTS)}${at}`);
  });
  const parties = [...superValidators, ...validators];
  const packageIds = { 'splice-amulet': random.hex(64), 'splice-dso-governance': random.hex(64) };
  const coins = new Map<string, Coin[]>();
  const collectors: string[] = [];
  const anybody = (): string => parties[Math.floor(parties.length * (random.word() / 2 ** 32) ** 2)]!;
  let now = START;
  return {
    random,
    dso,
    synchronizerId,
    dsoRules: contractId(),
    amuletRules: contractId(),
    superValidators,
    party: anybody,
    contractId,
    contractIds: (count) => Array.from({ length: count }, contractId),
    key: () => Buffer.from(random.hex(64), 'hex').toString('base64'),
    decimal: (integerDigits) => javaDecimal(random.bigBelow(10n ** BigInt(integerDigits + 10))),
    collector: () => (collectors.length > 0 && random.chance(0.85) ? random.pick(collectors) : anybody()),
    coinsOf(owner) {
      const known = coins.get(owner);
      if (known !== undefined) return known;
      const owned: Coin[] = [];
      coins.set(owner, owned);
      collectors.push(owner);
      return owned;
    },
    openRounds: [],
    time: (laterSeconds = 0) => sixDigitTime(now + laterSeconds * 1_000_000),
    next() {
      now += STEP_LEAST_MICROS + random.below(STEP_SPREAD_MICROS);
      return {
        updateId: `1220${random.hex(64)}`,
        migrationId: 4,
        synchronizerId,
        recordTime: sixDigitTime(now),
        effectiveAt: sixDigitTime(now + random.below(300_000)),
        packageIds,
      };
    },
  };
}
