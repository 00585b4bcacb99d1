import type { Database } from 'better-sqlite3';
import { openForReading } from '../store/database.ts';
import { decodeVersion } from '../store/totals.ts';
import { createFeeReader, type OwnerSums } from './fees.ts';
import { createPageReader } from './page.ts';
import { createSnapshotReader } from './snapshots.ts';
import type { Snapshot, UnlockedLocked, ViewsDatabase, ViewsReader } from './types.ts';

const NO_COIN: UnlockedLocked = { unlocked: 0n, locked: 0n };

/** Opens the views of a data directory for reading; throws Refusal where there are none. */
export function openViewsReader(dataDir: string): ViewsDatabase {
  const db = openForReading(dataDir);
  const reader = createViewsReader(db);
  const { begin, end } = prepareReading(db);
  return {
    read(body) {
      begin();
      try {
        return body(reader);
      } finally {
        end();
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** A transaction that only reads. What was read was read: where its end fails, at a damaged page, it is rolled back. */
function prepareReading(db: Database): { begin: () => void; end: () => void } {
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];
  return {
    begin: () => void begin.run(),
    end() {
      try {
        commit.run();
      } catch {
        if (db.inTransaction) db.exec('ROLLBACK');
      }
    },
  };
}

/**
 * The same for a server: the reads of one turn of the event loop share a transaction, which ends with the turn. That saves a lock and
 * an unlock for each request under load; what another connection commits is seen from the next turn on.
 */
export function openSharedViewsReader(dataDir: string): ViewsDatabase {
  const db = openForReading(dataDir);
  const reader = createViewsReader(db);
  const { begin, end } = prepareReading(db);
  // Asked for by nearly every request, and the same for all of a turn.
  let lowestRound: bigint | null | undefined;
  const turnReader: ViewsReader = {
    ...reader,
    lowestOpenRound() {
      if (lowestRound === undefined) lowestRound = reader.lowestOpenRound();
      return lowestRound;
    },
  };
  let inTurn = false;
  const endTurn = (): void => {
    inTurn = false;
    lowestRound = undefined;
    if (db.open) end();
  };
  return {
    read(body) {
      if (!inTurn) {
        begin();
        inTurn = true;
        setImmediate(endTurn);
      }
      return body(turnReader);
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

/** The reader on one connection; its caller holds the transaction. */
export function createViewsReader(db: Database): ViewsReader {
  const ownerNo = db
    .prepare<[number, string], number>('SELECT id FROM owner WHERE migration_id = ? AND party = ?')
    .pluck();
  const version = db.prepare<[number, string, number], { owner: number; v: Buffer }>(
    `SELECT owner, v FROM owner_total
     WHERE owner = (SELECT id FROM owner WHERE migration_id = ? AND party = ?) AND seq <= ? ORDER BY seq DESC LIMIT 1`,
  );
  const lowestRound = db
    .prepare<[], bigint | null>(
      'SELECT min(number) FROM round WHERE migration_id = (SELECT max(migration_id) FROM migration)',
    )
    .pluck()
    .safeIntegers();
  const lastMigration = db.prepare<[], number | null>('SELECT max(migration_id) FROM migration').pluck();
  const reader = createFeeReader(db);

  /** An answer asks for an owner's totals and then for the fees; a sealed snapshot never changes, so the last sums still hold. */
  let last: { readonly snapshot: Snapshot; readonly party: string; readonly sums: OwnerSums | null } | null = null;

  function sums(snapshot: Snapshot, party: string): OwnerSums | null {
    if (last !== null && last.snapshot === snapshot && last.party === party) return last.sums;
    const row = version.get(snapshot.migrationId, party, snapshot.seq);
    const known = row === undefined ? null : { owner: row.owner, ...decodeVersion(row.v) };
    last = { snapshot, party, sums: known };
    return known;
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
      return known === null ? NO_COIN : reader.fees(snapshot, known, round);
    },
    boundedFees(snapshot, party, round, budget) {
      const known = sums(snapshot, party);
      return known === null ? NO_COIN : reader.boundedFees(snapshot, known, round, budget);
    },
    page: createPageReader(db, (migrationId, party) => ownerNo.get(migrationId, party)),
  };
}
