import type { Micros } from '../ledger/time.ts';

/** A sealed snapshot, with the supply. Amounts in 1e-10 units. */
export interface Snapshot {
  readonly migrationId: number;
  readonly recordTime: Micros;
  /** Whether it was forced, at a time where the feed would not have sealed one. */
  readonly forced: boolean;
  readonly contracts: number;
  readonly owners: number;
  readonly unlocked: bigint;
  readonly locked: bigint;
  /** 64 hex digits each: docs/digest.md. Null where it was forced. */
  readonly changesDigest: string | null;
  readonly digest: string | null;
}
