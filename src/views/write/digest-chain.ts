import type { Database } from 'better-sqlite3';
import { firstDigest, nextDigest } from '../../ledger/digest.ts';

/** The digest of each migration's newest snapshot on the grid. */
export class DigestChain {
  readonly #last = new Map<number, Buffer>();
  readonly #stored;

  constructor(db: Database) {
    this.#stored = db
      .prepare<[number], Buffer>(
        `SELECT digest FROM snapshot WHERE migration_id = ? AND digest IS NOT NULL ORDER BY record_time DESC LIMIT 1`,
      )
      .pluck();
  }

  /** The digest of the next one, by its changes digest. */
  next(changes: Buffer, { migrationId, periodUs }: { migrationId: number; periodUs: number }): Buffer {
    const stored = () => this.#stored.get(migrationId) ?? firstDigest(migrationId, periodUs);
    const digest = nextDigest(this.#last.get(migrationId) ?? stored(), changes);
    this.#last.set(migrationId, digest);
    return digest;
  }
}
