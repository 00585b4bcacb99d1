import type { Decoded } from '../ledger/update.ts';

/** Where a message of a feed file goes: to its synchronizer's partition, to every one, or to the first. */
export type Destination = { readonly synchronizerId: string } | 'every' | 'first';

/** The wire formats' field, for messages that are ignored or cannot be read, but must keep their order. */
const SYNCHRONIZER_FIELD = /"synchronizer(?:_i|I)d"\s*:\s*"([^"\\]{1,300})"/;
/** The field is near the start or the end; a broken message may be megabytes. */
const SEARCHED_CHARS_MAX = 100_000;

export function destinationFor(decoded: Decoded | null, bytes: Uint8Array | null): Destination {
  if (decoded?.kind === 'checkpoint' || decoded?.kind === 'seed mark') return 'every';
  if (decoded?.kind === 'update')
    return decoded.synchronizerId === '' ? 'first' : { synchronizerId: decoded.synchronizerId };
  if (bytes === null) return 'first';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', 0, SEARCHED_CHARS_MAX);
  const synchronizerId = SYNCHRONIZER_FIELD.exec(text)?.[1];
  return synchronizerId === undefined ? 'first' : { synchronizerId };
}

/**
 * Gives each synchronizer a partition of its own, the first that is free, and keeps to it. Null where none is free; a single
 * partition is shared by all.
 */
export function createPartitionPlan(
  partitions: number,
  known: ReadonlyMap<string, number>,
): (synchronizerId: string) => number | null {
  const plan = new Map(known);
  return (synchronizerId) => {
    if (partitions === 1) return 0;
    const given = plan.get(synchronizerId);
    if (given !== undefined) return given;
    const taken = new Set(plan.values());
    const free = Array.from({ length: partitions }, (_, partition) => partition).find((each) => !taken.has(each));
    if (free === undefined) return null;
    plan.set(synchronizerId, free);
    return free;
  };
}
