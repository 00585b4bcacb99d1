import type { Database } from 'better-sqlite3';
import type {
  Amounts,
  KnownMovement,
  MovementName,
  OwnersMovement,
  OwnersMovementsLookup,
} from '../../holdings/movement-facts.ts';
import { type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import { type MovementReader, type OwnMovement, plus } from './movement-reader.ts';
import type { Account, AccountReader } from './owner-versions.ts';
import { NOT_BOUNDED, type RowBudget } from './stored-snapshots.ts';

type UpdateAccounts = { readonly no: number; readonly accounts: Buffer };

/** An account that has a movement in update `no`; none of its movements before that is wanted. */
interface NextOfAccount {
  readonly account: Account;
  readonly migrationId: number;
  readonly firstEpoch: number;
  readonly no: number;
}

/** Where owners that moved are looked for, at once: a millisecond. */
const UPDATES_AT_ONCE = 1_000;
const ACCOUNTS_AT_ONCE = 500;

/** How many rows the event loop may read for the movements of streams, for each that it may read for fees: a millisecond or two in all. */
const ROWS_PER_BUDGET_ROW = 16;

/** Takes rows from what is left of a budget. Throws NOT_BOUNDED. */
type Take = (rows: number) => void;

function takeFrom(budget: RowBudget): Take {
  let left = budget.rows * ROWS_PER_BUDGET_ROW;
  return (rows) => {
    left -= rows;
    if (left < 0) throw NOT_BOUNDED;
  };
}

/** Reads the movements of many owners in the order of updates, over all migrations. `? + 0`: see views/store/database.ts. */
export function createOwnersMovementReader(
  db: Database,
  { accounts, movements }: { accounts: AccountReader; movements: MovementReader },
) {
  const lastUpdate = db.prepare<[], number | null>('SELECT max(no) FROM ledger_update').pluck();
  const updates = db.prepare<[number, number, number], UpdateAccounts>(
    'SELECT no, accounts FROM ledger_update WHERE no > ? + 0 AND no <= ? + 0 ORDER BY no LIMIT ?',
  );
  const ownerOf = db.prepare<[number], string>('SELECT owner FROM account WHERE id = ? + 0').pluck();
  const migrationIds = db
    .prepare<[], number>('SELECT migration_id FROM migration WHERE update_time IS NOT NULL ORDER BY migration_id')
    .pluck();
  const snapshotUpTo = db.prepare<[number, number], { recordTime: number; epoch: number; updateNo: number }>(
    `SELECT record_time AS recordTime, epoch, update_no AS updateNo FROM snapshot
     WHERE migration_id = ? + 0 AND record_time <= ? + 0 ORDER BY record_time DESC LIMIT 1`,
  );
  const firstTime = db
    .prepare<[number], number | null>('SELECT min(record_time) FROM snapshot WHERE migration_id = ? + 0')
    .pluck();
  const nextNo = db
    .prepare<[number, number, number, number], number>(
      `SELECT update_no FROM movement WHERE epoch = ? + 0 AND account = ? + 0 AND update_no >= ? + 0 AND update_no <= ? + 0
       ORDER BY update_no LIMIT 1`,
    )
    .pluck();
  const updateNamed = db.prepare<[number, number, StoredId], UpdateAccounts>(
    `SELECT no, accounts FROM ledger_update
     WHERE synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0) AND record_time = ? + 0 AND update_id = ?`,
  );
  const maxSealed = db.prepare<[], number | null>('SELECT max(no) FROM snapshot').pluck();
  const updateNoOfSnapshot = db.prepare<[number], number>('SELECT update_no FROM snapshot WHERE no = ? + 0').pluck();

  /** An epoch before which no movement of a migration lies from an update on: that of the last snapshot before it. */
  function firstEpochOf(migrationId: number, updateNo: number): number {
    const first = firstTime.get(migrationId) ?? null;
    let last = snapshotUpTo.get(migrationId, Number.MAX_SAFE_INTEGER);
    // At the head it is the newest, and else there may be many.
    if (first === null || last === undefined) return 0;
    if (last.updateNo < updateNo) return last.epoch;
    let [low, high, epoch] = [first, last.recordTime - 1, 0];
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      last = snapshotUpTo.get(migrationId, middle)!;
      if (last.updateNo < updateNo) [low, epoch] = [middle + 1, last.epoch];
      else high = last.recordTime - 1;
    }
    return epoch;
  }

  function nextOf(of: Omit<NextOfAccount, 'no'>, from: number, until: number, take: Take): NextOfAccount | null {
    for (const epoch of epochsUp(of.account.epochs, of.firstEpoch)) {
      take(1);
      const no = nextNo.get(epoch, of.account.no, from, until);
      if (no !== undefined) return { ...of, firstEpoch: epoch, no };
    }
    return null;
  }

  function begin({ owners, from, until }: OwnersMovementsLookup, take: Take): NextOfAccount[] {
    const next: NextOfAccount[] = [];
    for (const migrationId of migrationIds.all()) {
      if (movements.history(BigInt(migrationId))!.lastUpdateNo < from.updateNo) continue;
      const firstEpoch = firstEpochOf(migrationId, from.updateNo);
      take(owners.length);
      for (const owner of owners) {
        const account = accounts.ofParty(migrationId, owner);
        const found = account && nextOf({ account, migrationId, firstEpoch }, from.updateNo, until, take);
        if (found) next.push(found);
      }
    }
    return next;
  }

  /** The movement of an account in an update, of which it has one. */
  function ownMovement({
    account,
    firstEpoch: epoch,
    no,
  }: Pick<NextOfAccount, 'account' | 'firstEpoch' | 'no'>): OwnMovement {
    const interval = { epoch, firstEpoch: epoch };
    const [own] = [...movements.ownMovements(account, { no: no - 1, interval }, { no, interval }, 'asc')];
    if (own === undefined) throw new Error(`account ${account.no} has no movement in update ${no}`);
    return own;
  }

  function ofOwners(lookup: OwnersMovementsLookup, budget: RowBudget): readonly OwnersMovement[] {
    const { from, until, rows } = lookup;
    const take = takeFrom(budget);
    const found: OwnersMovement[] = [];
    const balances = new Map<number, Amounts>();
    for (let next = begin(lookup, take); next.length > 0; ) {
      const updateNo = next.reduce((least, { no }) => Math.min(least, no), Number.POSITIVE_INFINITY);
      const moving = next.filter(({ no }) => no === updateNo).map((each) => ({ ...each, own: ownMovement(each) }));
      // A byte for each account at least.
      take(moving[0]!.own.accounts.length);
      const update = movements.updateOf(moving[0]!.own);
      const places = new Map(update.moved.map(({ account }, place) => [account.no, place]));
      const placed = moving.map((each) => ({ ...each, place: places.get(each.account.no)! }));
      for (const { account, migrationId, own, place } of placed.sort((a, b) => a.place - b.place)) {
        if (updateNo === from.updateNo && place < from.place) continue;
        const before = balances.get(account.no);
        const after = before ? plus(before, own.change) : balanceAfter(account, migrationId, own, take);
        balances.set(account.no, after);
        found.push({ ...movements.complete(account, own, { change: own.change, after, update }), migrationId, place });
        if (found.length === rows) return found;
      }
      next = next.flatMap((each) => (each.no > updateNo ? each : (nextOf(each, updateNo + 1, until, take) ?? [])));
    }
    return found;
  }

  function balanceAfter(account: Account, migrationId: number, own: OwnMovement, take: Take): Amounts {
    const interval = movements.intervalAt(migrationId, own.countedAt);
    return movements.balanceAt(account, { no: own.updateNo, interval }, take);
  }

  function place({ migrationId, recordTime, updateId, party }: MovementName, budget: RowBudget): KnownMovement | null {
    const account = accounts.ofParty(Number(migrationId), party);
    const update = updateNamed.get(Number(migrationId), Number(recordTime), storedId(updateId));
    if (account === undefined || update === undefined) return null;
    const take = takeFrom(budget);
    const found = nextOf({ account, migrationId: Number(migrationId), firstEpoch: 0 }, update.no, update.no, take);
    if (found === null) return null;
    take(update.accounts.length);
    const { moved } = movements.updateOf(ownMovement(found));
    const place = moved.findIndex((each) => each.account.no === account.no);
    return { updateNo: update.no, place, sealedBefore: sealedBefore(update.no) };
  }

  /** A binary search: the updates of snapshots are in the order in which these were sealed. */
  function sealedBefore(updateNo: number): number {
    let [low, high] = [0, (maxSealed.get() ?? 0) + 1];
    while (low + 1 < high) {
      const middle = Math.floor((low + high) / 2);
      if (updateNoOfSnapshot.get(middle)! < updateNo) low = middle;
      else high = middle;
    }
    return low;
  }

  return {
    lastUpdateNo: () => lastUpdate.get() ?? 0,
    ofOwners,
    place,
    /** Owners in the updates after a number, up to another: of the first of them, where there are many. */
    moved(after: number, until: number): { readonly to: number; readonly owners: readonly string[] } {
      const found = new Set<number>();
      const rows = updates.all(after, until, UPDATES_AT_ONCE);
      let to = rows.length < UPDATES_AT_ONCE ? until : rows.at(-1)!.no;
      for (const { no, accounts: moved } of rows) {
        for (const account of decodeNumbers(moved)) found.add(account);
        if (found.size < ACCOUNTS_AT_ONCE) continue;
        to = no;
        break;
      }
      return { to, owners: [...found].map((account) => ownerOf.get(account)!) };
    },
  };
}
