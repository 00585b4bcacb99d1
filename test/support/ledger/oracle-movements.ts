import type { HistoryItem, HistoryUpdate, Micros } from './history.ts';
import { countedAt, type Era, type OracleOptions, oracle } from './oracle.ts';
import type { Sums } from './oracle-answers.ts';
import { type Account, accountKey, byAccount, holdingsOf, type Instrument } from './oracle-holdings.ts';
import { plainDecimal, shortTime } from './wire-text.ts';

type Row = Readonly<Record<string, unknown>>;

/** What an update changed in one account. */
export interface OracleMovement {
  /** Null for an account without owner. */
  readonly party: string | null;
  readonly countedAt: Micros;
  readonly change: Sums;
  readonly after: Sums;
  readonly supplyChange: bigint;
  readonly row: Row;
}

/** A migration's movements, update by update in feed order; those of an update as answers order them. */
export interface MovementHistory {
  readonly migrationId: number;
  readonly begin: Micros;
  readonly appliedTo: Micros;
  readonly knowsAll: boolean;
  readonly updates: readonly (readonly OracleMovement[])[];
  /** What an owner has when all counts that counts up to a time. */
  readonly totalAt: (party: string, time: Micros) => bigint;
}

/** What an account has, by its key. */
type AccountSums = ReadonlyMap<string, Account & Sums>;

interface Folding {
  readonly era: Era;
  begin: Micros | null;
  /** What was imported. */
  opening: AccountSums;
  sums: AccountSums;
  readonly updates: OracleMovement[][];
}

interface MovementOptions extends OracleOptions {
  readonly cuts: readonly number[];
  readonly knowsAll: boolean;
  /** The coin unless given. */
  readonly instrument?: Instrument;
}

const NONE: Sums = { unlocked: 0n, locked: 0n };

/** Folds a history into movements: before and after each update all active coins are added up. `cuts`: snapshots are forced behind so many items. */
export function foldMovements(items: readonly HistoryItem[], options: MovementOptions): MovementHistory[] {
  const { knowsAll, instrument = null, ...about } = options;
  const foldings = new Map<number, Folding>();
  const onUpdate = (era: Era, update: HistoryUpdate): void => {
    const { migrationId } = era;
    const none = { begin: null, opening: new Map(), sums: new Map(), updates: [] };
    const folding = foldings.get(migrationId) ?? { era, ...none };
    foldings.set(migrationId, folding);
    const before = folding.sums;
    folding.sums = sumsOf(era, instrument);
    if (update.recordTime === null) folding.opening = folding.sums;
    else applyUpdate(folding, { update, recordTime: update.recordTime, before, knowsAll, instrument });
  };
  oracle(items, { ...about, onUpdate });
  return [...foldings.values()].filter(({ begin }) => begin !== null).map((each) => historyOf(each, knowsAll));
}

function sumsOf({ coins, tokens }: Era, instrument: Instrument | null): AccountSums {
  const sums = new Map<string, Account & Sums>();
  for (const holding of holdingsOf({ coins: coins.values(), tokens: tokens.values() }, instrument)) {
    const { account, amount } = holding;
    const { unlocked, locked } = sums.get(accountKey(account)) ?? NONE;
    const after = holding.locked ? { unlocked, locked: locked + amount } : { unlocked: unlocked + amount, locked };
    sums.set(accountKey(account), { ...account, ...after });
  }
  return sums;
}

function applyUpdate(
  folding: Folding,
  {
    update,
    recordTime,
    before,
    knowsAll,
    instrument,
  }: {
    update: HistoryUpdate;
    recordTime: Micros;
    before: AccountSums;
    knowsAll: boolean;
    instrument: Instrument | null;
  },
): void {
  folding.begin ??= recordTime - 1;
  const time = countedAt(folding.era);
  const changed = [...new Set([...before.keys(), ...folding.sums.keys()])].map((key) => {
    const [old, after] = [before.get(key) ?? NONE, folding.sums.get(key) ?? NONE];
    const change = { unlocked: after.unlocked - old.unlocked, locked: after.locked - old.locked };
    const account = (folding.sums.get(key) ?? before.get(key))!;
    return { account, party: account.owner, change, after, total: change.unlocked + change.locked };
  });
  const moved = changed.filter(({ change }) => change.unlocked !== 0n || change.locked !== 0n);
  moved.sort((a, b) => {
    const larger = size(b.total) - size(a.total);
    return larger === 0n ? byAccount(a.account, b.account) : larger > 0n ? 1 : -1;
  });
  const supply = moved.reduce((sum, { total }) => sum + total, 0n);
  const supplyFields = {
    minted: knowsAll ? plainDecimal(supply > 0n ? supply : 0n) : null,
    burned: knowsAll ? plainDecimal(supply < 0n ? -supply : 0n) : null,
  };
  folding.updates.push(
    moved.map(({ account, party, change, after, total }) => {
      const others = moved.filter((each) => each.account !== account && each.total !== 0n);
      const accountFields = (of: Account): Row =>
        instrument === null ? {} : { provider: of.provider, account_id: of.accountId };
      const row = {
        record_time: shortTime(recordTime),
        counted_at: shortTime(time),
        update_id: update.updateId,
        ...accountFields(account),
        kind: total > 0n ? 'in' : total < 0n ? 'out' : change.locked > 0n ? 'lock' : 'unlock',
        change_unlocked: plainDecimal(change.unlocked),
        change_locked: plainDecimal(change.locked),
        change_total: plainDecimal(total),
        unlocked: plainDecimal(after.unlocked),
        locked: plainDecimal(after.locked),
        total: plainDecimal(after.unlocked + after.locked),
        others: others.slice(0, 10).map((each) => {
          return { party_id: each.party, ...accountFields(each.account), change_total: plainDecimal(each.total) };
        }),
        others_count: others.length,
        ...supplyFields,
        legs: null,
      };
      return { party, countedAt: time, change, after, supplyChange: supply, row };
    }),
  );
}

function size(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function historyOf({ era, begin, opening, updates }: Folding, knowsAll: boolean): MovementHistory {
  const totalAt = (party: string, time: Micros): bigint => {
    const imported = [...opening.values()].filter(({ owner }) => owner === party);
    const later = updates.flat().filter((each) => each.party === party && each.countedAt <= time);
    const sums = [...imported, ...later.map(({ change }) => change)];
    return sums.reduce((sum, { unlocked, locked }) => sum + unlocked + locked, 0n);
  };
  const appliedTo = Math.max(era.reached, updates.flat().at(-1)?.countedAt ?? 0);
  return { migrationId: era.migrationId, begin: begin!, appliedTo, knowsAll, updates, totalAt };
}

/** The rows of a statement whose periods end at these times, by the definition of each field. */
export function statementRows(
  { updates, totalAt, knowsAll }: MovementHistory,
  { party, from, ends }: { party: string; from: Micros; ends: readonly Micros[] },
): Row[] {
  const own = updates.flat().filter((each) => each.party === party);
  return ends.map((to, i) => {
    const begin = ends[i - 1] ?? from;
    const inside = own.filter(({ countedAt }) => countedAt > begin && countedAt <= to);
    const sum = (of: (total: bigint, movement: OracleMovement) => bigint): bigint =>
      inside.reduce((all, each) => all + of(each.change.unlocked + each.change.locked, each), 0n);
    const supplySum = (sign: bigint): string | null => {
      if (!knowsAll) return null;
      const positive = (a: bigint, b: bigint): bigint => (a <= 0n || b <= 0n ? 0n : a < b ? a : b);
      return plainDecimal(sum((total, { supplyChange }) => positive(total * sign, supplyChange * sign)));
    };
    return {
      from: shortTime(begin),
      to: shortTime(to),
      opening: plainDecimal(totalAt(party, begin)),
      received: plainDecimal(sum((total) => (total > 0n ? total : 0n))),
      sent: plainDecimal(sum((total) => (total < 0n ? -total : 0n))),
      locked_change: plainDecimal(sum((_, { change }) => change.locked)),
      closing: plainDecimal(totalAt(party, to)),
      movements: inside.length,
      average_total: average([begin, ...inside.map(({ countedAt }) => countedAt), to], (time) => totalAt(party, time)),
      minted: supplySum(1n),
      burned: supplySum(-1n),
    };
  });
}

/** The area below a step function, divided by its width; a rest of half a unit or more is one. */
function average(steps: readonly Micros[], valueAt: (time: Micros) => bigint): string {
  const width = BigInt(steps.at(-1)! - steps[0]!);
  const area = steps.slice(1).reduce((sum, end, i) => sum + valueAt(steps[i]!) * BigInt(end - steps[i]!), 0n);
  return plainDecimal(area / width + ((area % width) * 2n >= width ? 1n : 0n));
}
