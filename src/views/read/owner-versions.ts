import type { Database } from 'better-sqlite3';
import type { Order, Ranking, Totals } from '../../holdings/facts.ts';
import { type EpochBits, epochBitsOf, epochsDown, epochsUp } from '../store/account-epochs.ts';
import { decodeVersion, NO_SUMS, type Sums } from '../store/stored-rows.ts';
import type { IntervalEnd, StoredSnapshot } from './stored-snapshots.ts';

export type Version = { readonly seq: number; readonly totals: Totals };

/** An owner's account of the coin, and the epochs in which it has rows. */
export interface Account {
  readonly no: number;
  readonly party: string;
  readonly epochs: EpochBits;
}

export type AccountReader = ReturnType<typeof createAccountReader>;

export type VersionReader = ReturnType<typeof createVersionReader>;

type VersionRow = { readonly seq: number; readonly v: Buffer };

/** So many that what a statement costs is shared by many, and that they are little in memory. */
const ACCOUNTS_AT_ONCE = 1_000;

export const COIN_OF_MIGRATION = 'instrument = (SELECT coin FROM migration WHERE migration_id = ? + 0)';

/** The accounts of the coin. `? + 0`: see views/store/database.ts. */
export function createAccountReader(db: Database) {
  const prepare = <P extends unknown[]>(rest: string) =>
    db.prepare<P, Account>(
      `SELECT id AS no, owner AS party, ${epochBitsOf('id')} AS epochs
       FROM account WHERE ${rest}`,
    );
  const ofParty = prepare<[number, string]>(
    `${COIN_OF_MIGRATION} AND owner = ? || '' AND provider = '' AND account_id = ''`,
  );
  const ofNo = prepare<[number]>('id = ? + 0');
  // Text is compared by its UTF-8 bytes.
  const from = prepare<[number, string]>(`${COIN_OF_MIGRATION} AND owner >= ? || '' ORDER BY owner`);
  const byNo = prepare<[number, number, number]>(`id > ? + 0 AND id <= ? + 0 AND +${COIN_OF_MIGRATION} ORDER BY id`);
  const max = db.prepare<[], number | null>('SELECT max(id) FROM account').pluck();
  return {
    /** Undefined where the migration has had no coin of the party. */
    ofParty: (migrationId: number, party: string): Account | undefined => ofParty.get(migrationId, party),
    ofNo(no: number): Account {
      const account = ofNo.get(no);
      if (account === undefined) throw new Error(`account ${no} is not in views.db`);
      return account;
    },
    from: (migrationId: number, party: string): Iterable<Account> => from.iterate(migrationId, party),
    /** All of a migration, by number: so their rows lie one after the other. */
    *all(migrationId: number): Iterable<Account> {
      const last = max.get() ?? 0;
      for (let no = 0; no < last; no += ACCOUNTS_AT_ONCE) yield* byNo.all(no, no + ACCOUNTS_AT_ONCE, migrationId);
    },
  };
}

/** The versions of accounts. Only unbounded reads go through more than one of them. `? + 0`: see views/store/database.ts. */
export function createVersionReader(db: Database) {
  const newest = db.prepare<[number, number, number], VersionRow>(
    'SELECT seq, v FROM total WHERE epoch = ? + 0 AND account = ? + 0 AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const between = (order: Order) =>
    db.prepare<[number, number, number, number], VersionRow>(
      `SELECT seq, v FROM total WHERE epoch = ? + 0 AND account = ? + 0 AND seq > ? AND seq <= ? ORDER BY seq ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  const versionOf = ({ seq, v }: VersionRow): Version => {
    const { unlocked, locked } = decodeVersion(v);
    const totals = { unlocked: unlocked.amount, locked: locked.amount, contracts: unlocked.count + locked.count };
    return { seq, totals };
  };

  /** The newest up to an interval. */
  function rowAt({ no, epochs }: Account, { seq, epoch: last }: IntervalEnd): VersionRow | null {
    for (const epoch of epochsDown(epochs, last)) {
      const row = newest.get(epoch, no, seq);
      if (row !== undefined) return row;
    }
    return null;
  }

  return {
    sumsAt(account: Account, end: IntervalEnd): { readonly unlocked: Sums; readonly locked: Sums } {
      const row = rowAt(account, end);
      return row === null ? { unlocked: NO_SUMS, locked: NO_SUMS } : decodeVersion(row.v);
    },
    at(account: Account, end: IntervalEnd): Version | null {
      const row = rowAt(account, end);
      return row && versionOf(row);
    },
    /** Those of the intervals after one, up to another. */
    *between(
      { no, epochs }: Account,
      { after, to }: { readonly after: IntervalEnd; readonly to: IntervalEnd },
      order: Order,
    ): Iterable<Version> {
      const ordered = order === 'asc' ? epochsUp(epochs, after.epoch, to.epoch) : epochsDown(epochs, to.epoch);
      for (const epoch of ordered) {
        if (epoch < after.epoch) return;
        for (const row of inOrder[order].iterate(epoch, no, after.seq, to.seq)) yield versionOf(row);
      }
    },
  };
}

/** Sums in two doubles that count exactly: high * 2^53 + low. */
interface DoubleSums {
  readonly high: Float64Array;
  readonly low: Float64Array;
}

const LOW_BITS = 53;

/**
 * Orders the owners with coin at a snapshot, the largest first, equal ones by the UTF-8 bytes of their parties. There may be
 * millions, so only packed numbers are held: some 80 MB for a million.
 */
export function rankOwners(
  db: Database,
  snapshot: StoredSnapshot,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
): Ranking {
  const { owners: count, seq, migrationId } = snapshot;
  const sums = (): DoubleSums => ({ high: new Float64Array(count), low: new Float64Array(count) });
  const [unlocked, locked, total] = [sums(), sums(), sums()];
  const owners = new Uint32Array(count);
  let found = 0;
  for (const account of accounts.all(migrationId)) {
    const totals = versions.at(account, snapshot)?.totals;
    if (totals === undefined || totals.contracts === 0) continue;
    if (found === count) throw new Error(`migration ${migrationId} has more than ${count} owners in snapshot ${seq}`);
    owners[found] = account.no;
    write(unlocked, found, totals.unlocked);
    write(locked, found, totals.locked);
    write(total, found, totals.unlocked + totals.locked);
    found += 1;
  }
  if (found !== count) throw new Error(`migration ${migrationId} has ${found} of ${count} owners in snapshot ${seq}`);

  const byParty = partyOrder(db, migrationId, owners);
  // A stable sort, so equal sums stay in the order of their parties.
  const ranked = ({ high, low }: DoubleSums): Uint32Array =>
    byParty
      .slice()
      .sort((a, b) => high[b]! - high[a]! || low[b]! - low[a]!)
      .map((at) => owners[at]!);
  return { unlocked: ranked(unlocked), locked: ranked(locked), total: ranked(total) };
}

function write({ high, low }: DoubleSums, at: number, sum: bigint): void {
  high[at] = Number(sum >> BigInt(LOW_BITS));
  low[at] = Number(BigInt.asUintN(LOW_BITS, sum));
}

/** The indexes of `owners`, which are in ascending order, by their parties. */
function partyOrder(db: Database, migrationId: number, owners: Uint32Array): Uint32Array {
  const indexes = new Uint32Array((owners.at(-1) ?? 0) + 1);
  owners.forEach((owner, i) => {
    indexes[owner] = i;
  });
  const byParty = db
    .prepare<[number], number>(`SELECT id FROM account WHERE ${COIN_OF_MIGRATION} ORDER BY owner`)
    .pluck();
  const order = new Uint32Array(owners.length);
  let placed = 0;
  for (const owner of byParty.iterate(migrationId)) {
    const index = indexes[owner]!;
    if (owners[index] === owner) order[placed++] = index;
  }
  return order;
}
