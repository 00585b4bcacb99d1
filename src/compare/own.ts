import type { HoldingsStore } from '../holdings/facts.ts';
import type { Snapshot } from '../holdings/snapshot.ts';
import type { Micros } from '../ledger/time.ts';
import { type Chain, DIGESTS_AT_ONCE, type Digests, type Replica } from './replica.ts';

/** One's own directory. */
export function ownReplica(store: HoldingsStore): Replica {
  const listed = (
    { migrationId, periodUs }: Pick<Chain, 'migrationId' | 'periodUs'>,
    { from, to, order, rows }: { from: Micros; to: Micros; order: 'asc' | 'desc'; rows: number },
  ): Promise<readonly Snapshot[]> =>
    store.facts({ kind: 'listed snapshots', migrationId, every: periodUs, from, to, order, rows });
  return {
    async chain(migrationId) {
      const known = await store.facts({ kind: 'migration', migrationId: BigInt(migrationId) });
      if (known === null) return null;
      const { periodUs, dso, oldest, newest } = known;
      const range = { from: oldest.recordTime, to: newest.recordTime, rows: 1 };
      const [first] = await listed(known, { ...range, order: 'asc' });
      const [last] = await listed(known, { ...range, order: 'desc' });
      if (first === undefined || last === undefined) return null;
      return { migrationId, periodUs, dso, first: first.recordTime, newest: last.recordTime };
    },
    async digests(chain, range) {
      return (await listed(chain, { ...range, order: 'asc', rows: DIGESTS_AT_ONCE })).map(digestsOf);
    },
  };
}

function digestsOf({ recordTime, changesDigest, digest }: Snapshot): Digests {
  if (changesDigest !== null && digest !== null) return { recordTime, changesDigest, digest };
  throw new Error(`the snapshot at ${recordTime} is on the grid and has no digest; run \`holdfast verify\``);
}
