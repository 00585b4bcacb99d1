import type { Micros } from './history.ts';

/** The options of a random ledger. Every share is a probability, 0 to 1. */
export interface LedgerOptions {
  readonly seed: number;
  /** Updates to make, imports and checkpoints not counted; a bench says Infinity and stops reading. */
  readonly updates: number;
  readonly owners: number;
  /** The active set grows to about this many coins and stays there. */
  readonly activeTarget: number;
  readonly migrations: number;
  /** Contracts that the first migration begins with as imports. */
  readonly carriedOver: number;
  /** Creates in one import; format A has them one by one. */
  readonly importCreatesMax: number;
  /** Of the first migration; a random one unless given. */
  readonly migrationId?: number;
  /** A random one unless given. */
  readonly dso?: string;
  readonly synchronizers: number;
  readonly start: Micros;
  /** The snapshot grid, for times exactly on it and for quiet intervals. */
  readonly periodMicros: number;
  readonly stepMeanMicros: number;
  readonly firstRound: bigint;
  /** Updates between two mining rounds. */
  readonly roundEvery: number;
  readonly shares: LedgerShares;
}

export interface LedgerShares {
  /** of coins that go to the first few owners */
  readonly whale: number;
  readonly lock: number;
  /** of transfers with a contract created and archived within the update */
  readonly transient: number;
  /** of updates after which nothing happens for several periods */
  readonly quiet: number;
  readonly onGrid: number;
  readonly counterfeit: number;
  readonly other: number;
  readonly reassignment: number;
  /** of updates that purge or import a contract by a reassignment within one synchronizer */
  readonly within: number;
  /**
   * of updates of the last migration after which others come at the time of one before, or of a checkpoint: only format B has
   * words for those, and so they are left to who writes a ledger in it
   */
  readonly repair: number;
  readonly checkpoint: number;
  readonly notice: number;
  readonly offActiveSet: number;
  readonly oddId: number;
  /** of coins with unknown arguments, extra observers or another order of signatories */
  readonly unusual: number;
  readonly wideAmount: number;
  readonly tinyAmount: number;
  readonly zeroRate: number;
  /** of coins that expire within some thirty rounds */
  readonly shortLived: number;
  readonly olderMigration: number;
  readonly importAgain: number;
  /** of archived contract ids that are created once more */
  readonly recreated: number;
  /** of transactions and repairs about tokens; with any, coins show their views, and imports and reassignments have tokens too */
  readonly token: number;
}

const START = Date.UTC(2025, 1, 12) * 1000;
const TEN_MINUTES = 600_000_000;

const ODD: LedgerShares = {
  whale: 0.4,
  lock: 0.2,
  transient: 0.15,
  quiet: 0.02,
  onGrid: 0.05,
  counterfeit: 0.04,
  other: 0.06,
  reassignment: 0.05,
  within: 0.05,
  repair: 0,
  checkpoint: 0.05,
  notice: 0.02,
  offActiveSet: 0.03,
  oddId: 0.1,
  unusual: 0.1,
  wideAmount: 0.05,
  tinyAmount: 0.1,
  zeroRate: 0.1,
  shortLived: 0.4,
  olderMigration: 0.05,
  importAgain: 0.05,
  recreated: 0.02,
  token: 0,
};

/** A small ledger in which everything that may happen does, for comparing answers with the oracle. */
export function oddLedger(
  seed: number,
  changes: Partial<Omit<LedgerOptions, 'shares'>> & { readonly shares?: Partial<LedgerShares> } = {},
): LedgerOptions {
  return {
    seed,
    updates: 300,
    owners: 12,
    activeTarget: 60,
    migrations: 1,
    carriedOver: 0,
    importCreatesMax: 1,
    synchronizers: 2,
    start: START + 123_456,
    periodMicros: TEN_MINUTES,
    stepMeanMicros: TEN_MINUTES / 8,
    firstRound: 19_830n,
    roundEvery: 20,
    ...changes,
    shares: { ...ODD, ...changes.shares },
  };
}

/** A long ledger shaped like the real network's, for benches: one synchronizer, intervals of about 7,000 events. `token`: of its transactions. */
export function realLedger(size: { seed: number; events: number; token?: number }): LedgerOptions {
  return {
    seed: size.seed,
    updates: Number.POSITIVE_INFINITY,
    owners: Math.ceil(size.events * 0.036),
    activeTarget: Math.ceil(size.events * 0.2),
    migrations: 1,
    carriedOver: 0,
    importCreatesMax: 1,
    synchronizers: 1,
    start: START,
    periodMicros: TEN_MINUTES,
    stepMeanMicros: TEN_MINUTES / 2_400,
    firstRound: 19_830n,
    roundEvery: 2_400,
    shares: {
      ...(Object.fromEntries(Object.keys(ODD).map((name) => [name, 0])) as { [name in keyof LedgerShares]: 0 }),
      whale: 0.25,
      lock: 0.08,
      transient: 0.02,
      counterfeit: 0.0005,
      other: 0.03,
      token: size.token ?? 0,
    },
  };
}
