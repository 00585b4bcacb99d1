import type { Draft, HistoryUpdate } from './history.ts';
import { drawCounterfeit, drawOther } from './random-contract.ts';
import { takeAny } from './random-era.ts';
import { archive, create, newCoin, type Step } from './random-update.ts';

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
  const contract = isRound ? era.rounds.shift()! : takeAny(random, random.pick([era.coins, era.coins, era.strays]));
  return contract === null ? null : archive(step, contract, 'Unassign');
}

/** A new coin, one that is there already, or a contract that does not count. */
function imported(step: Step): Draft {
  const { random, era } = step;
  if (era.coins.length > 0 && random.chance(0.2)) return create(random.pick(era.coins));
  if (random.chance(0.8)) return create(newCoin(step));
  const stray = random.chance(0.5)
    ? drawOther(step, step.createdAt)
    : drawCounterfeit(step, { round: era.nextRound, createdAt: step.createdAt });
  era.strays.push(stray);
  return create(stray);
}
