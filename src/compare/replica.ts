import type { HoldingsStore, Order, Snapshot } from '../holdings/facts.ts';
import type { Micros } from '../ledger/time.ts';

/** The most that a page over HTTP may have: some 400 kB. */
export const DIGESTS_AT_ONCE = 1_000;

/** What is compared of a directory, one's own or another's. */
export interface Replica {
  /** Null where it has no snapshot of that migration. */
  migration(migrationId: number): Promise<Migration | null>;
  /** Those of the first snapshots on the grid in that order, at most so many, within a range of times that has all of them. */
  digests(of: Migration, choice: Range & { order: Order; rows: number }): Promise<readonly Digests[]>;
}

export interface Migration {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null while no coin is known. */
  readonly dso: string | null;
}

/** The digests of one migration. */
export interface Chain extends Migration {
  /** The times of its first and its newest snapshot on the grid. */
  readonly first: Micros;
  readonly newest: Micros;
}

/** Both inclusive. */
export interface Range {
  readonly from: Micros;
  readonly to: Micros;
}

export interface Digests {
  readonly recordTime: Micros;
  readonly changesDigest: string;
  readonly digest: string;
}

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
