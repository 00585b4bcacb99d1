import type { OwnerFacts } from '../../holdings/facts.ts';
import type { RowBudget } from './budget.ts';
import type { StoredSnapshot } from './snapshots.ts';

/** About a kilobyte each. */
const OWNERS_MAX = 5_000;

/** Reads an owner's facts at a snapshot. */
export type ReadOwner = (
  snapshot: StoredSnapshot,
  party: string,
  round: bigint | null,
  budget: RowBudget,
) => OwnerFacts;

/**
 * Caches the owners read last, because clients that poll request the same ones again. A sealed snapshot never changes, nor do
 * its coins that have expired as of a round, so only the oldest entries are dropped.
 */
export function rememberOwners(read: ReadOwner): ReadOwner {
  const known = new Map<string, OwnerFacts>();
  return (snapshot, party, round, budget) => {
    const key = `${snapshot.migrationId} ${snapshot.seq} ${round} ${party}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const facts = read(snapshot, party, round, budget);
    if (known.size >= OWNERS_MAX) known.delete(known.keys().next().value!);
    known.set(key, facts);
    return facts;
  };
}
