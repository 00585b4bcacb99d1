import type { StoredId } from '../ledger/contract-id.ts';
import type { Chunk } from './chunk.ts';
import { idAt } from './ids.ts';

/** What is kept of an update once its cursor has moved on; it keeps the whole chunk in memory. */
export interface UpdateRef {
  readonly chunk: Chunk;
  readonly update: number;
}

/** What is kept of an event. */
export interface EventRef extends UpdateRef {
  readonly event: number;
}

export function updateIdOf({ chunk, update }: UpdateRef): StoredId {
  return idAt(chunk, chunk.updates, update);
}
