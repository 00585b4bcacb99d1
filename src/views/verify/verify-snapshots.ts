import DatabaseFile from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { archivedLine, changesHash, firstDigest, itemOf, nextDigest } from '../../ledger/digest.ts';
import { prepareSnapshots } from '../read/stored-snapshots.ts';
import { BulkRows } from '../store/stored-rows.ts';
import {
  differsIn,
  isLedgerTime,
  NO_SUPPLY,
  type SnapshotRow,
  snapshotName,
  sumOf,
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
  const snapshots = prepareSnapshots<[], SnapshotRow>(
    db,
    'ORDER BY migration_id, record_time',
    ', update_no AS updateNo, tokens_changes_digest AS tokensChangesDigest, tokens_digest AS tokensDigest',
  );
  for (const row of snapshots.iterate()) {
    const { migrationId, recordTime, seq, forced } = row;
    const rows = getOrMake(sealed, migrationId, () => []);
    rows.push(row);
    if (forced !== 1n) {
      for (let i = rows.length - 1; i >= 0 && rows[i]!.place === undefined; i--) rows[i]!.place = place;
      place += 1;
    }
    const differs = differsIn(context, 'snapshot', { snapshot: `migration ${migrationId}, ${timeText(recordTime)}` });
    if (seq !== BigInt(rows.length)) differs(`seq ${rows.length}`, seq);
    const { epoch } = rows.at(-2) ?? row;
    if (row.epoch < epoch) differs(`epoch ${epoch} or later, as the snapshot before it`, row.epoch);
    if (!isLedgerTime(recordTime)) differs('a time in 1970-2200', recordTime);
  }
  const migrations = db.prepare<[], { id: bigint; seq: bigint; epoch: bigint }>(
    'SELECT migration_id AS id, open_seq AS seq, open_epoch AS epoch FROM migration',
  );
  const open = new Map(migrations.all().map(({ id, ...interval }) => [id, interval]));
  for (const id of open.keys()) getOrMake(sealed, id, () => []);
  for (const [id, rows] of sealed) {
    const { seq, epoch } = open.get(id) ?? { seq: 'none', epoch: undefined };
    const differs = differsIn(context, 'migration', { snapshot: `migration ${id}` });
    if (seq !== BigInt(rows.length + 1)) differs(`open_seq ${rows.length + 1}`, seq);
    const newest = rows.at(-1)?.epoch ?? epoch;
    if (epoch !== undefined && epoch !== newest) differs(`open_epoch ${newest}`, epoch);
  }
  yield { phase: 'sealed', done: sealed.size, total: sealed.size };
}

/** How many snapshots are verified between two steps. */
const SNAPSHOTS_PER_STEP = 10_000;

/**
 * Every sealed snapshot against what the contracts give: the coin's supply against the sum over the owners, its digests against the
 * items of coins and tokens. Each digest follows from the stored one before it, so that a wrong one is named, and not all that come after it.
 */
export function* verifySnapshots(
  context: VerifyContext,
  items: Readonly<Record<'coins' | 'tokens', ItemsFound>>,
): Generator<VerifyStep> {
  const { db, sealed, supply } = context;
  const period = Number(db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n);
  const total = [...sealed.values()].reduce((sum, { length }) => sum + length, 0);
  const coinOf = db.prepare<[bigint], bigint | null>('SELECT coin FROM migration WHERE migration_id = ?').pluck();
  using coins = new ItemReader(items.coins);
  using tokens = new ItemReader(items.tokens);
  let done = 0;
  for (const [migrationId, rows] of sealed) {
    const coin = coinOf.get(migrationId) ?? 0n;
    let now = NO_SUPPLY;
    let before = firstDigest(Number(migrationId), period);
    let tokensBefore: Buffer | null = null;
    for (const [i, row] of rows.entries()) {
      const seq = BigInt(i + 1);
      const compare = (expected: string, found: string): void => {
        if (found === expected) return;
        differsIn(context, 'snapshot', { snapshot: snapshotName(context, migrationId, seq) })(expected, found);
      };
      const compareDigest = (name: string, expected: Buffer | null, found: Buffer | null): void =>
        compare(`${name} ${expected?.toString('hex') ?? 'none'}`, `${name} ${found?.toString('hex') ?? 'none'}`);
      now = sumOf(now, supply.get(coin)?.get(seq) ?? NO_SUPPLY);
      compare(supplyText(now), supplyText([row.contracts, row.owners, row.unlocked, row.locked]));
      done += 1;
      if (done % SNAPSHOTS_PER_STEP === 0) yield { phase: 'snapshots', done, total };
      let [changes, digest]: [Buffer | null, Buffer | null] = [null, null];
      let [tokenChanges, tokenDigest]: [Buffer | null, Buffer | null] = [null, null];
      if (row.forced !== 1n) {
        const header = [Number(migrationId), isLedgerTime(row.recordTime) ? Number(row.recordTime) : 0] as const;
        changes = coins.changesAt(row.place, header).changes;
        digest = nextDigest(before, row.changesDigest ?? changes);
        before = row.digest ?? digest;
        const found = tokens.changesAt(row.place, header);
        if (found.any || tokensBefore !== null) {
          tokenChanges = found.changes;
          tokensBefore ??= firstDigest(Number(migrationId), period);
          tokenDigest = nextDigest(tokensBefore, row.tokensChangesDigest ?? tokenChanges);
          tokensBefore = row.tokensDigest ?? tokenDigest;
        }
      }
      compareDigest('changes_digest', changes, row.changesDigest);
      compareDigest('digest', digest, row.digest);
      compareDigest('tokens_changes_digest', tokenChanges, row.tokensChangesDigest);
      compareDigest('tokens_digest', tokenDigest, row.tokensDigest);
    }
  }
  yield { phase: 'snapshots', done, total };
}

export function supplyText([contracts, owners, unlocked, locked]: readonly (bigint | string)[]): string {
  return `${contracts} contracts of ${owners} owners, unlocked ${coinText(unlocked!)}, locked ${coinText(locked!)}`;
}

/** Stored as decimal digits: any other text is shown as it is. */
function coinText(units: bigint | string): string {
  const isCanonical = typeof units === 'bigint' || /^(0|-?[1-9]\d*)$/.test(units);
  return isCanonical ? formatAmount(BigInt(units)) : JSON.stringify(units);
}

/** The items of one chain, read snapshot by snapshot. */
class ItemReader implements Disposable {
  readonly #sorted;
  #item;

  constructor(items: ItemsFound) {
    this.#sorted = items.sorted();
    this.#item = this.#sorted.next();
  }

  changesAt(place: number | undefined, [migrationId, recordTime]: readonly [number, number]) {
    const hash = changesHash(migrationId, recordTime);
    let any = false;
    for (; this.#item.done !== true && this.#item.value[0] === place; this.#item = this.#sorted.next()) {
      hash.update(this.#item.value[1]);
      any = true;
    }
    return { changes: hash.digest(), any };
  }

  [Symbol.dispose](): void {
    this.#sorted.return(undefined);
  }
}

/** A coin or token as its row and its holding give it; `createdLine`: of the digest. */
export interface Contract {
  readonly createdLine: string;
  readonly contractId: string;
  readonly createdSeq: bigint;
  /** Null while it is active. */
  readonly archivedSeq: bigint | null;
}

/** Memory for items; those beyond it are in a file in the folder for temporary files, which is gone with the process. */
const CACHE_KIB = 32 * 1024;

/** The items (docs/digest.md) that the contracts give, sorted by the snapshot on the grid that shows them. */
export class ItemsFound implements Disposable {
  // A database without a name is private and temporary.
  readonly #db = new DatabaseFile('');
  readonly #insert: BulkRows;

  constructor() {
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA cache_size = -${CACHE_KIB};
      CREATE TABLE found(place INTEGER, item BLOB); BEGIN`);
    this.#insert = BulkRows.inserting(this.#db, 'INSERT INTO found', 2);
  }

  /** Adds what a contract is in the digests: nothing where it was made and archived in one interval of the grid, or is not sealed. */
  add(sealed: readonly SnapshotRow[], { createdLine, contractId, createdSeq, archivedSeq }: Contract): void {
    const created = sealed[Number(createdSeq) - 1]?.place;
    const archived = archivedSeq === null ? undefined : sealed[Number(archivedSeq) - 1]?.place;
    if (created === archived) return;
    try {
      if (created !== undefined) this.#insert.add(created, Buffer.from(itemOf(createdLine), 'latin1'));
      if (archived !== undefined) this.#insert.add(archived, Buffer.from(itemOf(archivedLine(contractId)), 'latin1'));
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** All items in order, each with the place of its snapshot. */
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
