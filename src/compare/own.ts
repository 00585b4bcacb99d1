import type { HoldingsStore } from '../holdings/facts.ts';
import type { Snapshot } from '../holdings/snapshot.ts';
import type { Digests, Replica } from './replica.ts';

/** One's own directory. */
export function ownReplica(store: HoldingsStore): Replica {
  return {
    migration: (migrationId) => store.facts({ kind: 'migration', migrationId: BigInt(migrationId) }),
    async digests({ migrationId, periodUs }, choice) {
      const found = await store.facts({ kind: 'listed snapshots', migrationId, every: periodUs, ...choice });
      return found.map(digestsOf);
    },
  };
}

function digestsOf({ recordTime, changesDigest, digest }: Snapshot): Digests {
  if (changesDigest !== null && digest !== null) return { recordTime, changesDigest, digest };
  throw new Error(`the snapshot at ${recordTime} is on the grid and has no digest; run \`holdfast verify\``);
}
