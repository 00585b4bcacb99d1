import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
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
import { decodeNumbers, parseColumn } from '../store/stored-rows.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';
import { type RowBudget, takeRows, UNBOUNDED } from './stored-snapshots.ts';

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

export interface UpdateRow {
  readonly updateNo: number;
  readonly recordTime: Micros;
  readonly countedAt: Micros;
  readonly updateId: StoredId;
  /** The accounts that it moved. */
  readonly accounts: Buffer;
}

type UpdateEpoch = { readonly epoch: number };

/** A movement without what other rows say of it. `epoch`: of all movements of its update. */
export type OwnMovement = UpdateRow & UpdateEpoch & { readonly change: Amounts };

/** What an update changed in the account of that number. */
type AccountChange = { readonly no: number; readonly change: Amounts };

type Columns = Readonly<Record<keyof Amounts, string>>;

type SnapshotEnd = Readonly<Record<'recordTime' | 'seq' | 'epoch' | 'updateNo', number>>;

/** Larger than all numbers of a store. */
export const OPEN_END = Number.MAX_SAFE_INTEGER;

const COUNTED_AT = 'coalesce(counted_at, record_time)';
/** In the order of the numbers: the index by synchronizer would make SQLite sort all of them. */
const OF_MIGRATION = '+synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0)';
export const UPDATE = `u.no AS updateNo, record_time AS recordTime, ${COUNTED_AT} AS countedAt, update_id AS updateId, accounts`;
const CHANGE = 'CAST(unlocked AS TEXT) AS unlocked, CAST(locked AS TEXT) AS locked';

export type MovementReader = ReturnType<typeof createMovementReader>;

/** Reads movements and balances at any time. `? + 0`: see views/store/database.ts. */
export function createMovementReader(
  db: Database,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
) {
  const historyOf = db.prepare<
    [bigint | null],
    Omit<UpdateHistory, 'appliedTo' | 'lastUpdateNo'> & { readonly timeReached: Micros }
  >(
    `SELECT migration_id AS migrationId, time_reached AS timeReached, movements_since AS movementsSince, directory_id AS store,
       (SELECT max(record_time) FROM snapshot s WHERE s.migration_id = m.migration_id) AS sealedTo,
       coalesce(seeded_at,
         (SELECT first_time - 1 FROM synchronizer WHERE no =
         (SELECT min(no) FROM synchronizer s WHERE s.migration_id = m.migration_id))) AS begin
     FROM migration m JOIN setting WHERE update_time IS NOT NULL
     AND migration_id = coalesce(? + 0, (SELECT max(migration_id) FROM migration WHERE update_time IS NOT NULL))`,
  );
  const snapshotAt = (rest: string) =>
    db.prepare<[number, Micros], SnapshotEnd>(
      `SELECT record_time AS recordTime, seq, epoch, update_no AS updateNo FROM snapshot WHERE migration_id = ? + 0 AND ${rest} LIMIT 1`,
    );
  const atOrAfter = snapshotAt('record_time >= ? + 0 ORDER BY record_time');
  const before = snapshotAt('record_time < ? + 0 ORDER BY record_time DESC');
  // Among those of a synchronizer's last time the last in feed order: repairs have several.
  const lastUpdate = db
    .prepare<[number], number | null>(
      `SELECT max((SELECT no FROM ledger_update WHERE synchronizer = s.no ORDER BY record_time DESC, no DESC LIMIT 1))
       FROM synchronizer s WHERE migration_id = ? + 0`,
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
    db.prepare<[number, number, number, number], UpdateRow & UpdateEpoch & Columns>(
      `SELECT m.epoch AS epoch, ${CHANGE}, ${UPDATE} FROM movement m CROSS JOIN ledger_update u ON u.no = update_no
       WHERE m.epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0 ORDER BY update_no ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  const changeOf = db.prepare<[number, number, number], Columns>(
    `SELECT ${CHANGE} FROM movement WHERE epoch = ? + 0 AND account = ? + 0 AND update_no = ? + 0`,
  );
  // An update of the Ledger API form, of which the migration is stored, comes from a participant, which may not show all owners.
  const limited = db
    .prepare<[], number>('SELECT followed IS NOT NULL OR source_migration_id IS NOT NULL FROM setting')
    .pluck();
  const isLimited = (): boolean => limited.get() === 1;
  const legsOf = db
    .prepare<[number, number], string>('SELECT legs FROM movement_legs WHERE update_no = ? + 0 AND account = ? + 0')
    .pluck();

  const lastUpdateNo = (migrationId: number): number => lastUpdate.get(migrationId) ?? 0;

  function history(wanted: bigint | null): UpdateHistory | null {
    const found = historyOf.get(wanted);
    if (found === undefined) return null;
    const { timeReached, ...facts } = found;
    const last = lastUpdateNo(facts.migrationId);
    const appliedTo = Math.max(timeReached, facts.sealedTo ?? timeReached, countedAtOf.get(last) ?? timeReached);
    return { ...facts, appliedTo, lastUpdateNo: last };
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
    const { startNo, endNo, end } = interval;
    // Counted times never fall in feed order.
    const isCounted = (no: number): boolean =>
      (updateFrom.get(no, endNo + 1, migrationId)?.countedAt ?? OPEN_END) <= time;
    return { no: end === time ? endNo : lastOf({ first: startNo, end: endNo + 1 }, isCounted), interval };
  }

  /** An epoch before which no movement of a migration lies from an update on: that of the last snapshot before it. */
  function firstEpochOf(migrationId: number, updateNo: number): number {
    const isBefore = (time: Micros): boolean => (before.get(migrationId, time)?.updateNo ?? 0) < updateNo;
    const time = isBefore(OPEN_END) ? OPEN_END : lastOf({ first: 0, end: OPEN_END }, isBefore);
    return before.get(migrationId, time)?.epoch ?? 0;
  }

  /** The movements of an account after a moment, up to another. Takes each from the budget, and an epoch like one. Throws NOT_BOUNDED. */
  function* ownMovements(
    account: Account,
    { after, to, order }: { readonly after: Bound; readonly to: Bound; readonly order: Order },
    budget: RowBudget = UNBOUNDED,
  ): Generator<OwnMovement> {
    if (after.no >= to.no) return;
    const { firstEpoch } = after.interval;
    const { epoch: lastEpoch } = to.interval;
    const epochs =
      order === 'asc' ? epochsUp(account.epochs, firstEpoch, lastEpoch) : epochsDown(account.epochs, lastEpoch);
    for (const epoch of epochs) {
      if (epoch < firstEpoch) return;
      takeRows(budget);
      for (const { unlocked, locked, ...row } of inOrder[order].iterate(epoch, account.no, after.no, to.no)) {
        takeRows(budget);
        yield { ...row, change: { unlocked: BigInt(unlocked), locked: BigInt(locked) } };
      }
    }
  }

  /**
   * Returns the function that reads an account's balance at moments, each at or before the one before it: what the end of its interval has,
   * less what came in between, of which nothing is read twice. So movements that were not yet kept when the interval began are not needed.
   */
  function balancesOf(account: Account, budget?: RowBudget): (moment: Moment) => Amounts {
    let last: (Moment & { readonly balance: Amounts }) | null = null;
    return (moment) => {
      const { no, interval } = moment;
      let { no: to, balance } =
        last?.interval.seq === interval.seq
          ? last
          : { no: interval.endNo, balance: versions.at(account, interval)?.totals ?? NOTHING };
      const range = { after: moment, to: { no: to, interval }, order: 'desc' } as const;
      for (const { change } of ownMovements(account, range, budget)) balance = minus(balance, change);
      last = { no, interval, balance };
      return balance;
    };
  }

  function changeIn(epoch: number, account: number, updateNo: number): Amounts | null {
    const row = changeOf.get(epoch, account, updateNo);
    return row === undefined ? null : { unlocked: BigInt(row.unlocked), locked: BigInt(row.locked) };
  }

  /** The changes of all accounts that an update moved. */
  function* changesOf({ updateNo, epoch, accounts: moved }: UpdateRow & UpdateEpoch): Generator<AccountChange> {
    for (const no of decodeNumbers(moved)) {
      const change = changeIn(epoch, no, updateNo);
      if (change === null) throw new Error(`update ${updateNo} has no movement of account ${no}`);
      yield { no, change };
    }
  }

  /** The epoch of the movements of an update, which one of them tells; null where it has none. */
  function epochOf({ updateNo, accounts: moved }: UpdateRow, interval: Bound['interval']): number | null {
    const [no] = decodeNumbers(moved);
    if (no === undefined) return null;
    const epochs = epochsUp(accounts.ofNo(no).epochs, interval.firstEpoch, interval.epoch);
    return epochs.find((epoch) => changeIn(epoch, no, updateNo) !== null) ?? null;
  }

  /** What other rows say of an update: its owners' changes, the largest first, then by party (UTF-8 bytes); and that of the supply. */
  function effectsOf(update: UpdateRow & UpdateEpoch, changes: Iterable<AccountChange> = changesOf(update)) {
    const moved = Array.from(changes, ({ no, change }) => ({ account: accounts.ofNo(no), change }));
    const supplyChange = isLimited() ? null : sumOf(moved);
    // Those whose total it left as it was are the last ones.
    const totalsChanged = moved.filter(({ change }) => totalOf(change) !== 0n).length;
    return { moved: moved.sort(bySizeThenParty), totalsChanged, supplyChange };
  }

  /** The movement at a place of an update. */
  function complete(
    { updateNo, recordTime, countedAt, updateId }: UpdateRow,
    { moved, totalsChanged, supplyChange }: ReturnType<typeof effectsOf>,
    { place, after }: Pick<Movement, 'place' | 'after'>,
  ): Movement {
    const { account, change } = moved[place]!;
    const first = moved.slice(0, Math.min(OTHERS_MAX + 1, totalsChanged));
    const others = first.filter((each) => each.account.no !== account.no);
    const legs = legsOf.get(updateNo, account.no);
    return {
      ...{ updateNo, recordTime, countedAt, updateId: idText(updateId), party: account.party, place, change, after },
      others: others.slice(0, OTHERS_MAX).map((each) => ({ party: each.account.party, change: totalOf(each.change) })),
      othersCount: totalsChanged - (totalOf(change) === 0n ? 0 : 1),
      supplyChange,
      legs: legs === undefined ? null : parseColumn<readonly MovementLeg[]>('movement_legs.legs', legs, JSON.parse),
    };
  }

  function movementsOf(party: string, lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, from, to: until, order, after: last, untilNo, rows } = lookup;
    const account = accounts.ofParty(migrationId, party);
    if (account === undefined || rows === 0) return [];
    const [begin, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, until)];
    const after = { ...begin, no: Math.max(begin.no, order === 'asc' ? (last?.updateNo ?? 0) : 0) };
    const to = {
      ...end,
      no: Math.min(end.no, untilNo, order === 'desc' ? (last?.updateNo ?? OPEN_END) - 1 : OPEN_END),
    };
    const listed = ownMovements(account, { after, to, order }).filter(({ change }) => isListed(change, lookup));
    const found = listed.take(rows).toArray();
    const balanceAt = balancesOf(account);
    const completed = (order === 'asc' ? found.toReversed() : found).map((own) => {
      const effects = effectsOf(own);
      const place = effects.moved.findIndex(({ account: { no } }) => no === account.no);
      const moment = { no: own.updateNo, interval: intervalAt(migrationId, own.countedAt) };
      return complete(own, effects, { place, after: balanceAt(moment) });
    });
    return order === 'asc' ? completed.reverse() : completed;
  }

  function allMovements(lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, from, to, after: last, untilNo, rows } = lookup;
    const [{ no: beginNo }, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, to)];
    const balances = new Map<number, ReturnType<typeof balancesOf>>();
    const found: Movement[] = [];
    let { interval } = end;
    for (const row of updatesDown.iterate(beginNo, Math.min(end.no, last?.updateNo ?? untilNo), migrationId)) {
      const { updateNo, countedAt } = row;
      if (countedAt <= interval.begin) interval = intervalAt(migrationId, countedAt);
      const epoch = epochOf(row, interval);
      if (epoch === null) continue;
      const changes = [...changesOf({ ...row, epoch })];
      if (!changes.some(({ change }) => isListed(change, lookup))) continue;
      const effects = effectsOf({ ...row, epoch }, changes);
      for (const [place, { account, change }] of effects.moved.entries()) {
        if (!isListed(change, lookup) || (updateNo === last?.updateNo && place <= last.place)) continue;
        const balanceAt = getOrMake(balances, account.no, () => balancesOf(account));
        found.push(complete(row, effects, { place, after: balanceAt({ no: updateNo, interval }) }));
        if (found.length === rows) return found;
      }
    }
    return found;
  }

  return {
    history,
    lastUpdateNo,
    intervalAt,
    momentAt,
    firstEpochOf,
    ownMovements,
    balancesOf,
    changesOf,
    epochOf,
    effectsOf,
    complete,
    isLimited,
    movements: (lookup: MovementsLookup) =>
      lookup.party === null ? allMovements(lookup) : movementsOf(lookup.party, lookup),
  };
}

export const NOTHING: Amounts = { unlocked: 0n, locked: 0n };

/** The last of the numbers from `first` on, before `end`, that passes, as do all before it and none behind it; `first` does. */
export function lastOf(
  { first, end }: { readonly first: number; readonly end: number },
  passes: (no: number) => boolean,
): number {
  let [low, high] = [first, end];
  while (low + 1 < high) {
    const middle = low + Math.floor((high - low) / 2);
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function isListed(change: Amounts, { kinds, min }: Pick<MovementsLookup, 'kinds' | 'min'>): boolean {
  return absolute(totalOf(change)) >= min && (kinds === null || kinds.includes(movementKind(change)));
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

export function sumOf(changes: Iterable<{ readonly change: Amounts }>): bigint {
  let sum = 0n;
  for (const { change } of changes) sum += totalOf(change);
  return sum;
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
