import type { Contract, Micros } from './history.ts';
import type { LedgerOptions } from './options.ts';
import type { Random } from './random.ts';
import type { DrawnToken } from './random-token.ts';

/** One migration while it runs: its clocks, and what is active in it. */
export interface Era {
  readonly migrationId: number;
  readonly synchronizers: readonly Clock[];
  now: Micros;
  /** Coins that count. */
  readonly coins: Contract[];
  /** Open mining rounds that count, oldest first. */
  readonly rounds: Contract[];
  /** Counterfeits and other templates. */
  readonly strays: Contract[];
  /** Holdings of other templates that show views, those that do not count among them. */
  readonly tokens: DrawnToken[];
  nextRound: bigint;
  /** What was imported, active or not. */
  imported: readonly Contract[];
}

/** Each synchronizer's record times strictly increase, but one may lag another. */
export interface Clock {
  readonly synchronizerId: string;
  readonly skew: Micros;
  last: Micros;
}

export function openEra(random: Random, options: LedgerOptions, since: { migrationId: number; now: Micros }): Era {
  const skewMax = options.synchronizers === 1 ? 0 : options.periodMicros;
  const synchronizers = Array.from({ length: options.synchronizers }, (_, number) => ({
    synchronizerId: `sync-${number}::1220${random.hex(64)}`,
    skew: number === 0 ? 0 : random.below(skewMax),
    last: 0,
  }));
  return {
    ...since,
    synchronizers,
    coins: [],
    rounds: [],
    strays: [],
    tokens: [],
    nextRound: options.firstRound,
    imported: [],
  };
}

/** A hard migration: what was active is imported, and the new era's clock may start before the old one's has ended. */
export function nextEra(random: Random, options: LedgerOptions, old: Era): Era {
  const now = old.now - random.below(3 * options.periodMicros);
  const era = openEra(random, options, { migrationId: old.migrationId + 1 + random.below(2), now });
  era.coins.push(...old.coins);
  era.rounds.push(...old.rounds);
  era.strays.push(...old.strays);
  era.tokens.push(...old.tokens);
  era.nextRound = old.nextRound;
  return era;
}

/** Moves time on and gives the next record time of one of the synchronizers, if there are several not of `except`. */
export function tick(
  random: Random,
  options: LedgerOptions,
  era: Era,
  except?: Clock,
): { clock: Clock; recordTime: Micros } {
  const { periodMicros, stepMeanMicros, shares } = options;
  era.now += 1 + random.below(2 * stepMeanMicros);
  if (random.chance(shares.quiet)) era.now += periodMicros * (1 + random.below(5));
  const others = era.synchronizers.filter((clock) => clock !== except);
  const clock = random.pick(others.length > 0 ? others : era.synchronizers);
  let recordTime = Math.max(clock.last + 1, era.now - clock.skew);
  if (random.chance(shares.onGrid)) recordTime = Math.ceil(recordTime / periodMicros) * periodMicros;
  clock.last = recordTime;
  return { clock, recordTime };
}

/** What a checkpoint names: every synchronizer, each at or after its last update. */
export function checkpointTimes(era: Era): { synchronizerId: string; recordTime: Micros }[] {
  return era.synchronizers.map((clock) => {
    clock.last = Math.max(clock.last, era.now - clock.skew);
    return { synchronizerId: clock.synchronizerId, recordTime: clock.last };
  });
}

/** Takes one out by moving the last into its place: the order of the active set means nothing. */
export function takeAny<Held>(random: Random, contracts: Held[]): Held | null {
  if (contracts.length === 0) return null;
  const place = random.below(contracts.length);
  const taken = contracts[place]!;
  const last = contracts.pop()!;
  if (place < contracts.length) contracts[place] = last;
  return taken;
}
