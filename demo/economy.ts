import type { Happening } from '../fixtures/happening.ts';
import { party } from '../fixtures/names.ts';
import type { Micros } from '../test/support/ledger/history.ts';
import type { Random } from '../test/support/ledger/random.ts';
import { partyNames } from './party-names.ts';

/** What happens in one round, an update in each element. */
export interface Economy {
  round(now: {
    readonly round: bigint;
    readonly start: Micros;
    readonly share: number;
  }): readonly (readonly Happening[])[];
}

interface Coin {
  readonly name: string;
  readonly owner: number;
  readonly units: bigint;
}

const OWNERS = 240;
const COIN = 10_000_000_000n;
const DAY: Micros = 86_400_000_000;
/** Coins of one owner beyond which they are merged with the next payment. */
const COINS_MAX = 8;
const REWARDED = 4;
/** Of what owners do: they pay, or else burn a coin for traffic or lock one. */
const BURN_CHANCE = 0.04;
const LOCK_CHANCE = 0.12;
const LOCK_DAYS_MAX = 6;
/** A while, as shares of the weeks, in which many lock. */
const CAMPAIGN = { from: 0.35, to: 0.6, lockChance: 0.45 };

/** Owners, their coins and what they do with them; everything is drawn from one source of numbers. */
export function createEconomy(random: Random): Economy {
  const owners = partyNames(OWNERS).map(party);
  const coins: Coin[][] = owners.map(() => []);
  const locked: { readonly coin: Coin; readonly until: Micros }[] = [];
  let named = 0;

  /** The cube makes a long tail: the first few owners are chosen most. */
  const someOwner = (joined: number): number => Math.floor(joined * (random.below(1 << 30) / (1 << 30)) ** 3);

  function create(owner: number, units: bigint, round: bigint, until?: Micros): Happening {
    const coin: Coin = { name: `week coin ${++named}`, owner, units };
    if (until === undefined) coins[owner]!.push(coin);
    else locked.push({ coin, until });
    const lock = until === undefined ? {} : { lock: { holders: [owners[0]!], expiresAt: until, context: 'escrow' } };
    return { makes: coin.name, coin: { owner: owners[owner]!, amount: decimal(units), round, ...lock } };
  }

  /** Takes coins of an owner worth at least so much, or all where there are too many; null where they are not enough. */
  function take(owner: number, units: bigint): { readonly taken: readonly Coin[]; readonly sum: bigint } | null {
    const own = coins[owner]!;
    const taken: Coin[] = [];
    let sum = 0n;
    const all = own.length > COINS_MAX;
    while (own.length > 0 && (all || sum < units)) {
      const coin = own.shift()!;
      taken.push(coin);
      sum += coin.units;
    }
    if (sum >= units) return { taken, sum };
    own.push(...taken);
    return null;
  }

  function transfer(inside: readonly Happening[], taken: readonly Coin[]): readonly Happening[] {
    return [{ through: 'AmuletRules_Transfer', inside: [...taken.map(({ name }) => ({ archives: name })), ...inside] }];
  }

  function rewards(joined: number, round: bigint, share: number): readonly Happening[] {
    const inside = Array.from({ length: REWARDED }, () => {
      // Less is rewarded as the weeks go by.
      const most = BigInt(Math.floor(900 - 500 * share)) * COIN;
      return create(someOwner(joined), most / 3n + random.bigBelow(most), round);
    });
    return [{ through: 'AmuletRules_MiningRound_Close', inside }];
  }

  function payment(joined: number, round: bigint): readonly Happening[] | null {
    const [from, to] = [random.below(joined), random.chance(0.6) ? someOwner(joined) : random.below(joined)];
    const wealth = coins[from]!.reduce((sum, { units }) => sum + units, 0n);
    const units = (wealth * BigInt(1 + random.below(300))) / 1000n;
    if (from === to || units === 0n) return null;
    const paid = take(from, units);
    if (paid === null) return null;
    const rest = paid.sum - units;
    const change = rest > 0n ? [create(from, rest, round)] : [];
    return transfer([create(to, units, round), ...change], paid.taken);
  }

  function burn(joined: number): readonly Happening[] | null {
    const coin = coins[someOwner(joined)]!.shift();
    return coin === undefined ? null : [{ through: 'AmuletRules_BuyMemberTraffic', inside: [{ archives: coin.name }] }];
  }

  function lock(joined: number, round: bigint, now: Micros): readonly Happening[] | null {
    const owner = someOwner(joined);
    const coin = coins[owner]!.shift();
    if (coin === undefined) return null;
    const until = now + DAY * (1 + random.below(LOCK_DAYS_MAX));
    return transfer([create(owner, coin.units, round, until)], [coin]);
  }

  function unlockings(round: bigint, now: Micros): readonly (readonly Happening[])[] {
    const due = locked.filter(({ until }) => until <= now);
    for (const each of due) locked.splice(locked.indexOf(each), 1);
    return due.map(({ coin: { name, owner, units } }) => [
      { archives: name, by: 'LockedAmulet_UnlockV2', inside: [create(owner, units, round)] },
    ]);
  }

  return {
    round({ round, start, share }) {
      // All have come by the middle of the time.
      const joined = Math.min(OWNERS, 12 + Math.floor(OWNERS * share * 2));
      const updates = [rewards(joined, round, share), ...unlockings(round, start)];
      const isCampaign = share >= CAMPAIGN.from && share < CAMPAIGN.to;
      for (let left = actsAt(start, random); left > 0; left--) {
        const made = random.chance(BURN_CHANCE)
          ? burn(joined)
          : random.chance(isCampaign ? CAMPAIGN.lockChance : LOCK_CHANCE)
            ? lock(joined, round, start)
            : payment(joined, round);
        if (made !== null) updates.push(made);
      }
      return updates;
    },
  };
}

/** More by day than by night, and fewer at the end of a week. */
function actsAt(time: Micros, random: Random): number {
  const date = new Date(time / 1000);
  const isDay = date.getUTCHours() >= 7 && date.getUTCHours() < 20;
  const isWeekend = date.getUTCDay() % 6 === 0;
  return random.below(isDay ? (isWeekend ? 4 : 7) : 3);
}

function decimal(units: bigint): string {
  return `${units / COIN}.${String(units % COIN).padStart(10, '0')}`;
}
