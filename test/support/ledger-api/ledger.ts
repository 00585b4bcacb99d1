import { oddLedger } from '../ledger/options.ts';
import { randomLedger } from '../ledger/random-ledger.ts';
import { linesOf } from '../views/replayed.ts';
import { contentOf, createdOf, ownerOf, type WireElement } from './elements.ts';

export const DSO = 'DSO::1220dd';

/** A random ledger as a participant sends it: with imports at its begin, repairs, reassignments and checkpoints. `token`: of its transactions. */
export function participantLedger(
  seed: number,
  updates: number,
  { token }: { readonly token: number } = { token: 0 },
): string[] {
  const shape = { updates, owners: 12, activeTarget: 80, carriedOver: 5, importCreatesMax: 3, roundEvery: 20 };
  const shares = { repair: 0.04, checkpoint: 0.03, token };
  return linesOf(randomLedger(oddLedger(seed, { ...shape, shares, migrationId: 0, dso: DSO })), 'acs-delta').filter(
    (line) =>
      ['Transaction', 'Reassignment', 'OffsetCheckpoint'].includes(contentOf(JSON.parse(line) as WireElement).kind),
  );
}

/** Every owner of a coin in the ledger, those that own most first. */
export function ownersIn(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    for (const event of contentOf(JSON.parse(line) as WireElement).value.events ?? []) {
      const created = createdOf(event);
      const owner = created && ownerOf(created);
      if (owner?.includes('::') === true) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([owner]) => owner);
}
