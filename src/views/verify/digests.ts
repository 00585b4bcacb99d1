import type { Database } from 'better-sqlite3';
import { changesHash, firstDigest, ITEM_BYTES, nextDigest } from '../../ledger/digest.ts';
import { addItems, type ItemsFound, noItems } from './items-found.ts';
import {
  differsIn,
  getOrMake,
  inOneMoment,
  isLedgerTime,
  snapshotName,
  type VerifyContext,
  type VerifyStep,
} from './types.ts';

interface DigestRow {
  readonly changes: Buffer | null;
  readonly digest: Buffer | null;
}

/**
 * The digests of every snapshot on the grid that was sealed when the verification began, against the items that the contracts
 * give. Each follows from the stored one before it, so that a wrong one is named, and not all that come after it.
 */
export function* verifyDigests(context: VerifyContext, found: ItemsFound): Generator<VerifyStep> {
  const { db, sealed, rowsPerStep } = context;
  const period = Number(db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n);
  const read = db.prepare<[number, bigint], DigestRow>(
    'SELECT changes_digest AS changes, digest FROM snapshot WHERE migration_id = ? AND record_time = ?',
  );
  const total = [...sealed.values()].reduce((sum, { grid }) => sum + grid.length, 0);
  using sorted = found.sorted();
  let next = sorted.next();
  let done = 0;
  for (const { migrationId, times, grid } of sealed.values()) {
    let before = firstDigest(migrationId, period);
    for (const seq of grid) {
      const time = times.get(seq)!;
      const row = read.get(migrationId, time);
      const hash = changesHash(migrationId, isLedgerTime(time) ? Number(time) : 0);
      for (; next.done !== true && next.value[0] === done; next = sorted.next()) hash.update(next.value[1]);
      done += 1;
      if (done % rowsPerStep === 0) yield { phase: 'digests', done, total };
      // What is wrong with such a row was found with its migration.
      if (row === undefined || !isLedgerTime(time)) continue;
      const changes = hash.digest();
      const compare = (name: string, stored: Buffer | null, expected: Buffer, by: string): void => {
        if (stored?.equals(expected) === true) return;
        const differs = differsIn(context, 'snapshot', snapshotName(context, BigInt(migrationId), seq));
        differs(`${name} ${expected.toString('hex')}, ${by}`, stored?.toString('hex') ?? 'none');
      };
      compare('changes_digest', row.changes, changes, 'by its contracts in held, spent and holding');
      const digest = nextDigest(before, row.changes ?? changes);
      compare('digest', row.digest, digest, 'by changes_digest and the digest before it');
      before = row.digest ?? digest;
    }
  }
  yield { phase: 'digests', done, total };
}

/** How often other connections have written; what is stored then does not contradict what was read before. */
export function dataVersion(db: Database): bigint {
  return db.pragma('data_version', { simple: true }) as bigint;
}

/**
 * The items of the open intervals against those that the contracts give: only where nothing was written since the first of
 * these was read, at `version`. Later a wrong one shows in the digest of its snapshot.
 */
export function* verifyOpenItems(context: VerifyContext, found: ItemsFound, version: bigint): Generator<VerifyStep> {
  const { db } = context;
  inOneMoment(db, () => {
    if (dataVersion(db) !== version) return;
    const sums = new Map(found.open());
    const rows = db.prepare<[], { id: bigint; items: Buffer }>('SELECT migration_id AS id, items FROM open_items');
    const differsOf = (migrationId: number) =>
      differsIn(context, 'open_items', `migration ${migrationId}, the open interval`);
    for (const { id, items } of rows.iterate()) {
      const migrationId = Number(id);
      if (items.length % ITEM_BYTES !== 0)
        differsOf(migrationId)(`items of ${ITEM_BYTES} bytes each`, `${items.length} bytes`);
      addItems(getOrMake(sums, migrationId, noItems), items);
    }
    for (const [migrationId, sum] of sums) {
      if (!sum.equals(noItems()))
        differsOf(migrationId)('the items of the contracts made and archived in it', 'others');
    }
  });
  yield { phase: 'open intervals', done: 1, total: 1 };
}
