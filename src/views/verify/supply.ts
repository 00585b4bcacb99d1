import { formatAmount } from '../../ledger/amount.ts';
import type { Sums } from '../store/totals.ts';
import { differsIn, getOrMake, inOneMoment, snapshotName, type VerifyContext, type VerifyStep } from './types.ts';
import { type Reached, readVersion } from './versions.ts';

interface Supply {
  contracts: number;
  owners: number;
  unlocked: bigint;
  locked: bigint;
}

function nothing(): Supply {
  return { contracts: 0, owners: 0, unlocked: 0n, locked: 0n };
}

function supplyOf({ unlocked, locked }: { readonly unlocked: Sums; readonly locked: Sums }): Supply {
  const contracts = unlocked.count + locked.count;
  return { contracts, owners: contracts > 0 ? 1 : 0, unlocked: unlocked.amount, locked: locked.amount };
}

function addTo(sum: Supply, more: Supply): void {
  sum.contracts += more.contracts;
  sum.owners += more.owners;
  sum.unlocked += more.unlocked;
  sum.locked += more.locked;
}

/** The sum over the owners' contracts: changes by migration and interval. Grows with intervals. */
export class SupplyFold {
  readonly #changes = new Map<bigint, Map<bigint, Supply>>();

  /** Adds an owner's sums at the end of each interval that changed them, in order. */
  add(migrationId: bigint, owner: Iterable<Reached>): void {
    const changes = getOrMake(this.#changes, migrationId, () => new Map<bigint, Supply>());
    let before = nothing();
    for (const reached of owner) {
      const now = supplyOf(reached);
      const change = getOrMake(changes, reached.seq, nothing);
      change.contracts += now.contracts - before.contracts;
      change.owners += now.owners - before.owners;
      change.unlocked += now.unlocked - before.unlocked;
      change.locked += now.locked - before.locked;
      before = now;
    }
  }

  changes(migrationId: bigint): ReadonlyMap<bigint, Supply> {
    return this.#changes.get(migrationId) ?? new Map();
  }
}

interface SupplyRow {
  readonly contracts: bigint;
  readonly owners: bigint;
  readonly unlocked: string;
  readonly locked: string;
}

/** Every snapshot that was sealed when the verification began, against the sum over its owners. */
export function* verifySnapshotSupplies(context: VerifyContext, supply: SupplyFold): Generator<VerifyStep> {
  const { db, sealed } = context;
  const row = db.prepare<[bigint, bigint], SupplyRow>(
    'SELECT contracts, owners, unlocked, locked FROM snapshot WHERE migration_id = ? AND record_time = ?',
  );
  let done = 0;
  for (const [migrationId, { times }] of sealed) {
    const now = nothing();
    const changes = supply.changes(migrationId);
    const seqs = [...new Set([...times.keys(), ...changes.keys()])].sort((a, b) => (a < b ? -1 : 1));
    inOneMoment(db, () => {
      for (const seq of seqs) {
        addTo(now, changes.get(seq) ?? nothing());
        const recordTime = times.get(seq);
        const found = recordTime === undefined ? undefined : row.get(migrationId, recordTime);
        if (found === undefined || supplyText(found) === supplyText(now)) continue;
        const differs = differsIn(context, 'snapshot', snapshotName(context, migrationId, seq));
        differs(supplyText(now), supplyText(found));
      }
    });
    yield { phase: 'snapshots', done: ++done, total: sealed.size };
  }
}

/** Each migration's supply in its open interval, against the newest version of every owner; of one moment. */
export function* verifyOpenSupplies(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  inOneMoment(db, () => {
    const newest = db.prepare<[], { migrationId: bigint; v: Buffer }>(
      `SELECT o.migration_id AS migrationId, t.v AS v
       FROM (SELECT owner, max(seq), v FROM owner_total GROUP BY owner) t JOIN owner o ON o.id = t.owner`,
    );
    const sums = new Map<bigint, Supply>();
    for (const { migrationId, v } of newest.iterate()) {
      const version = readVersion(v);
      // One that cannot be read was reported with its owner.
      if (version !== null) addTo(getOrMake(sums, migrationId, nothing), supplyOf(version));
    }
    const rows = db.prepare<[], SupplyRow & { migrationId: bigint }>(
      'SELECT migration_id AS migrationId, contracts, owners, unlocked, locked FROM migration',
    );
    for (const found of rows.iterate()) {
      const expected = supplyText(sums.get(found.migrationId) ?? nothing());
      if (supplyText(found) === expected) continue;
      differsIn(context, 'migration', `migration ${found.migrationId}, the open interval`)(expected, supplyText(found));
    }
  });
  yield { phase: 'open intervals', done: 1, total: 1 };
}

function supplyText({ contracts, owners, unlocked, locked }: Supply | SupplyRow): string {
  return `${contracts} contracts of ${owners} owners, unlocked ${coinText(unlocked)}, locked ${coinText(locked)}`;
}

/** Stored as decimal digits: any other text is shown as it is. */
function coinText(units: bigint | string): string {
  if (typeof units === 'bigint') return formatAmount(units);
  return /^(0|-?[1-9]\d*)$/.test(units) ? formatAmount(BigInt(units)) : JSON.stringify(units);
}
