import DatabaseFile, { type Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { archivedLine, changesHash, createdLine, firstDigest, itemOf, nextDigest } from '../../ledger/digest.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import {
  type Contract,
  differsIn,
  inOneMoment,
  isLedgerTime,
  type Reached,
  type SealedMigration,
  snapshotName,
  timeText,
  type VerifyContext,
  type VerifyStep,
} from './verify-context.ts';

/**
 * Reads which snapshots are sealed now into `sealed`. Each migration's are numbered from 1 in the order of their times, and
 * the open interval has the next number: none is missing and none is added.
 */
export function* readSealed(context: VerifyContext): Generator<VerifyStep> {
  const { db, sealed } = context;
  const snapshots = db.prepare<[], { migrationId: bigint; seq: bigint; recordTime: bigint; forced: bigint }>(
    `SELECT migration_id AS migrationId, seq, record_time AS recordTime, forced
     FROM snapshot ORDER BY migration_id, record_time`,
  );
  const migrations = db.prepare<[], { migrationId: bigint; openSeq: bigint }>(
    'SELECT migration_id AS migrationId, open_seq AS openSeq FROM migration',
  );
  inOneMoment(db, () => {
    let gridBefore = 0;
    for (const { migrationId, seq, recordTime, forced } of snapshots.iterate()) {
      const make = () => ({ migrationId, times: new Map<bigint, bigint>(), grid: [], gridBefore });
      const { times, grid } = getOrMake(sealed, migrationId, make);
      const differs = differsIn(context, 'snapshot', `migration ${migrationId}, ${timeText(recordTime)}`);
      if (seq !== BigInt(times.size + 1)) differs(`seq ${times.size + 1}`, seq);
      if (!isLedgerTime(recordTime)) {
        differs('a time in 1970-2200', recordTime);
        continue;
      }
      times.set(seq, recordTime);
      if (forced === 1n) continue;
      grid.push(seq);
      gridBefore += 1;
    }
    const open = new Map(migrations.all().map(({ migrationId, openSeq }) => [migrationId, openSeq]));
    for (const migrationId of new Set([...sealed.keys(), ...open.keys()])) {
      const expected = BigInt((sealed.get(migrationId)?.times.size ?? 0) + 1);
      const found = open.get(migrationId);
      if (found !== expected)
        differsIn(context, 'migration', `migration ${migrationId}`)(`open_seq ${expected}`, found ?? 'none');
    }
  });
  yield { phase: 'sealed', done: sealed.size, total: sealed.size };
}

/** Contracts, owners, unlocked and locked coin of a migration. */
type Supply = readonly bigint[];

const NO_SUPPLY: Supply = [0n, 0n, 0n, 0n];

function sumOf(a: Supply, b: Supply, sign = 1n): Supply {
  return a.map((each, i) => each + sign * b[i]!);
}

/** The sum over the owners' contracts: changes by migration and interval. Grows with intervals. */
export class SupplyFold {
  readonly #changes = new Map<bigint, Map<bigint, Supply>>();

  /** Adds an owner's sums at the end of each interval that changed them, in order. */
  add(migrationId: bigint, owner: Iterable<Reached>): void {
    const changes = getOrMake(this.#changes, migrationId, () => new Map<bigint, Supply>());
    let before = NO_SUPPLY;
    for (const { seq, unlocked, locked } of owner) {
      const contracts = BigInt(unlocked.count + locked.count);
      const now = [contracts, contracts > 0n ? 1n : 0n, unlocked.amount, locked.amount];
      changes.set(seq, sumOf(changes.get(seq) ?? NO_SUPPLY, sumOf(now, before, -1n)));
      before = now;
    }
  }

  /** In the order of the intervals. */
  changes(migrationId: bigint): readonly (readonly [seq: bigint, change: Supply])[] {
    return [...(this.#changes.get(migrationId) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** What the contracts of all owners give. */
export interface Folds {
  readonly supply: SupplyFold;
  readonly items: ItemsFound;
}

interface SnapshotRow {
  readonly contracts: bigint;
  readonly owners: bigint;
  readonly unlocked: string;
  readonly locked: string;
  readonly forced: bigint;
  readonly changes_digest: Buffer | null;
  readonly digest: Buffer | null;
}

/**
 * Every sealed snapshot against what the contracts give: its supply against the sum over the owners, its digests against the
 * items. Each digest follows from the stored one before it, so that a wrong one is named, and not all that come after it.
 */
export function* verifySnapshots(context: VerifyContext, { supply, items }: Folds): Generator<VerifyStep> {
  const { db, sealed } = context;
  const period = Number(db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n);
  const read = db.prepare<[bigint, bigint], SnapshotRow>(
    `SELECT contracts, owners, unlocked, locked, forced, changes_digest, digest
     FROM snapshot WHERE migration_id = ? AND record_time = ?`,
  );
  const total = [...sealed.values()].reduce((sum, { times }) => sum + times.size, 0);
  using sorted = items.sorted();
  let item = sorted.next();
  let [done, place] = [0, 0];
  for (const { migrationId, times } of sealed.values()) {
    const changes = supply.changes(migrationId);
    let at = 0;
    let now = NO_SUPPLY;
    let before = firstDigest(Number(migrationId), period);
    for (const [seq, time] of times) {
      const row = read.get(migrationId, time)!;
      const compare = (expected: string, found: string): void => {
        if (found !== expected)
          differsIn(context, 'snapshot', snapshotName(context, migrationId, seq))(expected, found);
      };
      for (; at < changes.length && changes[at]![0] <= seq; at++) now = sumOf(now, changes[at]![1]);
      compare(supplyText(now), supplyText([row.contracts, row.owners, row.unlocked, row.locked]));
      done += 1;
      if (done % context.rowsPerStep === 0) yield { phase: 'snapshots', done, total };
      const compareDigest = (name: 'changes_digest' | 'digest', expected?: Buffer): void =>
        compare(`${name} ${expected?.toString('hex') ?? 'none'}`, `${name} ${row[name]?.toString('hex') ?? 'none'}`);
      if (row.forced === 1n) {
        compareDigest('changes_digest');
        compareDigest('digest');
        continue;
      }
      const hash = changesHash(Number(migrationId), Number(time));
      for (; item.done !== true && item.value[0] === place; item = sorted.next()) hash.update(item.value[1]);
      place += 1;
      const changed = hash.digest();
      compareDigest('changes_digest', changed);
      const digest = nextDigest(before, row.changes_digest ?? changed);
      compareDigest('digest', digest);
      before = row.digest ?? digest;
    }
  }
  yield { phase: 'snapshots', done, total };
}

function supplyText([contracts, owners, unlocked, locked]: readonly (bigint | string)[]): string {
  return `${contracts} contracts of ${owners} owners, unlocked ${coinText(unlocked!)}, locked ${coinText(locked!)}`;
}

/** Stored as decimal digits: any other text is shown as it is. */
function coinText(units: bigint | string): string {
  const isCanonical = typeof units === 'bigint' || /^(0|-?[1-9]\d*)$/.test(units);
  return isCanonical ? formatAmount(BigInt(units)) : JSON.stringify(units);
}

/** Memory for items; those beyond it are in a file in the folder for temporary files, which is gone with the process. */
const CACHE_KIB = 32 * 1024;

/** The items (docs/digest.md) that the contracts give, sorted by the snapshot on the grid that shows them. */
export class ItemsFound implements Disposable {
  readonly #db: Database;
  readonly #insert: BulkRows;

  constructor() {
    // A database without a name is private and temporary.
    this.#db = new DatabaseFile('');
    this.#db.pragma('journal_mode = OFF');
    this.#db.pragma('synchronous = OFF');
    this.#db.pragma(`cache_size = -${CACHE_KIB}`);
    this.#db.exec('CREATE TABLE found(place INTEGER, item BLOB)');
    this.#insert = BulkRows.inserting(this.#db, 'INSERT INTO found', 2);
    this.#db.exec('BEGIN');
  }

  /** Adds what a contract is in the digests: nothing where it was made and archived in one interval of the grid. */
  add(migration: SealedMigration | undefined, { coin, contractId, createdSeq, archivedSeq }: Contract): void {
    if (migration === undefined) return;
    const created = intervalOf(migration, createdSeq);
    const archived = archivedSeq === null ? null : intervalOf(migration, archivedSeq);
    if (created === archived) return;
    this.#add(migration, created, createdLine(coin, contractId));
    if (archived !== null) this.#add(migration, archived, archivedLine(contractId));
  }

  #add({ grid, gridBefore }: SealedMigration, interval: number, line: string): void {
    // Of the open interval: the next snapshot shows it.
    if (interval >= grid.length) return;
    try {
      this.#insert.add(gridBefore + interval, Buffer.from(itemOf(line), 'latin1'));
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** All items in order, each with the place of its snapshot among those on the grid of all migrations. */
  *sorted(): Generator<[place: number, item: Buffer], undefined> {
    try {
      this.#insert.finish();
      const sorted = this.#db.prepare<[], [number, Buffer]>('SELECT place, item FROM found ORDER BY place, item');
      yield* sorted.raw().iterate();
    } catch (error) {
      throw noRoom(error);
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

/** Not what the same error of views.db would mean. */
function noRoom(error: unknown): Error {
  const room = 'the contracts cannot be sorted in the folder for temporary files (TMPDIR, /var/tmp or /tmp)';
  return new Error(`${room}: ${(error as Error).message}`, { cause: error });
}

/** The index in the grid of the first snapshot that an interval is before; beyond the last where that one is open. */
function intervalOf({ grid }: SealedMigration, seq: bigint): number {
  let [from, to] = [0, grid.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (grid[middle]! < seq) from = middle + 1;
    else to = middle;
  }
  return from;
}
