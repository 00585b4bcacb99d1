import DatabaseFile from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { archivedLine, changesHash, firstDigest, itemOf, nextDigest } from '../../ledger/digest.ts';
import { prepareSnapshots } from '../read/stored-snapshots.ts';
import { BulkRows } from '../store/stored-rows.ts';
import type { VerifyContext, VerifyStep } from './verify-context.ts';
import { differsIn, isLedgerTime, type SnapshotRow, snapshotName, timeText } from './verify-context.ts';

/**
 * Reads the sealed snapshots into `sealed`. Each migration's are numbered from 1 in the order of their times, and the open
 * interval has the next number: none is missing and none is added.
 */
export function* readSealed(context: VerifyContext): Generator<VerifyStep> {
  const { db, sealed } = context;
  let place = 0;
  for (const row of prepareSnapshots<[], SnapshotRow>(db, 'ORDER BY migration_id, record_time').iterate()) {
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
 * The digests of every sealed snapshot against the items of coins and tokens. Each follows from the stored one before it, so that a
 * wrong one is named, and not all that come after it.
 */
export function* verifySnapshots(
  context: VerifyContext,
  items: Readonly<Record<'coins' | 'tokens', ItemsFound>>,
): Generator<VerifyStep> {
  const { db, sealed } = context;
  const period = Number(db.prepare<[], bigint>('SELECT period FROM setting').pluck().get() ?? 0n);
  const total = [...sealed.values()].reduce((sum, { length }) => sum + length, 0);
  using coins = new Chain(items.coins);
  using tokens = new Chain(items.tokens);
  let done = 0;
  for (const [migrationId, rows] of sealed) {
    const first = firstDigest(Number(migrationId), period);
    coins.before = first;
    tokens.before = null;
    for (const [i, row] of rows.entries()) {
      const compare = (name: string, expected: Buffer | null, found: Buffer | null): void => {
        const [wanted, is] = [expected, found].map((digest) => `${name} ${digest?.toString('hex') ?? 'none'}`);
        if (wanted === is) return;
        differsIn(context, 'snapshot', { snapshot: snapshotName(context, migrationId, BigInt(i + 1)) })(wanted!, is);
      };
      done += 1;
      if (done % SNAPSHOTS_PER_STEP === 0) yield { phase: 'snapshots', done, total };
      const ofCoins = coins.next(row, first, [row.changesDigest, row.digest]);
      compare('changes_digest', ofCoins.changes, row.changesDigest);
      compare('digest', ofCoins.digest, row.digest);
      const ofTokens = tokens.next(row, first, [row.tokensChangesDigest, row.tokensDigest]);
      compare('tokens_changes_digest', ofTokens.changes, row.tokensChangesDigest);
      compare('tokens_digest', ofTokens.digest, row.tokensDigest);
    }
  }
  yield { phase: 'snapshots', done, total };
}

/** A chain of digests, whose items are read snapshot by snapshot. */
class Chain implements Disposable {
  readonly #sorted;
  #item;
  /** The digest of the snapshot before; null while the chain has not begun. */
  before: Buffer | null = null;

  constructor(items: ItemsFound) {
    this.#sorted = items.sorted();
    this.#item = this.#sorted.next();
  }

  /** What a snapshot should have; null where it is forced and before the first item. `stored`: what it has. */
  next({ place, forced, migrationId, recordTime }: SnapshotRow, first: Buffer, stored: readonly (Buffer | null)[]) {
    if (forced === 1n) return { changes: null, digest: null };
    const hash = changesHash(Number(migrationId), isLedgerTime(recordTime) ? Number(recordTime) : 0);
    for (; this.#item.done !== true && this.#item.value[0] === place; this.#item = this.#sorted.next()) {
      hash.update(this.#item.value[1]);
      this.before ??= first;
    }
    if (this.before === null) return { changes: null, digest: null };
    const changes = hash.digest();
    const digest = nextDigest(this.before, stored[0] ?? changes);
    this.before = stored[1] ?? digest;
    return { changes, digest };
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
