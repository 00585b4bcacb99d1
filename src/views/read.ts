import type { Database } from 'better-sqlite3';
import { openForReading } from './database.ts';
import { createFeeReader, mayHaveExpired } from './read-fees.ts';
import { createPageReader } from './read-page.ts';
import { createSnapshotReader } from './read-snapshots.ts';
import type { Snapshot, UnlockedLocked, ViewsDatabase, ViewsReader } from './read-types.ts';
import { decodeVersion, type Sums } from './totals.ts';

const NO_COIN: UnlockedLocked = { unlocked: 0n, locked: 0n };

/** Opens the views of a data directory for reading; throws Refusal where there are none. */
export function openViewsReader(dataDir: string): ViewsDatabase {
  const db = openForReading(dataDir);
  const reader = createViewsReader(db);
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  return {
    read(body) {
      begin.run();
      try {
        return body(reader);
      } finally {
        end.run();
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** The reader on one connection; its caller holds the transaction. */
export function createViewsReader(db: Database): ViewsReader {
  const ownerNo = db
    .prepare<[number, string], number>('SELECT id FROM owner WHERE migration_id = ? AND party = ?')
    .pluck();
  const version = db
    .prepare<[number, number], Buffer>(
      'SELECT v FROM owner_total WHERE owner = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
    )
    .pluck();
  const lowestRound = db
    .prepare<[], bigint | null>(
      'SELECT min(number) FROM round WHERE migration_id = (SELECT max(migration_id) FROM migration)',
    )
    .pluck()
    .safeIntegers();
  const lastMigration = db.prepare<[], number | null>('SELECT max(migration_id) FROM migration').pluck();
  const fees = createFeeReader(db);

  function sums(snapshot: Snapshot, party: string): { owner: number; unlocked: Sums; locked: Sums } | null {
    const owner = ownerNo.get(snapshot.migrationId, party);
    const v = owner === undefined ? undefined : version.get(owner, snapshot.seq);
    return owner === undefined || v === undefined ? null : { owner, ...decodeVersion(v) };
  }

  return {
    ...createSnapshotReader(db),
    lastMigration: () => lastMigration.get() ?? null,
    lowestOpenRound: () => lowestRound.get() ?? null,
    totals(snapshot, party) {
      const known = sums(snapshot, party);
      return known === null ? NO_COIN : { unlocked: known.unlocked.amount, locked: known.locked.amount };
    },
    holds(snapshot, party) {
      const known = sums(snapshot, party);
      return known !== null && known.unlocked.count + known.locked.count > 0;
    },
    fees(snapshot, party, round) {
      const known = sums(snapshot, party);
      return known === null ? NO_COIN : fees(snapshot, known, round);
    },
    boundedFees(snapshot, party, round) {
      const known = sums(snapshot, party);
      if (known === null) return NO_COIN;
      return mayHaveExpired(known, round) ? null : fees(snapshot, known, round);
    },
    page: createPageReader(db, (migrationId, party) => ownerNo.get(migrationId, party)),
  };
}
