import { foldStored } from '../ledger/pack/id.ts';

/**
 * What a row of a small table carries of itself where no other table says it again: whose party it is, a round, a
 * synchronizer's last time. So a verification finds a digit of it that was changed behind the writer's back.
 */
export function rowChecksum(key: number, ...values: readonly (string | number | bigint)[]): number {
  return foldStored(values.join('\n'), key);
}
