import type { FactKind, Facts, Lookup } from '../../holdings/facts.ts';

/** How many more rows may be read; Infinity for no bound. */
export interface RowBudget {
  rows: number;
}

/** Thrown where a read would exceed its budget of rows: no fault, but it must be answered by a reader thread. */
export const NOT_BOUNDED = new Error('this read is not bounded by its question');

/** For reads whose number of rows is not known beforehand. */
export function requireUnbounded({ rows }: RowBudget): void {
  if (rows !== Infinity) throw NOT_BOUNDED;
}

/** For each kind of fact, the function that reads it. */
export type ReadKinds<Kind extends FactKind> = {
  readonly [K in Kind]: (lookup: Lookup<K>, budget: RowBudget) => Facts<K>;
};
