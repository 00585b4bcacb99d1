import type { Micros } from '../ledger/time.ts';

/** What is compared of a directory, one's own or another's. */
export interface Replica {
  /** Null where it has no snapshot on the grid of that migration. */
  chain(migrationId: number): Promise<Chain | null>;
  /** The digests of the snapshots on the grid within a range of times that has all of them, in order. */
  digests(chain: Chain, range: Range): AsyncIterable<Digests>;
}

/** The digests of one migration. */
export interface Chain {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null while no coin is known. */
  readonly dso: string | null;
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
