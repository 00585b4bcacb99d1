import type { Draft } from './history.ts';
import { takeAny } from './random-era.ts';
import {
  type DrawnToken,
  drawAccount,
  drawForgery,
  drawLock,
  drawToken,
  drawUnreadable,
  shown,
  spoiltViews,
} from './random-token.ts';
import { archive, create, type Step } from './random-update.ts';
import { holdingViews } from './wire-views.ts';

/** What a transaction does to tokens. Changes what is active in the era. */
export function drawTokens(step: Step): Draft[] {
  const { random, era, shares } = step;
  const growing = era.tokens.length < step.activeTarget;
  const roll = random.below(100);
  if (era.tokens.length === 0 || roll < (growing ? 30 : 3)) return made(step, 1 + random.below(3));
  if (roll < 45) return [relock(step)];
  if (roll < 52 && shares.unusual > 0) return [again(step)];
  if (roll < 57) return [archive(step, takeAny(random, era.tokens)!.contract, 'Archive')];
  if (roll < 60) return [archive(step, drawToken(step, step.createdAt).contract, 'Archive')];
  if (roll < 66) return transient(step);
  return transfer(step, growing);
}

/** One more holding, which may be forged or unreadable. */
export function newToken(step: Step): DrawnToken {
  const { random, era, shares, createdAt } = step;
  const [isForged, isUnreadable] = [random.chance(2 * shares.counterfeit), random.chance(shares.unusual)];
  const draw = isForged ? drawForgery : isUnreadable ? drawUnreadable : drawToken;
  const made = draw(step, createdAt);
  era.tokens.push(made);
  return made;
}

function made(step: Step, count: number): Draft[] {
  return Array.from({ length: count }, () => create(newToken(step).contract));
}

function transfer(step: Step, growing: boolean): Draft[] {
  const { random, era } = step;
  const inputs = Array.from({ length: 1 + random.below(3) }, () => takeAny(random, era.tokens));
  const archived = inputs.flatMap((input) => (input === null ? [] : [archive(step, input.contract, 'Archive')]));
  return [{ ...archived[0]!, children: [...archived.slice(1), ...made(step, 1 + random.below(growing ? 4 : 3))] }];
}

/** Locked, unlocked, or moved to another account of its owner's, by a contract of the same terms. */
function relock(step: Step): Draft {
  const { random, era, createdAt } = step;
  const old = takeAny(random, era.tokens)!;
  const lock = old.terms.lock === null ? drawLock(step, createdAt) : null;
  const terms = { ...old.terms, ...(random.chance(0.5) ? drawAccount(step) : { lock }) };
  const changed = shown(step, old.registry, terms, createdAt);
  era.tokens.push(changed);
  return { ...archive(step, old.contract, 'Holding_Change'), children: [create(changed.contract)] };
}

function transient(step: Step): Draft[] {
  const { contract } = step.random.chance(0.8) ? drawToken(step, step.createdAt) : drawUnreadable(step, step.createdAt);
  return [create(contract), archive(step, contract, 'Archive')];
}

/**
 * The create of an active holding once more, whose views may be others by now: ignored, unless it could not be read before. A node
 * never sends this but as an assignment or a repair; anyone who holds the rule must hold it everywhere.
 */
export function again({ random, era, ...step }: Step): Draft {
  const { contract, terms, registry } = random.pick(era.tokens);
  const amount = random.chance(0.5) ? terms.amount : 77n;
  const views = random.chance(0.2)
    ? spoiltViews({ random, ...step }, terms)
    : holdingViews(random.pick(registry.versions), { ...terms, amount });
  return create({ ...contract, views });
}
