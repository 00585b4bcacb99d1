import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

/** What a reader may see of each sealed interval, as a hash: its snapshot, totals, creates and archives. */
const SEEN = `
WITH row AS (
  SELECT migration_id, seq, hashtextextended(o::text, 0) AS hash FROM owner_total o
  UNION ALL SELECT migration_id, seq, hashtextextended(s::text, 1) FROM snapshot s
  UNION ALL SELECT migration_id, archived_seq, hashtextextended(contract_id, 2) FROM spent
  UNION ALL SELECT migration_id, archived_seq, hashtextextended(contract_id, 3) FROM coin WHERE archived_seq IS NOT NULL
  UNION ALL SELECT migration_id, created_seq, hashtextextended((to_jsonb(c) - 'archived_seq')::text, 4) FROM coin c
)
SELECT migration_id || '/' || seq AS place, sum(hash)::text AS hash
FROM row JOIN sealed USING (migration_id) WHERE seq <= last_seq GROUP BY migration_id, seq`;

const LOOK_MS = 1_000;

export interface Watched {
  readonly looks: number;
  readonly sealed: number;
  /** Intervals that were not what they had been. */
  readonly changed: readonly string[];
}

export interface Watcher {
  sealed(): number;
  finish(): Promise<Watched>;
}

/** Looks every second at all that is sealed; not while the database is away. */
export function watch(connect: () => Promise<Client & AsyncDisposable>): Watcher {
  const seen = new Map<string, string>();
  const changed = new Set<string>();
  let looks = 0;
  const stop = new AbortController();

  async function look(): Promise<void> {
    await using client = await connect();
    client.on('error', () => {});
    const { rows } = await client.query<{ place: string; hash: string }>(SEEN);
    const now = new Map(rows.map(({ place, hash }) => [place, hash]));
    for (const [place, hash] of seen) if (now.get(place) !== hash) changed.add(place);
    for (const [place, hash] of now) seen.set(place, hash);
    looks += 1;
  }

  const watching = (async () => {
    while (!stop.signal.aborted) {
      await look().catch(() => {});
      await sleep(LOOK_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
    await look();
  })();
  return {
    sealed: () => seen.size,
    async finish() {
      stop.abort();
      await watching;
      return { looks, sealed: seen.size, changed: [...changed] };
    },
  };
}
