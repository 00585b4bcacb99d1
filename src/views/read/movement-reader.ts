import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import type { Order } from '../../holdings/facts.ts';
import {
  type Amounts,
  type Movement,
  type MovementsLookup,
  movementKind,
  type UpdateHistory,
} from '../../holdings/movement-facts.ts';
import { lazy } from '../../lazy.ts';
import type { Micros } from '../../ledger/time.ts';
import { epochsDown, epochsUp } from '../store/account-epochs.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';
import { type RowBudget, takeRows, UNBOUNDED } from './stored-snapshots.ts';
import {
  absolute,
  CHANGE,
  type Columns,
  createEffectReader,
  totalOf,
  type UpdateEpoch,
  type UpdateRow,
} from './update-effects.ts';

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

/** A movement without what other rows say of it. `epoch`: of all movements of its update. */
export type OwnMovement = UpdateRow & UpdateEpoch & { readonly change: Amounts };

interface MovementRange {
  readonly after: Bound;
  readonly to: Bound;
  readonly order: Order;
}

type SnapshotEnd = Readonly<Record<'recordTime' | 'seq' | 'epoch' | 'updateNo', number>>;

/** Larger than all numbers of a store. */
export const OPEN_END = Number.MAX_SAFE_INTEGER;

const COUNTED_AT = 'coalesce(counted_at, record_time)';
/** In the order of the numbers: the index by synchronizer would make SQLite sort all of them. */
export const OF_MIGRATION = '+synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0)';
export const UPDATE = `u.no AS updateNo, record_time AS recordTime, ${COUNTED_AT} AS countedAt, update_id AS updateId, accounts`;

export type MovementReader = ReturnType<typeof createMovementReader>;

/** Reads movements and balances at any time. `? + 0`: see views/store/database.ts. */
export function createMovementReader(
  db: Database,
  { accounts, versions, hasTokens }: { accounts: AccountReader; versions: VersionReader; hasTokens: () => boolean },
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
  const betweenOfMany = (order: Order) =>
    db.prepare<[string, number, number, number], UpdateRow & UpdateEpoch & Columns>(
      `SELECT m.epoch AS epoch, ${CHANGE}, ${UPDATE} FROM json_each(?) j
       CROSS JOIN movement m ON m.epoch = ? + 0 AND m.account = j.value AND update_no > ? + 0 AND update_no <= ? + 0
       CROSS JOIN ledger_update u ON u.no = update_no ORDER BY update_no ${order}`,
    );
  // The event loop, which has no statement that sorts, reads no tokens.
  const ofManyInOrder = lazy(() => ({ asc: betweenOfMany('asc'), desc: betweenOfMany('desc') }));
  const updatesOfToken = lazy(() =>
    db
      .prepare<[number, number, number, number], number>(
        `SELECT DISTINCT update_no FROM account a
       CROSS JOIN movement m ON m.epoch = ? + 0 AND m.account = a.id AND update_no > ? + 0 AND update_no <= ? + 0
       WHERE a.instrument = ? + 0 ORDER BY update_no DESC`,
      )
      .pluck(),
  );
  const lastEpoch = db.prepare<[], number | null>('SELECT max(no) FROM epoch').pluck();
  const effects = createEffectReader(db, { accounts, hasTokens });
  const { effectsOf, complete, changesOf, epochOf } = effects;

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
  function* ofAccount(
    account: Account,
    { after, to, order }: MovementRange,
    budget: RowBudget,
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

  /** The same of several accounts, in the order of the updates. */
  function* ofAccounts(accounts: readonly Account[], { after, to, order }: MovementRange): Generator<OwnMovement> {
    if (after.no >= to.no) return;
    const epochs = new Set(
      accounts.flatMap((account) => [...epochsUp(account.epochs, after.interval.firstEpoch, to.interval.epoch)]),
    );
    const nos = JSON.stringify(accounts.map(({ no }) => no));
    const ascending = [...epochs].sort((a, b) => a - b);
    for (const epoch of order === 'asc' ? ascending : ascending.reverse())
      for (const { unlocked, locked, ...row } of ofManyInOrder()[order].iterate(nos, epoch, after.no, to.no))
        yield { ...row, change: { unlocked: BigInt(unlocked), locked: BigInt(locked) } };
  }

  function ownMovements(
    accounts: readonly Account[],
    range: MovementRange,
    budget: RowBudget = UNBOUNDED,
  ): Generator<OwnMovement> {
    return accounts.length === 1 ? ofAccount(accounts[0]!, range, budget) : ofAccounts(accounts, range);
  }

  /**
   * Returns the function that reads the balance of a party's accounts at moments, each at or before the one before it: what the end of its interval has,
   * less what came in between, of which nothing is read twice. So movements that were not yet kept when the interval began are not needed.
   */
  function balancesOf(accounts: readonly Account[], budget?: RowBudget): (moment: Moment) => Amounts {
    let last: (Moment & { readonly balance: Amounts }) | null = null;
    return (moment) => {
      const { no, interval } = moment;
      let { no: to, balance } =
        last?.interval.seq === interval.seq
          ? last
          : { no: interval.endNo, balance: versions.totalsAt(accounts, interval) };
      const range = { after: moment, to: { no: to, interval }, order: 'desc' } as const;
      for (const { change } of ownMovements(accounts, range, budget)) balance = minus(balance, change);
      last = { no, interval, balance };
      return balance;
    };
  }

  function movementsOf(party: string, lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, from, to: until, order, after: behind, untilNo, rows } = lookup;
    const all = accounts.ofParty(lookup, party);
    if (all.length === 0 || rows === 0) return [];
    // Of several accounts an update may have several movements, and a page may end between them.
    const isOne = all.length === 1;
    const [begin, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, until)];
    const after = { ...begin, no: Math.max(begin.no, order === 'asc' ? (behind?.updateNo ?? 0) - (isOne ? 0 : 1) : 0) };
    const to = {
      ...end,
      no: Math.min(end.no, untilNo, order === 'desc' ? (behind?.updateNo ?? OPEN_END) - (isOne ? 1 : 0) : OPEN_END),
    };
    const own = ownMovements(all, { after, to, order });
    const listed = isOne ? own.filter(({ change }) => isListed(change, lookup)) : firstsOfUpdates(own);
    const found = listed.flatMap((each) => (isOne ? [{ each, no: all[0]!.no }] : movedIn(each, party, lookup)));
    const taken = found.take(rows).toArray();
    const balances = new Map<number, ReturnType<typeof balancesOf>>();
    let last: { readonly updateNo: number; readonly effects: ReturnType<typeof effectsOf> } | null = null;
    const completed = (order === 'asc' ? taken.toReversed() : taken).map(({ each, no }) => {
      // Many movements may be of one update, and then come one after the other.
      if (last?.updateNo !== each.updateNo) last = { updateNo: each.updateNo, effects: effectsOf(each, lookup) };
      const { effects } = last;
      const place = effects.moved.findIndex(({ account }) => account.no === no);
      const moment = { no: each.updateNo, interval: intervalAt(migrationId, each.countedAt) };
      const balanceAt = getOrMake(balances, no, () => balancesOf([effects.moved[place]!.account]));
      return complete(each, effects, { place, after: balanceAt(moment) });
    });
    return order === 'asc' ? completed.reverse() : completed;
  }

  /** The accounts of a party that an update moved, in their order, behind the last movement. */
  function movedIn(each: OwnMovement, party: string, lookup: MovementsLookup) {
    const behind = lookup.after?.updateNo === each.updateNo ? lookup.after.place : -1;
    return effectsOf(each, lookup).moved.flatMap(({ account, change }, place) =>
      account.party === party && place > behind && isListed(change, lookup) ? [{ each, no: account.no }] : [],
    );
  }

  /** The updates of a token, the last first, and the epochs of their movements. */
  function* tokenUpdates(no: number, { after, to }: { after: Moment; to: number }, migrationId: number) {
    for (let epoch = lastEpoch.get() ?? 0; epoch >= after.interval.firstEpoch; epoch--)
      for (const updateNo of updatesOfToken().iterate(epoch, after.no, to, no))
        yield updateFrom.get(updateNo, updateNo + 1, migrationId)!;
  }

  function allMovements(lookup: MovementsLookup): readonly Movement[] {
    const { migrationId, from, to, after: last, untilNo, rows } = lookup;
    const [begin, end] = [momentAt(migrationId, from - 1), momentAt(migrationId, to)];
    const no = accounts.noOf(lookup);
    const until = Math.min(end.no, last?.updateNo ?? untilNo);
    if (no === undefined) return [];
    const balances = new Map<number, ReturnType<typeof balancesOf>>();
    const found: Movement[] = [];
    let { interval } = end;
    for (const row of no === null
      ? updatesDown.iterate(begin.no, until, migrationId)
      : tokenUpdates(no, { after: begin, to: until }, migrationId)) {
      const { updateNo, countedAt } = row;
      if (countedAt <= interval.begin) interval = intervalAt(migrationId, countedAt);
      const epoch = epochOf(row, interval);
      if (epoch === null) continue;
      const changes = [...changesOf({ ...row, epoch }, lookup)];
      if (!changes.some(({ change }) => isListed(change, lookup))) continue;
      const effects = effectsOf({ ...row, epoch }, lookup, changes);
      for (const [place, { account, change }] of effects.moved.entries()) {
        if (!isListed(change, lookup) || (updateNo === last?.updateNo && place <= last.place)) continue;
        const balanceAt = getOrMake(balances, account.no, () => balancesOf([account]));
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
    ...effects,
    movements: (lookup: MovementsLookup) =>
      lookup.party === null ? allMovements(lookup) : movementsOf(lookup.party, lookup),
  };
}

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

function* firstsOfUpdates(movements: Iterable<OwnMovement>): Generator<OwnMovement> {
  let last = 0;
  for (const movement of movements) {
    if (movement.updateNo !== last) yield movement;
    last = movement.updateNo;
  }
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked + b.unlocked, locked: a.locked + b.locked };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return { unlocked: a.unlocked - b.unlocked, locked: a.locked - b.locked };
}
