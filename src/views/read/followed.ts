import type { Database } from 'better-sqlite3';
import type { FollowedFacts } from '../../holdings/facts.ts';

/** Says of parties whether their coins count. Once that is limited to some owners it never changes. */
export function createFollowedReader(db: Database): (parties: readonly string[]) => FollowedFacts {
  const stored = db.prepare<[], string | null>('SELECT followed FROM setting').pluck();
  let followed: ReadonlySet<string> | null = null;
  return (parties) => {
    if (followed === null) {
      const text = stored.get() ?? null;
      if (text === null) return { isLimited: false, others: [] };
      followed = new Set(JSON.parse(text) as string[]);
    }
    return { isLimited: true, others: parties.filter((party) => !followed!.has(party)) };
  };
}
