import type { Database } from 'better-sqlite3';
import type { Order } from '../../holdings/facts.ts';
import {
  type Amounts,
  type Movement,
  type MovementLeg,
  type MovementsLookup,
  movementKind,
  OTHERS_MAX,
  type UpdateHistory,
} from '../../holdings/movement-facts.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import { epochsDown, epochsUp } from '../store/account-epochs.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';

/** A point in a migration's order of updates: behind the update of that number, in an interval that ends with `endNo`. */
export interface Moment {
  readonly no: number;
  readonly interval: { readonly seq: number; readonly epoch: number; readonly endNo: number };
  /** The epoch before which no later update has rows. */
  readonly firstEpoch: number;
}

/** A movement without what other rows say of it. `epoch`: of all movements of its update. */
export interface OwnMovement extends Pick<Movement, 'updateNo' | 'recordTime' | 'countedAt' | 'change'> {
  readonly epoch: number;
  readonly updateId: StoredId;
  /** The accounts that the update moved. */
  readonly accounts: Buffer;
}

type MovementRow = Omit<OwnMovement, 'change'> & Readonly<Record<keyof Amounts, string>>;

type SnapshotEnd = Readonly<Record<'recordTime' | 'seq' | 'epoch' | 'updateNo', number>>;

/** Larger than all numbers of a store. */
const OPEN_END = Number.MAX_SAFE_INTEGER;

const COUNTED_AT = 'coalesce(counted_at, record_time)';
const OF_MIGRATION = 'synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0)';

/** Reads movements and balances at any time. `? + 0`: see views/store/database.ts. */
export function createMovementReader(
  db: Database,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
) {
  const newest = db
    .prepare<[], number | null>('SELECT max(migration_id) FROM migration WHERE update_time IS NOT NULL')
    .pluck();
  const migration = db.prepare<
    [number],
    { migrationId: number; timeReached: Micros; importedAt: Micros | null; movementsSince: Micros | null }
  >(
    `SELECT migration_id AS migrationId, time_reached AS timeReached, seeded_at AS importedAt, movements_since AS movementsSince
     FROM migration WHERE migration_id = ? + 0 AND update_time IS NOT NULL`,
  );
  const firstTime = db
    .prepare<[number], Micros>('SELECT first_time FROM synchronizer WHERE migration_id = ? + 0 ORDER BY no LIMIT 1')
    .pluck();
  const snapshotAt = (rest: string) =>
    db.prepare<[number, Micros], SnapshotEnd>(
      `SELECT record_time AS recordTime, seq, epoch, update_no AS updateNo FROM snapshot WHERE migration_id = ? + 0 AND ${rest} LIMIT 1`,
    );
  const atOrAfter = snapshotAt('record_time >= ? + 0 ORDER BY record_time');
  const before = snapshotAt('record_time < ? + 0 ORDER BY record_time DESC');
  const synchronizers = db.prepare<[number], number>('SELECT no FROM synchronizer WHERE migration_id = ? + 0').pluck();
  // Among those of a synchronizer's last time the last in feed order: repairs have several.
  const lastOf = db
    .prepare<[number], number>(
      `SELECT no FROM ledger_update WHERE synchronizer = ? + 0 ORDER BY record_time DESC, no DESC LIMIT 1`,
    )
    .pluck();
  const updateFrom = db.prepare<[number, number, number], { no: number; countedAt: Micros }>(
    `SELECT no, ${COUNTED_AT} AS countedAt FROM ledger_update WHERE no >= ? + 0 AND no < ? + 0 AND ${OF_MIGRATION} ORDER BY no LIMIT 1`,
  );
  const countedAtOf = db.prepare<[number], Micros>(`SELECT ${COUNTED_AT} FROM ledger_update WHERE no = ? + 0`).pluck();
  const between = (order: Order) =>
    db.prepare<[number, number, number, number], MovementRow>(
      `SELECT m.epoch AS epoch, update_no AS updateNo, CAST(unlocked AS TEXT) AS unlocked, CAST(locked AS TEXT) AS locked,
         record_time AS recordTime, ${COUNTED_AT} AS countedAt, update_id AS updateId, accounts
       FROM movement m CROSS JOIN ledger_update u ON u.no = update_no
       WHERE m.epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0 ORDER BY update_no ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  const changes = db.prepare<[number, number, number, number], Readonly<Record<keyof Amounts, string>>>(
    `SELECT CAST(unlocked AS TEXT) AS unlocked, CAST(locked AS TEXT) AS locked FROM movement
     WHERE epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0`,
  );
  const isLimited = db.prepare<[], number>('SELECT followed IS NOT NULL FROM setting').pluck();
  const legsOf = db
    .prepare<[number, number], string>('SELECT legs FROM movement_legs WHERE update_no = ? AND account = ?')
    .pluck();

  function lastUpdateNo(migrationId: number): number {
    return Math.max(0, ...synchronizers.all(migrationId).map((no) => lastOf.get(no) ?? 0));
  }

  function history(wanted: bigint | null): UpdateHistory | null {
    const found = migration.get(wanted === null ? (newest.get() ?? -1) : Number(wanted));
    if (found === undefined) return null;
    const { migrationId, timeReached, importedAt, movementsSince } = found;
    const sealedTo = before.get(migrationId, OPEN_END)?.recordTime ?? null;
    const last = lastUpdateNo(migrationId);
    const appliedTo = Math.max(timeReached, sealedTo ?? timeReached, countedAtOf.get(last) ?? timeReached);
    const begin = importedAt ?? firstTime.get(migrationId)! - 1;
    return { migrationId, begin, appliedTo, movementsSince, sealedTo, lastUpdateNo: last };
  }

  /** Behind the last update that counts at or before a time. */
  function momentAt(migrationId: number, time: Micros): Moment {
    const next = atOrAfter.get(migrationId, time);
    const last = before.get(migrationId, time);
    const end = next?.updateNo ?? lastUpdateNo(migrationId);
    const interval = { seq: next?.seq ?? OPEN_END, epoch: next?.epoch ?? OPEN_END, endNo: end };
    const no =
      next?.recordTime === time ? end : lastCountedAt(migrationId, time, { from: last?.updateNo ?? 0, to: end });
    return { no, interval, firstEpoch: last?.epoch ?? 0 };
  }

  /** A binary search: counted times never fall in feed order. */
  function lastCountedAt(migrationId: number, time: Micros, { from, to }: { from: number; to: number }): number {
    let [low, high] = [from, to + 1];
    while (low + 1 < high) {
      const middle = Math.floor((low + high) / 2);
      const update = updateFrom.get(middle, high, migrationId);
      if (update === undefined) high = middle;
      else if (update.countedAt > time) high = middle;
      else low = update.no;
    }
    return low;
  }

  /** The sums of the changes after a number, up to another. */
  function changeOver({ no: account, epochs }: Account, { firstEpoch, interval, no }: Moment): Amounts {
    const sum = { unlocked: 0n, locked: 0n };
    if (no >= interval.endNo) return sum;
    for (const epoch of epochsUp(epochs, firstEpoch, interval.epoch))
      for (const { unlocked, locked } of changes.iterate(epoch, account, no, interval.endNo)) {
        sum.unlocked += BigInt(unlocked);
        sum.locked += BigInt(locked);
      }
    return sum;
  }

  /**
   * The balance at a moment: what the end of its interval has, less what came in between. So movements that were not yet kept when
   * the interval began are not needed.
   */
  function balanceAt(account: Account, moment: Moment): Amounts {
    const totals = versions.at(account, moment.interval)?.totals;
    const since = changeOver(account, moment);
    return { unlocked: (totals?.unlocked ?? 0n) - since.unlocked, locked: (totals?.locked ?? 0n) - since.locked };
  }

  /** The movements of an account after a moment, up to another. */
  function* ownMovements(account: Account, after: Moment, to: Moment, order: Order): Generator<OwnMovement> {
    if (after.no >= to.no) return;
    const { epoch: lastEpoch } = to.interval;
    const epochs =
      order === 'asc' ? epochsUp(account.epochs, after.firstEpoch, lastEpoch) : epochsDown(account.epochs, lastEpoch);
    for (const epoch of epochs) {
      if (epoch < after.firstEpoch) return;
      for (const { unlocked, locked, ...row } of inOrder[order].iterate(epoch, account.no, after.no, to.no))
        yield { ...row, change: { unlocked: BigInt(unlocked), locked: BigInt(locked) } };
    }
  }

  /** The changes of all accounts that an update moved, the largest first, then by party (UTF-8 bytes). */
  function changesOf({
    updateNo,
    epoch,
    accounts: moved,
  }: OwnMovement): readonly { account: Account; change: Amounts }[] {
    const found = decodeNumbers(moved).map((no) => {
      const row = changes.get(epoch, no, updateNo - 1, updateNo);
      if (row === undefined) throw new Error(`update ${updateNo} has no movement of account ${no}`);
      return { account: accounts.ofNo(no), change: { unlocked: BigInt(row.unlocked), locked: BigInt(row.locked) } };
    });
    return found.sort(bySizeThenParty);
  }

  /** What other rows say of an update: its owners' changes, in order, and the change of the supply. */
  function updateOf(movement: OwnMovement) {
    const moved = changesOf(movement);
    const supplyChange = isLimited.get() === 1 ? null : moved.reduce((sum, { change }) => sum + totalOf(change), 0n);
    return { moved, supplyChange };
  }

  function complete(
    account: Account,
    { updateNo, recordTime, countedAt, updateId, change }: OwnMovement,
    { after, update }: { after: Amounts; update: ReturnType<typeof updateOf> },
  ): Movement {
    const others = update.moved.filter((each) => each.account.no !== account.no && totalOf(each.change) !== 0n);
    const legs = legsOf.get(updateNo, account.no);
    return {
      ...{ updateNo, recordTime, countedAt, updateId: idText(updateId), party: account.party, change, after },
      others: others.slice(0, OTHERS_MAX).map((each) => ({ party: each.account.party, change: totalOf(each.change) })),
      othersCount: others.length,
      supplyChange: update.supplyChange,
      legs: legs === undefined ? null : legsIn(legs),
    };
  }

  function movements(lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, party, from, to, kinds, order, after, untilNo, rows } = lookup;
    const account = accounts.ofParty(migrationId, party);
    const [begin, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, to)];
    if (account === undefined || rows === 0) return [];
    const first = order === 'asc' && after !== null ? { ...begin, no: Math.max(begin.no, after) } : begin;
    const last = { ...end, no: Math.min(end.no, untilNo, order === 'desc' && after !== null ? after - 1 : Infinity) };
    const found: Movement[] = [];
    let [balance, previous]: [Amounts | null, OwnMovement | null] = [null, null];
    for (const movement of ownMovements(account, first, last, order)) {
      if (balance === null || previous === null) {
        const moment = momentAt(migrationId, movement.countedAt);
        balance = balanceAt(account, { ...moment, no: movement.updateNo });
      } else balance = order === 'desc' ? minus(balance, previous.change) : plus(balance, movement.change);
      previous = movement;
      if (kinds !== null && !kinds.includes(movementKind(movement.change))) continue;
      found.push(complete(account, movement, { after: balance, update: updateOf(movement) }));
      if (found.length === rows) break;
    }
    return found;
  }

  return { history, momentAt, balanceAt, ownMovements, updateOf, complete, movements };
}

function bySizeThenParty(
  a: { readonly account: Account; readonly change: Amounts },
  b: { readonly account: Account; readonly change: Amounts },
): number {
  const [x, y] = [absolute(totalOf(a.change)), absolute(totalOf(b.change))];
  if (x !== y) return x > y ? -1 : 1;
  return Buffer.compare(Buffer.from(a.account.party), Buffer.from(b.account.party));
}

export function totalOf({ unlocked, locked }: Amounts): bigint {
  return unlocked + locked;
}

export function absolute(units: bigint): bigint {
  return units < 0n ? -units : units;
}

function plus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked + b.unlocked, locked: a.locked + b.locked };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked - b.unlocked, locked: a.locked - b.locked };
}

/** As views/write stores them: a JSON list of [side, counterparty, amount in units, reason]. */
function legsIn(text: string): readonly MovementLeg[] {
  const rows = JSON.parse(text) as readonly [MovementLeg['side'], string | null, string, string | null][];
  return rows.map(([side, counterparty, amount, reason]) => ({ side, counterparty, amount: BigInt(amount), reason }));
}
