import { idHash, type StoredId, storedIdHash } from '../../ledger/contract-id.ts';

/** The columns of a row of `holding` that no total and no other table repeats. */
export interface HoldingFacts {
  readonly no: number;
  readonly round: number | bigint;
  readonly createdAt: number;
  readonly node: number;
  readonly template: number;
  readonly contractId: StoredId;
  readonly updateId: StoredId | null;
  readonly args: string | null;
}

const NONE = -1;
const numbers = new Float64Array(8);
const bytes = Buffer.from(numbers.buffer);

/** The checksum in a row of `holding`, by which a verification finds a value that was changed behind the writer's back. */
export function holdingChecksum(facts: HoldingFacts): number {
  const round = Number(facts.round);
  numbers[0] = facts.no;
  numbers[1] = Number.isSafeInteger(round) ? round : storedIdHash(facts.round.toString(), 0);
  numbers[2] = facts.createdAt;
  numbers[3] = facts.node;
  numbers[4] = facts.template;
  numbers[5] = hashOf(facts.contractId);
  numbers[6] = facts.updateId === null ? NONE : hashOf(facts.updateId);
  numbers[7] = facts.args === null ? NONE : storedIdHash(facts.args, 0);
  return idHash(bytes, 0, bytes.length, 0);
}

/** A text id and a packed one of the same bytes are different ids. */
function hashOf(id: StoredId): number {
  return storedIdHash(id, typeof id === 'string' ? 1 : 0);
}
