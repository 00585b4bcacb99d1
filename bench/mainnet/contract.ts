import type { CreateEvent, ExerciseEvent } from './event.ts';
import type { Ledger } from './ledger.ts';

/** A create that the DSO signs. */
export function created(
  ledger: Ledger,
  template: string,
  payload: object,
  observers: readonly string[] = [],
): CreateEvent {
  const { dso } = ledger;
  return { template, contractId: ledger.contractId(), payload: { dso, ...payload }, signatories: [dso], observers };
}

/** A consuming exercise without an argument, by one party. */
export function archived(template: string, contractId: string, actor: string, choice = 'Archive'): ExerciseEvent {
  const result = choice === 'Archive' ? {} : `${choice}Result`;
  return { template, contractId, choice, argument: {}, result, consuming: true, actors: [actor], children: [] };
}

/** A choice of one party on rules, which stay. */
type Choice = Pick<ExerciseEvent, 'choice' | 'argument' | 'result' | 'children'> & { readonly actor: string };

/** A choice of the rules of the DSO, which nearly every update of the network begins with. */
export function ofDsoRules(ledger: Ledger, { actor, ...choice }: Choice): ExerciseEvent {
  const contract = { template: 'Splice.DsoRules:DsoRules', contractId: ledger.dsoRules };
  return { ...contract, ...choice, consuming: false, actors: [actor] };
}

/** A choice of the rules of the coin, below one of the DSO's. */
export function ofAmuletRules(ledger: Ledger, { actor, ...choice }: Choice): ExerciseEvent {
  const contract = { template: 'Splice.AmuletRules:AmuletRules', contractId: ledger.amuletRules };
  return { ...contract, ...choice, consuming: false, actors: [actor] };
}
