import type { LedgerOptions } from './options.ts';
import type { Random } from './random.ts';

const WHALES = 5;
const MANY = 2 ** 32;

/** Who and what a random ledger speaks of. */
export interface Names {
  readonly dso: string;
  /** Signs look-alikes. */
  readonly stranger: string;
  owner(): string;
  updateId(): string;
  contractId(): string;
  /** The package id changes with every upgrade; an archive may carry another one than its create. */
  templateId(entity: string): string;
  /** Tells that a contract id is free again: a share of them is given once more. */
  archived(contractId: string): void;
}

export function createNames(random: Random, { owners, migrations, dso, shares }: LedgerOptions): Names {
  const party = (name: string): string => `${name}::1220${random.hex(64)}`;
  const packageIds = [random.hex(64), random.hex(64)];
  const parties: string[] = [];
  const free: string[] = [];
  let made = 0;
  return {
    dso: dso ?? party('DSO'),
    stranger: party('not-the-DSO'),
    owner() {
      const whale = random.chance(shares.whale);
      // The cube makes a long tail: a few owners of hundreds, most with one or two.
      const number = whale
        ? random.below(Math.min(WHALES, owners))
        : Math.floor(owners * (random.below(MANY) / MANY) ** 3);
      parties[number] ??= random.chance(shares.oddId) ? `odd: -_${number}::x y` : party(`owner-${number}`);
      return parties[number];
    },
    updateId: () => `1220${random.hex(64)}`,
    contractId() {
      made++;
      if (free.length > 0 && random.chance(0.5)) return free.pop()!;
      if (random.chance(shares.oddId)) return oddId(random, made);
      return `00${random.hex(64)}ca101220${random.hex(64)}`;
    },
    templateId: (entity) => `${random.pick(packageIds)}:${entity}`,
    archived(contractId) {
      // In a ledger of several migrations the id may be active in another one.
      if (migrations === 1 && random.chance(shares.recreated)) free.push(contractId);
    },
  };
}

/** Contract ids of test ledgers: everything but lower-case hex of even length, and shapes that are easily mistaken for it. */
function oddId(random: Random, number: number): string {
  const hex = `${random.hex(64)}${number.toString(16).padStart(8, '0')}`;
  const odd = [String(number), hex.toUpperCase(), `0${hex}`, `#${number}:0`, `ü-${number}`, `${hex.padEnd(254, '0')}g`];
  return random.pick(odd);
}
