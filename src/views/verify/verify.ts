import type { Database } from 'better-sqlite3';
import { isDamaged } from '../../machine-errors.ts';
import { openForReading } from '../store/database.ts';
import { type ContractsSeen, HeldIds, NumbersSeen } from './contracts-seen.ts';
import { verifyDeadLetters } from './dead-letters.ts';
import { dataVersion, verifyDigests, verifyOpenItems } from './digests.ts';
import { verifyDirectory } from './directory.ts';
import { verifyFile } from './file.ts';
import { verifyCounterfeits, verifyHoldings } from './indexes.ts';
import { ItemsFound } from './items-found.ts';
import { verifyOwners } from './owners.ts';
import { SupplyFold, verifyOpenSupplies, verifySnapshotSupplies } from './supply.ts';
import {
  type Difference,
  differsIn,
  getOrMake,
  inOneMoment,
  rowsOf,
  type SealedMigration,
  timeText,
  type VerifyContext,
  type VerifyStep,
} from './types.ts';

/** Rows of one read transaction: enough to be quick, few enough that the write-ahead log can still be emptied. */
const ROWS_PER_STEP = 20_000;

/** What was looked at. */
export interface Verified {
  readonly snapshots: number;
  readonly owners: number;
  /** The migrations that begin with a seed, and its time: what was before it is not in the views. */
  readonly seeds: readonly { readonly migrationId: bigint; readonly time: string }[];
}

/**
 * Recomputes the views from the contracts alone and compares their tables with each other. A writer may run meanwhile: each
 * step reads one moment, and what is compared across steps was sealed before the first. Memory grows with snapshots, by a bit
 * for each contract, and by some 15 bytes for each that is active.
 *
 * The digests prove what the contracts are (docs/digest.md); what else is stored has to have its form, and to agree with what
 * repeats it. Only a replay can show that the writer got it from the feed.
 */
export function* verifyViews(
  dataDir: string,
  report: (difference: Difference) => void,
  { rowsPerStep = ROWS_PER_STEP }: { rowsPerStep?: number } = {},
): Generator<VerifyStep, Verified> {
  const db = openForReading(dataDir).defaultSafeIntegers();
  try {
    // Before anything else is read.
    const version = dataVersion(db);
    const sealed = readableOr<VerifyContext['sealed']>(new Map(), 'snapshot', () => sealedNow(db));
    const nextNo = readableOr(1n, 'holding', () => inOneMoment(db, () => nextNoNow(db)));
    const context: VerifyContext = { db, report, rowsPerStep, sealed };
    const supply = new SupplyFold();
    using items = new ItemsFound(context);
    const seen: ContractsSeen = { numbers: new NumbersSeen(nextNo), heldIds: new HeldIds(db), items };
    const phases: readonly (readonly [table: string, steps: Generator<VerifyStep>])[] = [
      ['views.db', verifyFile(context)],
      ['setting', verifyDirectory(context)],
      ['dead_letter', verifyDeadLetters(context)],
      ['owner_total', verifyOwners(context, { supply, seen })],
      ['snapshot', verifySnapshotSupplies(context, supply)],
      ['snapshot', verifyDigests(context, items)],
      ['open_items', verifyOpenItems(context, items, version)],
      ['migration', verifyOpenSupplies(context)],
      ['holding', verifyHoldings(context, seen.numbers)],
      ['counterfeit', verifyCounterfeits(context, seen.heldIds)],
    ];
    for (const [table, steps] of phases) {
      try {
        yield* steps;
      } catch (error) {
        // A damaged page ends its phase, and is a difference like any other.
        reportDamage(table, error);
      }
    }
    const snapshots = [...sealed.values()].reduce((sum, { times }) => sum + times.size, 0);
    const owners = readableOr(0, 'owner', () => rowsOf(db, 'owner'));
    return { snapshots, owners, seeds: readableOr([], 'migration', () => seedsOf(db)) };
  } finally {
    db.close();
  }

  /** A value read from one table; `otherwise` where a page of it is damaged. */
  function readableOr<T>(otherwise: T, table: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      reportDamage(table, error);
      return otherwise;
    }
  }

  function reportDamage(table: string, error: unknown): void {
    if (!isDamaged(error)) throw error;
    differsIn({ report }, table)('a file that can be read', (error as Error).message);
  }
}

function seedsOf(db: Database): Verified['seeds'] {
  const rows = db.prepare<[], { migrationId: bigint; seededAt: bigint }>(
    `SELECT migration_id AS migrationId, seeded_at AS seededAt FROM migration WHERE seeded_at >= 0 ORDER BY migration_id`,
  );
  return rows.all().map(({ migrationId, seededAt }) => ({ migrationId, time: timeText(seededAt) }));
}

function sealedNow(db: Database): VerifyContext['sealed'] {
  const sealed = new Map<bigint, SealedMigration & { times: Map<bigint, bigint>; grid: bigint[] }>();
  const rows = db.prepare<[], { migrationId: bigint; seq: bigint; recordTime: bigint; forced: bigint }>(
    'SELECT migration_id AS migrationId, seq, record_time AS recordTime, forced FROM snapshot ORDER BY migration_id, seq',
  );
  for (const { migrationId, seq, recordTime, forced } of rows.iterate()) {
    const make = () => ({ migrationId: Number(migrationId), times: new Map<bigint, bigint>(), grid: [] });
    const migration = getOrMake(sealed, migrationId, make);
    migration.times.set(seq, recordTime);
    if (forced !== 1n) migration.grid.push(seq);
  }
  return sealed;
}

function nextNoNow(db: Database): bigint {
  const nextNo = db.prepare<[], bigint>('SELECT next_no FROM setting').pluck().get() ?? 1n;
  const most = db.prepare<[], bigint | null>('SELECT max(no) FROM holding').pluck().get() ?? 0n;
  // A damaged next_no must not determine how much memory is allocated.
  return nextNo <= most || nextNo > most + 2n ** 32n ? most + 1n : nextNo;
}
