import type { Database } from 'better-sqlite3';
import { changesHash, firstDigest, ITEM_BYTES, nextDigest } from '../../ledger/digest.ts';
import { LEDGER_TIME_MAX } from '../../ledger/time.ts';
import { addItems, type ItemsFound, noItems } from './items-found.ts';
import { differsIn, getOrMake, inOneMoment, snapshotName, type VerifyContext, type VerifyStep } from './types.ts';

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
  using items = new ItemReader(found.sorted());
  let done = 0;
  for (const { migrationId, times, grid } of sealed.values()) {
    let before = firstDigest(migrationId, period);
    for (const seq of grid) {
      const time = times.get(seq)!;
      const row = read.get(migrationId, time);
      const changes = changesAt(migrationId, time, items.take(done));
      done += 1;
      if (done % rowsPerStep === 0) yield { phase: 'digests', done, total };
      // What is wrong with such a row was found with its migration.
      if (row === undefined || changes === null) continue;
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

/** Null where the time is none. */
function changesAt(migrationId: number, time: bigint, items: Iterable<Buffer>): Buffer | null {
  const isTime = time >= 0n && time < BigInt(LEDGER_TIME_MAX);
  const hash = changesHash(migrationId, isTime ? Number(time) : 0);
  for (const item of items) hash.update(item);
  return isTime ? hash.digest() : null;
}

/** Takes sorted items place by place. */
class ItemReader implements Disposable {
  readonly #sorted: Generator<[place: number, item: Buffer], undefined>;
  #next: IteratorResult<[number, Buffer], undefined>;

  constructor(sorted: Generator<[place: number, item: Buffer], undefined>) {
    this.#sorted = sorted;
    this.#next = sorted.next();
  }

  /** Those of a place, which is after the last one that was taken. */
  *take(place: number): Generator<Buffer> {
    for (; this.#next.done !== true && this.#next.value[0] === place; this.#next = this.#sorted.next())
      yield this.#next.value[1];
  }

  [Symbol.dispose](): void {
    this.#sorted.return(undefined);
  }
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
