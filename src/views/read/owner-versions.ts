import type { Database } from 'better-sqlite3';
import { NO_COIN, type Order, type Ranking, type Supply, type Totals } from '../../holdings/facts.ts';
import type { OfInstrument } from '../../holdings/instrument.ts';
import { type EpochBits, epochBitsOf, epochsDown, epochsUp } from '../store/account-epochs.ts';
import { decodeVersion, NO_SUMS, type Sums } from '../store/stored-rows.ts';
import type { IntervalEnd, StoredSnapshot } from './stored-snapshots.ts';

export type Version = { readonly seq: number; readonly totals: Totals };

/** An account, and the epochs in which it has rows. `party`: its owner, empty for none. */
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

/** An instrument by its number, or where that is null the coin of a migration. */
export const OF_INSTRUMENT = 'instrument = coalesce(?, (SELECT coin FROM migration WHERE migration_id = ? + 0))';

export type Instrument = OfInstrument & { readonly migrationId: number };

/** The accounts of instruments. An owner has one of the coin, and may have several of a token. `? + 0`: see views/store/database.ts. */
export function createAccountReader(db: Database) {
  const instrumentNo = db
    .prepare<[number, string, string], number>(
      "SELECT id FROM instrument WHERE migration_id = ? + 0 AND admin = ? || '' AND name = ? || ''",
    )
    .pluck();
  /** The number of a token, null for the coin; undefined for one that is not known. */
  const noOf = ({ migrationId, instrument }: Instrument): number | null | undefined =>
    instrument === undefined ? null : instrumentNo.get(migrationId, instrument.admin, instrument.id);
  const prepare = <P extends unknown[]>(rest: string) =>
    db.prepare<P, Account>(
      `SELECT id AS no, owner AS party, ${epochBitsOf('id')} AS epochs
       FROM account WHERE ${rest}`,
    );
  const ofCoin = prepare<[number, string]>(
    `instrument = (SELECT coin FROM migration WHERE migration_id = ? + 0) AND owner = ? || '' AND provider = '' AND account_id = ''`,
  );
  const ofParty = prepare<[number | null, number, string]>(`${OF_INSTRUMENT} AND owner = ? || ''`);
  const ofNo = prepare<[number]>('id = ? + 0');
  // Text is compared by its UTF-8 bytes.
  const from = prepare<[number | null, number, string]>(`${OF_INSTRUMENT} AND owner >= ? || '' ORDER BY owner`);
  const byNo = prepare<[number, number, null, number]>(`id > ? + 0 AND id <= ? + 0 AND +${OF_INSTRUMENT} ORDER BY id`);
  const max = db.prepare<[], number | null>('SELECT max(id) FROM account').pluck();
  return {
    noOf,
    /** That of the coin; undefined where the migration has had no coin of the party. */
    ofCoin: (migrationId: number, party: string): Account | undefined => ofCoin.get(migrationId, party),
    /** None where the migration has had nothing of it of the party. */
    ofParty(of: Instrument, party: string): readonly Account[] {
      if (of.instrument === undefined) {
        const account = ofCoin.get(of.migrationId, party);
        return account === undefined ? NO_ACCOUNTS : [account];
      }
      const no = noOf(of);
      return no === undefined ? NO_ACCOUNTS : ofParty.all(no, of.migrationId, party);
    },
    ofNo(no: number): Account {
      const account = ofNo.get(no);
      if (account === undefined) throw new Error(`account ${no} is not in views.db`);
      return account;
    },
    /** Those of each party from one on, in the order of the parties. */
    *from(of: Instrument, party: string): Iterable<readonly Account[]> {
      const no = noOf(of);
      let own: Account[] = [];
      for (const account of no === undefined ? [] : from.iterate(no, of.migrationId, party)) {
        if (own.length > 0 && own[0]!.party !== account.party) {
          yield own;
          own = [];
        }
        if (account.party !== '') own.push(account);
      }
      if (own.length > 0) yield own;
    },
    /** All of a migration's coin, by number: so their rows lie one after the other. */
    *all(migrationId: number): Iterable<readonly Account[]> {
      const last = max.get() ?? 0;
      for (let no = 0; no < last; no += ACCOUNTS_AT_ONCE)
        for (const account of byNo.all(no, no + ACCOUNTS_AT_ONCE, null, migrationId)) yield [account];
    },
  };
}

const NO_ACCOUNTS: readonly Account[] = [];

export const NO_COINS = { unlocked: NO_SUMS, locked: NO_SUMS };

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

  function sumsOf(account: Account, end: IntervalEnd): { readonly unlocked: Sums; readonly locked: Sums } {
    const row = rowAt(account, end);
    return row === null ? NO_COINS : decodeVersion(row.v);
  }

  function newestAt(account: Account, end: IntervalEnd): Version | null {
    const row = rowAt(account, end);
    return row === null ? null : versionOf(row);
  }

  const totalsOf = (account: Account, end: IntervalEnd): Totals => newestAt(account, end)?.totals ?? NO_COIN;

  function totalsAt(accounts: readonly Account[], end: IntervalEnd): Totals {
    if (accounts.length === 1) return totalsOf(accounts[0]!, end);
    return accounts.reduce((sum, account) => changed(sum, NO_COIN, totalsOf(account, end)), NO_COIN);
  }

  function* ofAccount({ no, epochs }: Account, { after, to }: Range, order: Order): Generator<Version> {
    const ordered = order === 'asc' ? epochsUp(epochs, after.epoch, to.epoch) : epochsDown(epochs, to.epoch);
    for (const epoch of ordered) {
      if (epoch < after.epoch) return;
      for (const row of inOrder[order].iterate(epoch, no, after.seq, to.seq)) yield versionOf(row);
    }
  }

  /** Those of several accounts together: all are read before the first is given. */
  function ofAccounts(accounts: readonly Account[], range: Range, order: Order): Iterable<Version> {
    const steps: { readonly seq: number; readonly before: Totals; readonly after: Totals }[] = [];
    let sum = NO_COIN;
    for (const account of accounts) {
      let before = totalsOf(account, range.after);
      sum = changed(sum, NO_COIN, before);
      for (const { seq, totals } of ofAccount(account, range, 'asc')) {
        steps.push({ seq, before, after: totals });
        before = totals;
      }
    }
    const versions: Version[] = [];
    for (const { seq, before, after } of steps.sort((a, b) => a.seq - b.seq)) {
      sum = changed(sum, before, after);
      if (versions.at(-1)?.seq === seq) versions.pop();
      versions.push({ seq, totals: sum });
    }
    return order === 'asc' ? versions : versions.reverse();
  }

  return {
    sumsOf,
    sumsAt(accounts: readonly Account[], end: IntervalEnd): { readonly unlocked: Sums; readonly locked: Sums } {
      const [first = NO_COINS, ...others] = accounts.map((account) => sumsOf(account, end));
      return others.reduce((sum, { unlocked, locked }) => {
        return { unlocked: joined(sum.unlocked, unlocked), locked: joined(sum.locked, locked) };
      }, first);
    },
    totalsAt,
    newestAt,
    /** Those of the intervals after one, up to another, of all accounts of a party together. */
    between: (accounts: readonly Account[], range: Range, order: Order): Iterable<Version> =>
      accounts.length === 1 ? ofAccount(accounts[0]!, range, order) : ofAccounts(accounts, range, order),
  };
}

interface Range {
  readonly after: IntervalEnd;
  readonly to: IntervalEnd;
}

function changed(sum: Totals, before: Totals, after: Totals): Totals {
  return {
    unlocked: sum.unlocked + after.unlocked - before.unlocked,
    locked: sum.locked + after.locked - before.locked,
    contracts: sum.contracts + after.contracts - before.contracts,
  };
}

/** Of tokens, which have no rates. */
function joined(a: Sums, b: Sums): Sums {
  return { ...NO_SUMS, count: a.count + b.count, amount: a.amount + b.amount };
}

/** Sums in doubles that count exactly: (top * 2^53 + high) * 2^53 + low. Those of the coin have no top. */
interface DoubleSums {
  readonly top: Float64Array | null;
  readonly high: Float64Array;
  readonly low: Float64Array;
}

const LOW_BITS = 53;

/** Orders owners at a snapshot, the largest first, then by party (UTF-8 bytes). Only packed numbers are held: 80 MB for a million. */
export function rankOwners(
  db: Database,
  { snapshot, instrument, supply }: { snapshot: StoredSnapshot; supply: Supply } & OfInstrument,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
): Ranking {
  const { seq, migrationId } = snapshot;
  const { owners: count } = supply;
  const isCoin = instrument === undefined;
  const sums = (): DoubleSums => ({
    top: isCoin ? null : new Float64Array(count),
    high: new Float64Array(count),
    low: new Float64Array(count),
  });
  const [unlocked, locked, total] = [sums(), sums(), sums()];
  const owners = new Uint32Array(count);
  let found = 0;
  for (const own of isCoin ? accounts.all(migrationId) : accounts.from({ migrationId, instrument }, '')) {
    const totals = versions.totalsAt(own, snapshot);
    if (totals.contracts === 0) continue;
    if (found === count) throw new Error(`migration ${migrationId} has more than ${count} owners in snapshot ${seq}`);
    owners[found] = own[0]!.no;
    write(unlocked, found, totals.unlocked);
    write(locked, found, totals.locked);
    write(total, found, totals.unlocked + totals.locked);
    found += 1;
  }
  if (found !== count) throw new Error(`migration ${migrationId} has ${found} of ${count} owners in snapshot ${seq}`);

  const byParty = isCoin ? partyOrder(db, migrationId, owners) : owners.map((_, at) => at);
  // A stable sort, so equal sums stay in the order of their parties.
  const ranked = ({ top, high, low }: DoubleSums): Uint32Array => {
    const byLower = (a: number, b: number): number => high[b]! - high[a]! || low[b]! - low[a]!;
    const order = top === null ? byLower : (a: number, b: number) => top[b]! - top[a]! || byLower(a, b);
    return byParty
      .slice()
      .sort(order)
      .map((at) => owners[at]!);
  };
  return { unlocked: ranked(unlocked), locked: ranked(locked), total: ranked(total) };
}

function write({ top, high, low }: DoubleSums, at: number, sum: bigint): void {
  const upper = sum >> BigInt(LOW_BITS);
  if (top !== null) top[at] = Number(upper >> BigInt(LOW_BITS));
  high[at] = Number(top === null ? upper : BigInt.asUintN(LOW_BITS, upper));
  low[at] = Number(BigInt.asUintN(LOW_BITS, sum));
}

/** The indexes of `owners`, which are in ascending order, by their parties. */
function partyOrder(db: Database, migrationId: number, owners: Uint32Array): Uint32Array {
  const indexes = new Uint32Array((owners.at(-1) ?? 0) + 1);
  owners.forEach((owner, i) => {
    indexes[owner] = i;
  });
  const byParty = db
    .prepare<[null, number], number>(`SELECT id FROM account WHERE ${OF_INSTRUMENT} ORDER BY owner`)
    .pluck();
  const order = new Uint32Array(owners.length);
  let placed = 0;
  for (const owner of byParty.iterate(null, migrationId)) {
    const index = indexes[owner]!;
    if (owners[index] === owner) order[placed++] = index;
  }
  return order;
}
