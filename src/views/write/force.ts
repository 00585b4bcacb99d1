import type { Database } from 'better-sqlite3';
import type { Micros } from '../../ledger/time.ts';
import type { Batch } from './batch.ts';
import { lastUpdateOf } from './source-start.ts';

/** The result of a request for a snapshot now. */
export type ForceOutcome =
  /** `sealed`: whether it is new; otherwise there was one at the last applied time or later. */
  | { readonly kind: 'snapshot'; readonly sealed: boolean; readonly migrationId: number; readonly recordTime: Micros }
  /** A new one is needed, but `maySeal` was false. */
  | { readonly kind: 'too_soon' }
  /** No migration has an update other than imports; or its last one is on the grid, and it has no snapshot yet. */
  | { readonly kind: 'nothing_applied' };

/**
 * Seals a snapshot at the largest record time applied in the newest migration that has an update other than an import
 * (docs/rules.md, rule 12). The caller has nothing pending, and commits.
 */
export function sealNow(
  db: Database,
  batch: Batch,
  { periodUs, maySeal }: { periodUs: number; maySeal: boolean },
): ForceOutcome {
  const last = lastUpdateOf(batch.state);
  if (last === null) return { kind: 'nothing_applied' };
  const { migrationId, recordTime } = last;
  const newest = db
    .prepare<[number], number | null>('SELECT max(record_time) FROM snapshot WHERE migration_id = ?')
    .pluck()
    .get(migrationId);
  const isOnGrid = recordTime % periodUs === 0;
  if (isOnGrid && typeof newest !== 'number') return { kind: 'nothing_applied' };
  if (typeof newest === 'number' && (isOnGrid || newest >= recordTime)) {
    return { kind: 'snapshot', sealed: false, migrationId, recordTime: newest };
  }
  if (!maySeal) return { kind: 'too_soon' };
  batch.seals.sealForced(batch.state.migrations.get(migrationId)!, recordTime);
  return { kind: 'snapshot', sealed: true, migrationId, recordTime };
}
