import type { Database } from 'better-sqlite3';
import { type ListedOwnersLookup, NO_COIN, type PartyTotals } from '../../holdings/facts.ts';
import type { SealedGrid } from './grid.ts';
import type { VersionReader } from './versions.ts';

interface OwnerRow {
  readonly owner: number;
  readonly party: string;
}

/** Returns the function that reads a page of the owners who had coin up to a snapshot, whose number is `seq`. */
export function createOwnerList(
  db: Database,
  versions: VersionReader,
): (lookup: ListedOwnersLookup & { readonly seq: number; readonly grid: SealedGrid }) => readonly PartyTotals[] {
  // Text is compared by its UTF-8 bytes.
  const from = db.prepare<[number, string], OwnerRow>(
    'SELECT id AS owner, party FROM owner WHERE migration_id = ? + 0 AND party >= ? ORDER BY party',
  );

  /** Whether a snapshot of the grid, up to number `seq`, was sealed while the owner had coin. */
  function hadCoin(owner: number, seq: number, grid: SealedGrid): boolean {
    /** The number of the snapshot of the grid that sealed coin, unless the owner's next version comes before it. */
    let sealing = Infinity;
    for (const version of versions.between(owner, { from: 1, to: seq }, 'asc')) {
      if (version.seq > sealing) return true;
      sealing = version.totals.contracts > 0 ? (grid.find(version.seq)?.seq ?? Infinity) : Infinity;
    }
    return sealing <= seq;
  }

  return ({ migrationId, prefix, after, rows, seq, grid }) => {
    const listed: PartyTotals[] = [];
    for (const { owner, party } of from.iterate(migrationId, after ?? prefix)) {
      if (!party.startsWith(prefix)) break;
      if (party === after || !hadCoin(owner, seq, grid)) continue;
      listed.push({ party, ...(versions.at(owner, seq)?.totals ?? NO_COIN) });
      if (listed.length === rows) break;
    }
    return listed;
  };
}
