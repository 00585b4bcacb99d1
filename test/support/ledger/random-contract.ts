import type { CoinPayload, Contract, Lock, Micros } from './history.ts';
import { AMULET, COIN_PACKAGE, LOCKED_AMULET, OPEN_ROUND } from './history.ts';
import type { LedgerShares } from './options.ts';
import type { Random } from './random.ts';
import type { Names } from './random-names.ts';
import { coinViews } from './wire-views.ts';

const USUAL_RATE = 38_051_800n;
const COIN = 10_000_000_000n;
const DAY: Micros = 86_400_000_000;
const ROUND_LENGTH: Micros = 600_000_000;

/** What contracts are drawn from. */
export interface Draw {
  readonly random: Random;
  readonly names: Names;
  readonly shares: LedgerShares;
}

/** The terms that a coin keeps when it is locked or unlocked. */
export type CoinTerms = Pick<CoinPayload, 'owner' | 'amount' | 'rate' | 'round'>;

export function drawTerms({ random, names, shares }: Draw, round: bigint): CoinTerms {
  const rate = drawRate(random, shares);
  return { owner: names.owner(), amount: drawAmount(random, shares, rate), rate, round };
}

function drawRate(random: Random, shares: LedgerShares): bigint {
  if (random.chance(shares.zeroRate)) return 0n;
  return random.chance(shares.wideAmount) ? random.bigBelow(10n ** 30n) : USUAL_RATE;
}

function drawAmount(random: Random, shares: LedgerShares, rate: bigint): bigint {
  if (random.chance(shares.tinyAmount)) return BigInt(1 + random.below(20_000));
  if (random.chance(shares.wideAmount)) return random.bigBelow(10n ** 38n - 1n) + 1n;
  if (rate > 0n && random.chance(shares.shortLived)) return wholeRounds(random, rate);
  return random.bigBelow(10n ** BigInt(random.below(7)) * COIN) + 1n;
}

/** Expires some rounds after its creation, give or take one unit of 1e-10: the edges that a probed round falls on. */
function wholeRounds(random: Random, rate: bigint): bigint {
  const amount = rate * BigInt(1 + random.below(30)) + BigInt(random.below(3) - 1);
  return amount > 0n ? amount : 1n;
}

export function drawCoin(draw: Draw, terms: CoinTerms, when: { createdAt: Micros; locked: boolean }): Contract {
  const { random, names, shares } = draw;
  const unusual = random.chance(shares.unusual);
  const lock = when.locked ? drawLock(draw, when.createdAt) : null;
  const signatories = [names.dso, terms.owner];
  const coin: CoinPayload = {
    kind: 'coin',
    dso: names.dso,
    ...terms,
    lock,
    unknown: unusual ? { memo: { '10': ['ü', null, 1.5], '9': true } } : {},
  };
  return {
    contractId: names.contractId(),
    templateId: names.templateId(when.locked ? LOCKED_AMULET : AMULET),
    packageName: COIN_PACKAGE,
    createdAt: when.createdAt,
    signatories: unusual && random.chance(0.5) ? signatories.reverse() : signatories,
    observers: unusual && random.chance(0.5) ? [names.owner(), names.stranger] : [],
    payload: coin,
    ...(shares.token > 0 && { views: drawCoinViews(draw, coin) }),
  };
}

/** A few have another owner or amount than the arguments, which win. */
function drawCoinViews({ random, names }: Draw, coin: CoinPayload): readonly unknown[] {
  const { owner, amount } = coin;
  const shown = random.chance(0.04) ? { ...coin, amount: amount - 1n } : coin;
  return coinViews(random.chance(0.04) ? { ...shown, owner: names.owner() } : { ...shown, owner });
}

function drawLock({ random, names }: Draw, createdAt: Micros): Lock {
  const holders = [random.chance(0.5) ? names.dso : names.owner()];
  const expiresAt = createdAt + DAY * (1 + random.below(30));
  return { holders, expiresAt, context: random.chance(0.5) ? 'a "lock"' : null };
}

export function drawRound({ names }: Draw, when: { round: bigint; createdAt: Micros }): Contract {
  return {
    contractId: names.contractId(),
    templateId: names.templateId(OPEN_ROUND),
    packageName: COIN_PACKAGE,
    createdAt: when.createdAt,
    signatories: [names.dso],
    observers: [],
    payload: { kind: 'round', dso: names.dso, round: when.round, opensAt: when.createdAt + ROUND_LENGTH },
  };
}

/** A look-alike: a dso of its own (one of them with fields that make no sense), or ours without its signature. */
export function drawCounterfeit(draw: Draw, when: { round: bigint; createdAt: Micros }): Contract {
  const { random, names } = draw;
  const { dso, stranger } = names;
  const coin = drawCoin(draw, drawTerms(draw, when.round), { createdAt: when.createdAt, locked: random.chance(0.3) });
  const round = drawRound(draw, when);
  const owner = names.owner();
  const nonsense = { dso: stranger, owner: 7, amount: { initialAmount: 'much' } };
  return random.pick<Contract>([
    { ...coin, signatories: [stranger, owner], payload: { ...(coin.payload as CoinPayload), dso: stranger } },
    { ...coin, signatories: [owner] },
    { ...coin, templateId: names.templateId(AMULET), payload: { kind: 'other', arguments: nonsense } },
    {
      ...round,
      signatories: [stranger],
      payload: { kind: 'round', dso: stranger, round: 1n, opensAt: when.createdAt },
    },
    { ...round, signatories: [stranger, `look-alike-${dso}`] },
  ]);
}

/** Contracts that are ignored, one of them of our template in another package. */
export function drawOther({ random, names }: Draw, createdAt: Micros): Contract {
  const [packageName, entity] = random.pick([
    [COIN_PACKAGE, 'Splice.Amulet:ValidatorRight'],
    ['splice-wallet', 'Splice.Wallet.Install:WalletAppInstall'],
    ['look-alike', AMULET],
  ] as const);
  const user = names.owner();
  return {
    contractId: names.contractId(),
    templateId: names.templateId(entity),
    packageName,
    createdAt,
    signatories: [user],
    observers: [names.dso],
    payload: { kind: 'other', arguments: { dso: names.dso, user, validator: user } },
  };
}
