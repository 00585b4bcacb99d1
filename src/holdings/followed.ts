import type { HoldingsStore, OwnersFacts } from './facts.ts';
import { HoldingsFault } from './fault.ts';

const NAMED_MAX = 3;

/**
 * Rejects with a HoldingsFault where a party is not followed, because its sums would be partial (docs/rules.md, rule 14). Resolves
 * to whether only some are.
 */
export async function requireFollowed(store: HoldingsStore, parties: readonly string[]): Promise<boolean> {
  const { isLimited, others } = await store.facts({ kind: 'followed', parties });
  if (others.length === 0) return isLimited;
  const more = others.length > NAMED_MAX ? ` and ${others.length - NAMED_MAX} more` : '';
  throw new HoldingsFault(
    'not_followed',
    `${others.slice(0, NAMED_MAX).join(', ')}${more}: not followed here: this service reads a participant, and counts the coins of ` +
      'the parties of --ledger-api-parties only',
  );
}

/** Behind a participant open rounds are hardly ever seen. Throws a HoldingsFault that says so where one is needed. */
export function requireRound({ snapshot, round }: OwnersFacts, { isLimited }: { isLimited: boolean }): void {
  if (snapshot === null || round !== null || !isLimited) return;
  throw new HoldingsFault(
    'no_open_round',
    'No open mining rounds found: the participant that this service reads shows none; give as_of_round.',
  );
}
