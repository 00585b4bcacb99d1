import { FeedRefused, type StoredSource } from '../source.ts';
import type { LedgerApiSettings } from './settings.ts';

/** Offsets mean something on one participant only, and with one filter. */
export function identityOf(participantId: string, parties: LedgerApiSettings['parties']): string {
  return `coins and open rounds of ${parties === 'all' ? 'all local parties' : 'named parties'}${OF}${participantId}`;
}

const OF = ' on participant ';
const NAMED_MAX = 3;

/**
 * Whether the views go on with this participant and these parties; false where they hold nothing of a participant. Throws
 * FeedRefused where they hold what is of another one, or of other parties.
 */
export function requireSame(
  { identity: stored, followed }: Pick<StoredSource, 'identity' | 'followed'>,
  { participantId, parties }: { participantId: string; parties: LedgerApiSettings['parties'] },
): boolean {
  // What is of another source altogether is refused by the views.
  if (stored === null || !stored.includes(OF) || followed == null) return false;
  const known = stored.slice(stored.indexOf(OF) + OF.length);
  if (known !== participantId)
    throw new FeedRefused(
      `these views were built from participant ${known}, and this is ${participantId}: its offsets are others; ` +
        'name that participant, or give another --data directory',
    );
  const given = parties === 'all' ? followed : parties;
  const more = without(given, followed);
  if (more.length > 0)
    throw new FeedRefused(
      `--ledger-api-parties names ${some(more)}, which these views do not follow: older coins would be missing; ` +
        'leave it out, or begin a new --data directory with it',
    );
  const less = without(followed, given);
  if (less.length > 0)
    throw new FeedRefused(
      `--ledger-api-parties leaves out ${some(less)}, which these views follow: sums would end without a sign; ` +
        'name it too, or begin a new --data directory without it',
    );
  if (stored !== identityOf(participantId, parties))
    throw new FeedRefused(
      `these views are of ${stored}, and --ledger-api-parties says ${parties === 'all' ? 'all' : 'which'}: ` +
        'give it as before, or begin a new --data directory',
    );
  return true;
}

/** Those of some parties that are not among others. */
export function without(parties: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return parties.filter((party) => !known.has(party));
}

/** Some of them by name, for a message. */
export function some(parties: readonly string[]): string {
  const named = parties.slice(0, NAMED_MAX).join(', ');
  return parties.length > NAMED_MAX ? `${named} and ${parties.length - NAMED_MAX} more` : named;
}
