import type { Database } from 'better-sqlite3';
import { isDamaged } from '../../machine-errors.ts';
import { openForReading } from '../store/database.ts';
import { type Difference, differsIn, timeText, type VerifyContext, type VerifyStep } from './verify-context.ts';
import { verifyEpochs } from './verify-epochs.ts';
import { verifyUpdates } from './verify-movements.ts';
import { verifyOwners } from './verify-owners.ts';
import { ItemsFound, readSealed, verifySnapshots } from './verify-snapshots.ts';

/** What was looked at. */
export interface Verified {
  snapshots: number;
  owners: number;
  /** The migrations that begin with a snapshot import, and its time: what was before it is not in the views. */
  seeds: readonly { readonly migrationId: bigint; readonly time: string }[];
}

/**
 * Runs SQLite's integrity check, then recomputes the totals, counts, supplies and digests from the contracts, all as of one
 * moment: a writer may run meanwhile. Memory grows with snapshots, not with contracts. The digests prove what the contracts are
 * (docs/digest.md); only a replay shows that the writer got them from the feed.
 */
export function* verifyViews(
  dataDir: string,
  report: (difference: Difference) => void,
): Generator<VerifyStep, Verified> {
  const db = openForReading(dataDir).defaultSafeIntegers();
  try {
    db.exec('BEGIN');
    const context: VerifyContext = { db, report, sealed: new Map(), places: new Map(), supply: new Map() };
    using items = new ItemsFound();
    const verified: Verified = { snapshots: 0, owners: 0, seeds: [] };
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).pluck();
    const phases: readonly (readonly [table: string, steps: Generator<VerifyStep>])[] = [
      ...tables.all().map((table) => [table, verifyIntegrity(context, table)] as const),
      ['snapshot', readSealed(context)],
      ['epoch', verifyEpochs(context)],
      ['total', verifyOwners(context, items)],
      ['movement', verifyUpdates(context)],
      ['holding', verifyHoldings(context)],
      ['snapshot', verifySnapshots(context, items)],
      ['migration', countVerified(context, verified)],
    ];
    for (const [table, steps] of phases) {
      try {
        yield* steps;
      } catch (error) {
        if (!isDamaged(error)) throw error;
        // A damaged page ends its phase, and is a difference like any other.
        differsIn(context, table)('an intact table and indexes', (error as Error).message);
      }
    }
    return verified;
  } finally {
    db.close();
  }
}

function* countVerified({ db, sealed }: VerifyContext, verified: Verified): Generator<VerifyStep> {
  for (const { length } of sealed.values()) verified.snapshots += length;
  verified.owners = rowsOf(db, 'account');
  const rows = db.prepare<[], { migrationId: bigint; importedAt: bigint }>(
    `SELECT migration_id AS migrationId, seeded_at AS importedAt FROM migration WHERE seeded_at >= 0 ORDER BY migration_id`,
  );
  verified.seeds = rows.all().map(({ migrationId, importedAt }) => ({ migrationId, time: timeText(importedAt) }));
  yield { phase: 'counts', done: 1, total: 1 };
}

function rowsOf(db: Database, table: string): number {
  return Number(db.prepare<[], bigint>(`SELECT count(*) FROM ${table}`).pluck().get());
}

/** SQLite's own integrity check of one table: pages, the order of keys, types, and every index against its table. */
function* verifyIntegrity(context: VerifyContext, table: string): Generator<VerifyStep> {
  const rows = context.db.pragma(`integrity_check("${table}")`) as { integrity_check: string }[];
  for (const { integrity_check: found } of rows)
    if (found !== 'ok') differsIn(context, table)('an intact table and indexes', found);
  yield { phase: `file, ${table}`, done: 1, total: 1 };
}

/** Every contract of `holding` has one row in `held` or `spent`. That each of those has its holding was verified by owner. */
function* verifyHoldings(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const held = rowsOf(db, 'held') - rowsOf(db, 'gone');
  const [holdings, entries] = [rowsOf(db, 'holding'), held + rowsOf(db, 'spent')];
  if (holdings !== entries) {
    const differs = differsIn(context, 'holding');
    differs(`${entries} rows, as held, without those of gone, and spent have together`, holdings);
    const numbers =
      'SELECT no FROM holding EXCEPT SELECT * FROM (SELECT no FROM held EXCEPT SELECT no FROM gone) EXCEPT SELECT no FROM spent';
    for (const no of db.prepare<[], bigint>(numbers).pluck().iterate())
      differs(`contract ${no}: a row in held or spent`, 'none');
  }
  yield { phase: 'holdings', done: 1, total: 1 };
}
