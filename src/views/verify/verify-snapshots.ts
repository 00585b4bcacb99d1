import DatabaseFile, { type Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import {
  archivedLine,
  changesHash,
  createdLine,
  type DigestedCoin,
  firstDigest,
  itemOf,
  nextDigest,
} from '../../ledger/digest.ts';
import { BulkRows } from '../store/stored-rows.ts';
import {
  differsIn,
  isLedgerTime,
  type SnapshotRow,
  type Supply,
  snapshotName,
  timeText,
  type VerifyContext,
  type VerifyStep,
} from './verify-context.ts';

/**
 * Reads the sealed snapshots into `sealed`. Each migration's are numbered from 1 in the order of their times, and the open
 * interval has the next number: none is missing and none is added.
 */
export function* readSealed(context: VerifyContext): Generator<VerifyStep> {
  const { db, sealed } = context;
  let place = 0;
  const snapshots = db.prepare<[], SnapshotRow>(
    `SELECT migration_id AS migrationId, record_time AS recordTime, s.seq AS seq, epoch, update_no AS updateNo, forced, coalesce(contracts, 0) AS contracts,
       coalesce(owners, 0) AS owners, coalesce(unlocked, '0') AS unlocked, coalesce(locked, '0') AS locked, changes_digest, digest
     FROM snapshot s LEFT JOIN migration USING (migration_id) LEFT JOIN supply u ON u.instrument = coin
       AND u.seq = (SELECT max(seq) FROM supply WHERE instrument = coin AND seq <= s.seq)
     ORDER BY migration_id, record_time`,
  );
  for (const row of snapshots.iterate()) {
    const { migrationId, recordTime, seq, forced } = row;
    const rows = getOrMake(sealed, migrationId, () => []);
    rows.push(row);
    const places = getOrMake(context.places, migrationId, () => []);
    if (forced !== 1n) {
      while (places.length < rows.length) places.push(place);
      place += 1;
    }
    const differs = differsIn(context, 'snapshot', `migration ${migrationId}, ${timeText(recordTime)}`);
    if (seq !== BigInt(rows.length)) differs(`seq ${rows.length}`, seq);
    const { epoch } = rows.at(-2) ?? row;
    if (row.epoch < epoch) differs(`epoch ${epoch} or later, as the snapshot before it`, row.epoch);
    if (!isLedgerTime(recordTime)) differs('a time in 1970-2200', recordTime);
  }
  const open = db
    .prepare<[], { id: bigint; seq: bigint; epoch: bigint }>(
      'SELECT migration_id AS id, open_seq AS seq, open_epoch AS epoch FROM migration',
    )
    .all();
  for (const migrationId of new Set([...sealed.keys(), ...open.map(({ id }) => id)])) {
    const rows = sealed.get(migrationId) ?? [];
    const [expected, found] = [BigInt(rows.length + 1), open.find(({ id }) => id === migrationId)];
    const differs = differsIn(context, 'migration', `migration ${migrationId}`);
    if (found?.seq !== expected) differs(`open_seq ${expected}`, found?.seq ?? 'none');
    const epoch = rows.at(-1)?.epoch;
    if (found && found.epoch !== (epoch ?? found.epoch)) differs(`open_epoch ${epoch}`, found.epoch);
  }
  yield { phase: 'sealed', done: sealed.size, total: sealed.size };
}

const NO_SUPPLY: Supply = [0n, 0n, 0n, 0n];

export function sumOf(a: Supply = NO_SUPPLY, b: Supply = NO_SUPPLY): Supply {
  return a.map((each, i) => each + b[i]!);
}

/** How many snapshots are verified between two steps. */
const SNAPSHOTS_PER_STEP = 10_000;

/**
 * Every sealed snapshot against what the contracts give: its supply against the sum over the owners, its digests against the
 * items. Each digest follows from the stored one before it, so that a wrong one is named, and not all that come after it.
 */
export function* verifySnapshots(context: VerifyContext, items: ItemsFound): Generator<VerifyStep> {
  const { db, sealed, supply } = context;
  const period = Number(db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n);
  const total = [...sealed.values()].reduce((sum, { length }) => sum + length, 0);
  using sorted = items.sorted();
  let item = sorted.next();
  let [done, place] = [0, 0];
  for (const [migrationId, rows] of sealed) {
    let now = NO_SUPPLY;
    let before = firstDigest(Number(migrationId), period);
    for (const [i, row] of rows.entries()) {
      const seq = BigInt(i + 1);
      const compare = (expected: string, found: string): void => {
        if (found !== expected)
          differsIn(context, 'snapshot', snapshotName(context, migrationId, seq))(expected, found);
      };
      now = sumOf(now, supply.get(migrationId)?.get(seq));
      compare(supplyText(now), supplyText([row.contracts, row.owners, row.unlocked, row.locked]));
      done += 1;
      if (done % SNAPSHOTS_PER_STEP === 0) yield { phase: 'snapshots', done, total };
      const compareDigest = (name: 'changes_digest' | 'digest', expected?: Buffer): void =>
        compare(`${name} ${expected?.toString('hex') ?? 'none'}`, `${name} ${row[name]?.toString('hex') ?? 'none'}`);
      if (row.forced === 1n) {
        compareDigest('changes_digest');
        compareDigest('digest');
        continue;
      }
      const time = isLedgerTime(row.recordTime) ? Number(row.recordTime) : 0;
      const hash = changesHash(Number(migrationId), time);
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

/** A coin as its row and its holding give it. */
export interface Contract {
  readonly coin: DigestedCoin;
  readonly contractId: string;
  readonly createdSeq: bigint;
  /** Null while it is active. */
  readonly archivedSeq: bigint | null;
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

  /** Adds what a contract is in the digests: nothing where it was made and archived in one interval of the grid, or is not sealed. */
  add(places: readonly number[], { coin, contractId, createdSeq, archivedSeq }: Contract): void {
    const created = places[Number(createdSeq) - 1];
    const archived = archivedSeq === null ? undefined : places[Number(archivedSeq) - 1];
    if (created === archived) return;
    if (created !== undefined) this.#add(created, createdLine(coin, contractId));
    if (archived !== undefined) this.#add(archived, archivedLine(contractId));
  }

  #add(place: number, line: string): void {
    try {
      this.#insert.add(place, Buffer.from(itemOf(line), 'latin1'));
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
