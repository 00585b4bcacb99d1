import { type CoinPayload, type Contract, type Draft, entityOf, type HistoryUpdate, type Micros } from './history.ts';
import { type Draw, drawCoin, drawCounterfeit, drawOther, drawRound, drawTerms } from './random-contract.ts';
import { type Era, takeAny } from './random-era.ts';
import { again, drawTokens, newToken } from './random-token-update.ts';

/** What one transaction does to an era. Changes what is active there. */
export interface Step extends Draw {
  readonly era: Era;
  readonly createdAt: Micros;
  readonly activeTarget: number;
}

const OPEN_ROUNDS = 3;
const RULES: Contract = {
  contractId: '00rules',
  templateId: 'rules:Splice.AmuletRules:AmuletRules',
  packageName: 'splice-amulet',
  createdAt: 0,
  signatories: [],
  observers: [],
  payload: { kind: 'other', arguments: {} },
};

export function drawTransaction(step: Step): readonly Draft[] {
  const { random, shares, era } = step;
  if (shares.token > 0 && random.chance(shares.token)) {
    const roots = drawTokens(step);
    return random.chance(0.2) ? [...roots, ...coins(step)] : roots;
  }
  const roots = random.chance(shares.other) ? others(step) : coins(step);
  if (random.chance(shares.counterfeit)) roots.push(...strays(step));
  if (random.chance(shares.offActiveSet)) roots.push(...offActiveSet(step));
  // Nothing says that an update has a single root.
  if (era.coins.length > 0 && random.chance(shares.other)) roots.push(use(step, random.pick(era.coins)));
  return roots;
}

/** Opens the next mining round and, where there are three, archives the oldest. */
export function advanceRounds(step: Step): readonly Draft[] {
  const { era } = step;
  const oldest = era.rounds.length >= OPEN_ROUNDS ? era.rounds.shift() : undefined;
  const opened = drawRound(step, { round: era.nextRound++, createdAt: step.createdAt });
  era.rounds.push(opened);
  const archived = oldest === undefined ? [] : [archive(step, oldest, 'Archive')];
  return [rules(step, 'AmuletRules_AdvanceOpenMiningRounds', [...archived, create(opened)])];
}

function coins(step: Step): Draft[] {
  const { random, era } = step;
  const growing = era.coins.length < step.activeTarget;
  const roll = random.below(100);
  if (era.coins.length === 0 || roll < (growing ? 12 : 5)) return [tap(step)];
  if (roll < 30) return [relock(step)];
  if (roll < 35) return [archive(step, takeAny(random, era.coins)!, 'Amulet_ExpireV2')];
  return [transfer(step, growing)];
}

function tap(step: Step): Draft {
  return rules(step, 'AmuletRules_DevNet_Tap', [create(newCoin(step))]);
}

function transfer(step: Step, growing: boolean): Draft {
  const { random, era, shares } = step;
  const children: Draft[] = [];
  for (let inputs = 1 + random.below(3); inputs > 0 && era.coins.length > 0; inputs--) {
    children.push(archive(step, takeAny(random, era.coins)!, 'Archive'));
  }
  for (let outputs = 1 + random.below(growing ? 5 : 2); outputs > 0; outputs--) children.push(create(newCoin(step)));
  if (random.chance(shares.transient)) {
    const passing = drawCoin(step, drawTerms(step, roundNow(step)), { createdAt: step.createdAt, locked: false });
    children.push(create(passing), archive(step, passing, 'Archive'));
  }
  return rules(step, 'AmuletRules_Transfer', children);
}

/** Locks an unlocked coin, unlocks a locked one; the terms stay. */
function relock(step: Step): Draft {
  const old = takeAny(step.random, step.era.coins)!;
  const { lock, owner, amount, rate, round } = old.payload as CoinPayload;
  const terms = { owner, amount, rate, round };
  const made = drawCoin(step, terms, { createdAt: step.createdAt, locked: lock === null });
  step.era.coins.push(made);
  if (lock === null) return rules(step, 'AmuletRules_Transfer', [archive(step, old, 'Archive'), create(made)]);
  const choice = step.random.pick(['LockedAmulet_UnlockV2', 'LockedAmulet_OwnerExpireLockV2']);
  return { ...archive(step, old, choice), children: [create(made)] };
}

function others(step: Step): Draft[] {
  if (step.random.chance(0.5)) {
    const made = drawOther(step, step.createdAt);
    step.era.strays.push(made);
    return [create(made)];
  }
  return strays(step);
}

/** Makes a counterfeit, or archives one (or a contract of another template). */
function strays(step: Step): Draft[] {
  const old = step.random.chance(0.4) ? takeAny(step.random, step.era.strays) : null;
  if (old !== null) return [archive(step, old, 'Archive')];
  const made = drawCounterfeit(step, { round: roundNow(step), createdAt: step.createdAt });
  step.era.strays.push(made);
  return [create(made)];
}

/** Events that say of themselves that the active set does not change: a coin that is never there, one that stays. */
function offActiveSet(step: Step): Draft[] {
  const never = drawCoin(step, drawTerms(step, roundNow(step)), { createdAt: step.createdAt, locked: false });
  const stays = step.era.coins.at(-1) ?? never;
  return [
    { ...create(never), acsDelta: false },
    { ...archive(step, stays, 'Archive', { frees: false }), acsDelta: false },
  ];
}

/** Changes what is active in the era. */
export function newCoin(step: Step): Contract {
  const terms = drawTerms(step, roundNow(step));
  const coin = drawCoin(step, terms, { createdAt: step.createdAt, locked: step.random.chance(step.shares.lock) });
  step.era.coins.push(coin);
  return coin;
}

function roundNow({ era, random }: Step): bigint {
  const round = era.nextRound - 1n - BigInt(random.below(OPEN_ROUNDS));
  return round < 0n ? 0n : round;
}

export function create(contract: Contract): Extract<Draft, { kind: 'create' }> {
  return { kind: 'create', contract, acsDelta: true };
}

export type ExerciseDraft = Extract<Draft, { kind: 'exercise' }>;

export function archive(step: Step, contract: Contract, choice: string, then = { frees: true }): ExerciseDraft {
  if (then.frees) step.names.archived(contract.contractId);
  const templateId = step.names.templateId(entityOf(contract.templateId));
  return { kind: 'exercise', contract, templateId, choice, consuming: true, acsDelta: true, children: [] };
}

function use(step: Step, contract: Contract): ExerciseDraft {
  return { ...archive(step, contract, 'Amulet_Look', { frees: false }), consuming: false };
}

function rules(step: Step, choice: string, children: readonly Draft[]): ExerciseDraft {
  const contract = { ...RULES, signatories: [step.names.dso] };
  const templateId = RULES.templateId;
  return { kind: 'exercise', contract, templateId, choice, consuming: false, acsDelta: true, children };
}

interface Repair {
  readonly wrapping: HistoryUpdate['wrapping'];
  readonly drafts: readonly Draft[];
}

/** A reassignment within one synchronizer: an operator purges a contract or imports one. Changes what is active there. */
export function drawRepair(step: Step): Repair {
  const purged = step.random.chance(0.5) ? purge(step) : null;
  if (purged !== null) return { wrapping: 'unassignment', drafts: [purged] };
  return { wrapping: 'assignment', drafts: [imported(step)] };
}

function purge(step: Step): Draft | null {
  const { random, era } = step;
  // One round is left, so that there is a lowest one.
  const isRound = era.rounds.length > 1 && random.chance(0.2);
  const isToken = step.shares.token > 0 && random.chance(step.shares.token);
  if (isToken && era.tokens.length > 0) return archive(step, takeAny(random, era.tokens)!.contract, 'Unassign');
  const contract = isRound ? era.rounds.shift()! : takeAny(random, random.pick([era.coins, era.coins, era.strays]));
  return contract === null ? null : archive(step, contract, 'Unassign');
}

/** A new coin, one that is there already, or a contract that does not count. */
function imported(step: Step): Draft {
  const { random, era, shares } = step;
  if (shares.token > 0 && random.chance(shares.token)) {
    return era.tokens.length > 0 && random.chance(0.3) ? again(step) : create(newToken(step).contract);
  }
  if (era.coins.length > 0 && random.chance(0.2)) return create(random.pick(era.coins));
  if (random.chance(0.8)) return create(newCoin(step));
  const stray = random.chance(0.5)
    ? drawOther(step, step.createdAt)
    : drawCounterfeit(step, { round: era.nextRound, createdAt: step.createdAt });
  era.strays.push(stray);
  return create(stray);
}
