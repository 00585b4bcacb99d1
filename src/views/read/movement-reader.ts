import type { Database } from 'better-sqlite3';
import type { Order } from '../../holdings/facts.ts';
import {
  type AllMovementsLookup,
  type Amounts,
  type Movement,
  type MovementLeg,
  type MovementsLookup,
  movementKind,
  OTHERS_MAX,
  type Period,
  type PlacedMovement,
  type StatementLookup,
  type UpdateHistory,
} from '../../holdings/movement-facts.ts';
import { createStatement } from '../../holdings/statement.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import { epochsDown, epochsUp } from '../store/account-epochs.ts';
import { decodeNumbers, parseColumn } from '../store/stored-rows.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';

/** An interval between snapshots: its updates are those after `startNo`, up to `endNo`. */
interface Interval {
  readonly seq: number;
  readonly epoch: number;
  readonly startNo: number;
  readonly endNo: number;
  /** The time of the snapshot that it begins with; -1 for none. */
  readonly begin: Micros;
  /** Of the one that ends it; larger than all times where it is open. */
  readonly end: Micros;
  /** The epoch before which it has no rows. */
  readonly firstEpoch: number;
}

/** A point in a migration's order of updates: behind the update of that number. */
export interface Moment {
  readonly no: number;
  readonly interval: Interval;
}

/** A moment, as far as movements are found by it. */
interface Bound extends Pick<Moment, 'no'> {
  readonly interval: Pick<Interval, 'epoch' | 'firstEpoch'>;
}

interface UpdateRow {
  readonly updateNo: number;
  readonly recordTime: Micros;
  readonly countedAt: Micros;
  readonly updateId: StoredId;
  /** The accounts that it moved. */
  readonly accounts: Buffer;
}

/** A movement without what other rows say of it. `epoch`: of all movements of its update. */
export interface OwnMovement extends UpdateRow {
  readonly epoch: number;
  readonly change: Amounts;
}

type Columns = Readonly<Record<keyof Amounts, string>>;

type SnapshotEnd = Readonly<Record<'recordTime' | 'seq' | 'epoch' | 'updateNo', number>>;

/** Larger than all numbers of a store. */
const OPEN_END = Number.MAX_SAFE_INTEGER;

const COUNTED_AT = 'coalesce(counted_at, record_time)';
/** In the order of the numbers: the index by synchronizer would make SQLite sort all of them. */
const OF_MIGRATION = '+synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0)';
const UPDATE = `u.no AS updateNo, record_time AS recordTime, ${COUNTED_AT} AS countedAt, update_id AS updateId, accounts`;
const CHANGE = 'CAST(unlocked AS TEXT) AS unlocked, CAST(locked AS TEXT) AS locked';

export type MovementReader = ReturnType<typeof createMovementReader>;

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
    .prepare<[number], Micros>(
      'SELECT first_time FROM synchronizer WHERE no = (SELECT min(no) FROM synchronizer WHERE migration_id = ? + 0)',
    )
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
  const updateFrom = db.prepare<[number, number, number], UpdateRow>(
    `SELECT ${UPDATE} FROM ledger_update u WHERE no >= ? + 0 AND no < ? + 0 AND ${OF_MIGRATION} ORDER BY no LIMIT 1`,
  );
  const updatesDown = db.prepare<[number, number, number], UpdateRow>(
    `SELECT ${UPDATE} FROM ledger_update u WHERE no > ? + 0 AND no <= ? + 0 AND ${OF_MIGRATION} ORDER BY no DESC`,
  );
  const countedAtOf = db.prepare<[number], Micros>(`SELECT ${COUNTED_AT} FROM ledger_update WHERE no = ? + 0`).pluck();
  const between = (order: Order) =>
    db.prepare<[number, number, number, number], UpdateRow & Columns & { readonly epoch: number }>(
      `SELECT m.epoch AS epoch, ${CHANGE}, ${UPDATE} FROM movement m CROSS JOIN ledger_update u ON u.no = update_no
       WHERE m.epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0 ORDER BY update_no ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  const changes = db.prepare<[number, number, number, number], Columns>(
    `SELECT ${CHANGE} FROM movement
     WHERE epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0`,
  );
  // An update of the Ledger API form, of which the migration is stored, comes from a participant, which may not show all owners.
  const limited = db
    .prepare<[], number>('SELECT followed IS NOT NULL OR source_migration_id IS NOT NULL FROM setting')
    .pluck();
  const isLimited = (): boolean => limited.get() === 1;
  const store = db.prepare<[], string>('SELECT directory_id FROM setting').pluck();
  const legsOf = db
    .prepare<[number, number], string>('SELECT legs FROM movement_legs WHERE update_no = ? + 0 AND account = ? + 0')
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
    return { migrationId, begin, appliedTo, movementsSince, sealedTo, lastUpdateNo: last, store: store.get()! };
  }

  /** That in which an update of this counted time is. */
  function intervalAt(migrationId: number, time: Micros): Interval {
    const next = atOrAfter.get(migrationId, time);
    const last = before.get(migrationId, time);
    return {
      ...{ seq: next?.seq ?? OPEN_END, epoch: next?.epoch ?? OPEN_END, firstEpoch: last?.epoch ?? 0 },
      ...{ startNo: last?.updateNo ?? 0, endNo: next?.updateNo ?? lastUpdateNo(migrationId) },
      ...{ begin: last?.recordTime ?? -1, end: next?.recordTime ?? OPEN_END },
    };
  }

  /** Behind the last update that counts at or before a time. */
  function momentAt(migrationId: number, time: Micros): Moment {
    const interval = intervalAt(migrationId, time);
    const no = interval.end === time ? interval.endNo : lastCountedAt(migrationId, time, interval);
    return { no, interval };
  }

  /** A binary search: counted times never fall in feed order. */
  function lastCountedAt(migrationId: number, time: Micros, { startNo, endNo }: Interval): number {
    let [low, high] = [startNo, endNo + 1];
    while (low + 1 < high) {
      const middle = Math.floor((low + high) / 2);
      const update = updateFrom.get(middle, high, migrationId);
      if (update === undefined || update.countedAt > time) high = middle;
      else low = update.updateNo;
    }
    return low;
  }

  /** The sums of the changes after a moment, up to the end of its interval. */
  function changeAfter(
    { no: account, epochs }: Account,
    { interval, no }: Moment,
    onRows: (rows: number) => void,
  ): Amounts {
    const sum = { unlocked: 0n, locked: 0n };
    if (no >= interval.endNo) return sum;
    for (const epoch of epochsUp(epochs, interval.firstEpoch, interval.epoch))
      for (const { unlocked, locked } of changes.iterate(epoch, account, no, interval.endNo)) {
        onRows(1);
        sum.unlocked += BigInt(unlocked);
        sum.locked += BigInt(locked);
      }
    return sum;
  }

  /**
   * The balance at a moment: what the end of its interval has, less what came in between. So movements that were not yet kept when
   * the interval began are not needed. `onRows` may throw where too many rows are read.
   */
  function balanceAt(account: Account, moment: Moment, onRows: (rows: number) => void = () => {}): Amounts {
    const totals = versions.at(account, moment.interval)?.totals;
    const since = changeAfter(account, moment, onRows);
    return { unlocked: (totals?.unlocked ?? 0n) - since.unlocked, locked: (totals?.locked ?? 0n) - since.locked };
  }

  /** The movements of an account after a moment, up to another. */
  function* ownMovements(account: Account, after: Bound, to: Bound, order: Order): Generator<OwnMovement> {
    if (after.no >= to.no) return;
    const { firstEpoch } = after.interval;
    const { epoch: lastEpoch } = to.interval;
    const epochs =
      order === 'asc' ? epochsUp(account.epochs, firstEpoch, lastEpoch) : epochsDown(account.epochs, lastEpoch);
    for (const epoch of epochs) {
      if (epoch < firstEpoch) return;
      for (const { unlocked, locked, ...row } of inOrder[order].iterate(epoch, account.no, after.no, to.no))
        yield { ...row, change: { unlocked: BigInt(unlocked), locked: BigInt(locked) } };
    }
  }

  function changeIn(epoch: number, account: number, updateNo: number): Amounts | null {
    const row = changes.get(epoch, account, updateNo - 1, updateNo);
    return row === undefined ? null : { unlocked: BigInt(row.unlocked), locked: BigInt(row.locked) };
  }

  /** The changes of all accounts that an update moved. */
  function* changesOf({ updateNo, epoch, accounts: moved }: Pick<OwnMovement, 'updateNo' | 'epoch' | 'accounts'>) {
    for (const no of decodeNumbers(moved)) {
      const change = changeIn(epoch, no, updateNo);
      if (change === null) throw new Error(`update ${updateNo} has no movement of account ${no}`);
      yield { no, change };
    }
  }

  /** What other rows say of an update: its owners' changes, the largest first, then by party (UTF-8 bytes); and that of the supply. */
  function updateOf(
    update: Pick<OwnMovement, 'updateNo' | 'epoch' | 'accounts'>,
    changes: Iterable<{ readonly no: number; readonly change: Amounts }> = changesOf(update),
  ) {
    const moved = Array.from(changes, ({ no, change }) => ({ account: accounts.ofNo(no), change }));
    const supplyChange = isLimited() ? null : moved.reduce((sum, { change }) => sum + totalOf(change), 0n);
    // Those whose total it left as it was are the last ones.
    const totalsChanged = moved.filter(({ change }) => totalOf(change) !== 0n).length;
    return { moved: moved.sort(bySizeThenParty), totalsChanged, supplyChange };
  }

  function complete(
    account: Account,
    { updateNo, recordTime, countedAt, updateId }: UpdateRow,
    { change, after, update }: { change: Amounts; after: Amounts; update: ReturnType<typeof updateOf> },
  ): Movement {
    const { moved, totalsChanged, supplyChange } = update;
    const first = moved.slice(0, Math.min(OTHERS_MAX + 1, totalsChanged));
    const others = first.filter((each) => each.account.no !== account.no);
    const legs = legsOf.get(updateNo, account.no);
    return {
      ...{ updateNo, recordTime, countedAt, updateId: idText(updateId), party: account.party, change, after },
      others: others.slice(0, OTHERS_MAX).map((each) => ({ party: each.account.party, change: totalOf(each.change) })),
      othersCount: totalsChanged - (totalOf(change) === 0n ? 0 : 1),
      supplyChange,
      legs: legs === undefined ? null : parseColumn<readonly MovementLeg[]>('movement_legs.legs', legs, JSON.parse),
    };
  }

  function movements(lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, party, from, to, kinds, order, after, untilNo, rows } = lookup;
    const account = accounts.ofParty(migrationId, party);
    if (account === undefined || rows === 0) return [];
    const [begin, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, to)];
    const first = order === 'asc' && after !== null ? { ...begin, no: Math.max(begin.no, after) } : begin;
    const last = { ...end, no: Math.min(end.no, untilNo, order === 'desc' && after !== null ? after - 1 : Infinity) };
    const found: Movement[] = [];
    let [balance, previous]: [Amounts | null, OwnMovement | null] = [null, null];
    for (const movement of ownMovements(account, first, last, order)) {
      const { change, countedAt, updateNo: no } = movement;
      if (balance === null || previous === null)
        balance = balanceAt(account, { no, interval: intervalAt(migrationId, countedAt) });
      else balance = order === 'desc' ? minus(balance, previous.change) : plus(balance, change);
      previous = movement;
      if (kinds !== null && !kinds.includes(movementKind(change))) continue;
      found.push(complete(account, movement, { change, after: balance, update: updateOf(movement) }));
      if (found.length === rows) break;
    }
    return found;
  }

  /** Going down, an account's balance before a movement is its balance behind the next older one: it is looked up once. */
  function allMovements({
    migrationId,
    from,
    to,
    min,
    after,
    untilNo,
    rows,
  }: AllMovementsLookup): readonly PlacedMovement[] {
    const [{ no: beginNo }, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, to)];
    const balances = new Map<number, Amounts>();
    const found: PlacedMovement[] = [];
    let { interval } = end;
    let epoch: number | null = null;
    for (const row of updatesDown.iterate(beginNo, Math.min(end.no, after?.updateNo ?? untilNo), migrationId)) {
      const { updateNo, countedAt } = row;
      if (countedAt <= interval.begin) [interval, epoch] = [intervalAt(migrationId, countedAt), null];
      epoch ??= epochOf(row, interval);
      // Without one, nothing moved.
      if (epoch === null) continue;
      const changes = [...changesOf({ ...row, epoch })];
      const isLarge = ({ change }: { readonly change: Amounts }): boolean => absolute(totalOf(change)) >= min;
      const update = changes.some(isLarge) ? updateOf({ ...row, epoch }, changes) : NOTHING_LISTED;
      for (const [place, { account, change }] of update.moved.entries()) {
        if (!isLarge({ change }) || (updateNo === after?.updateNo && place <= after.place)) continue;
        const balance = balances.get(account.no) ?? balanceAt(account, { no: updateNo, interval });
        balances.set(account.no, balance);
        found.push({ ...complete(account, row, { change, after: balance, update }), place });
        if (found.length === rows) return found;
      }
      for (const { no, change } of changes) {
        const balance = balances.get(no);
        if (balance !== undefined) balances.set(no, minus(balance, change));
      }
    }
    return found;
  }

  /** The epoch of an interval's movements, by an update in it; null where that has none. */
  function epochOf(
    { updateNo, accounts: moved }: UpdateRow,
    { firstEpoch, epoch: lastEpoch }: Interval,
  ): number | null {
    const [no] = decodeNumbers(moved);
    if (no === undefined) return null;
    const epochs = epochsUp(accounts.ofNo(no).epochs, firstEpoch, lastEpoch);
    return epochs.find((epoch) => changeIn(epoch, no, updateNo) !== null) ?? null;
  }

  /** One pass over the movements. */
  function statement({ migrationId, party, from, ends, untilNo }: StatementLookup): readonly Period[] {
    const account = accounts.ofParty(migrationId, party);
    const [begin, end] = [momentAt(migrationId, from), momentAt(migrationId, ends.at(-1)!)];
    const isSupplyKnown = !isLimited();
    const opening = account === undefined ? 0n : totalOf(balanceAt(account, begin));
    const { add, periods } = createStatement({ opening, from, ends, isSupplyKnown });
    if (account === undefined) return periods();
    for (const movement of ownMovements(account, begin, { ...end, no: Math.min(end.no, untilNo) }, 'asc')) {
      const isAsked = isSupplyKnown && totalOf(movement.change) !== 0n;
      add({ ...movement, supplyChange: isAsked ? supplyChangeOf(movement) : null });
    }
    return periods();
  }

  function supplyChangeOf(movement: OwnMovement): bigint {
    return changesOf(movement).reduce((sum, { change }) => sum + totalOf(change), 0n);
  }

  return {
    history,
    intervalAt,
    momentAt,
    balanceAt,
    ownMovements,
    updateOf,
    complete,
    movements,
    allMovements,
    statement,
  };
}

const NOTHING_LISTED = { moved: [], totalsChanged: 0, supplyChange: null };

function bySizeThenParty(
  a: { readonly account: Account; readonly change: Amounts },
  b: { readonly account: Account; readonly change: Amounts },
): number {
  const [x, y] = [absolute(totalOf(a.change)), absolute(totalOf(b.change))];
  if (x !== y) return x > y ? -1 : 1;
  return Buffer.compare(Buffer.from(a.account.party), Buffer.from(b.account.party));
}

function totalOf({ unlocked, locked }: Amounts): bigint {
  return unlocked + locked;
}

function absolute(units: bigint): bigint {
  return units < 0n ? -units : units;
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked + b.unlocked, locked: a.locked + b.locked };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked - b.unlocked, locked: a.locked - b.locked };
}
