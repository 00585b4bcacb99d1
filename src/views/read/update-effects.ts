import type { Database } from 'better-sqlite3';
import type { AccountName } from '../../holdings/instrument.ts';
import { type Amounts, type Movement, type MovementLeg, OTHERS_MAX } from '../../holdings/movement-facts.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { decodeNumbers, parseColumn } from '../store/stored-rows.ts';
import type { Account, AccountReader, Instrument } from './owner-versions.ts';

export interface UpdateRow {
  readonly updateNo: number;
  readonly recordTime: Micros;
  readonly countedAt: Micros;
  readonly updateId: StoredId;
  readonly accounts: Buffer;
}

export type UpdateEpoch = { readonly epoch: number };

type AccountChange = { readonly no: number; readonly change: Amounts; readonly name?: AccountName };

type Moved = { readonly account: Account; readonly change: Amounts; readonly name?: AccountName };

export type Columns = Readonly<Record<keyof Amounts, string>>;

export const CHANGE = 'CAST(unlocked AS TEXT) AS unlocked, CAST(locked AS TEXT) AS locked';

/** Reads what an update changed in the accounts of an instrument. `? + 0`: see views/store/database.ts. */
export function createEffectReader(
  db: Database,
  { accounts, hasTokens }: { accounts: AccountReader; hasTokens: () => boolean },
) {
  const changeOf = db.prepare<[number, number, number], Columns>(
    `SELECT ${CHANGE} FROM movement WHERE epoch = ? + 0 AND account = ? + 0 AND update_no = ? + 0`,
  );
  const isLimited = prepareIsLimited(db);
  const legsOf = db
    .prepare<[number, number], string>('SELECT legs FROM movement_legs WHERE update_no = ? + 0 AND account = ? + 0')
    .pluck();
  const coinOf = db.prepare<[number], number | null>('SELECT coin FROM migration WHERE migration_id = ? + 0').pluck();
  const accountNamed = db.prepare<[number], { instrument: number; provider: string; accountId: string }>(
    'SELECT instrument, provider, account_id AS accountId FROM account WHERE id = ? + 0',
  );

  function changeIn(epoch: number, account: number, updateNo: number): Amounts | null {
    const row = changeOf.get(epoch, account, updateNo);
    return row === undefined ? null : { unlocked: BigInt(row.unlocked), locked: BigInt(row.locked) };
  }

  /** The changes of all accounts of an instrument that an update moved. */
  function* changesOf(
    { updateNo, epoch, accounts: moved }: UpdateRow & UpdateEpoch,
    of: Instrument,
  ): Generator<AccountChange> {
    const isOfMany = hasTokens();
    const wanted = !isOfMany ? null : of.instrument === undefined ? coinOf.get(of.migrationId) : accounts.noOf(of);
    for (const no of decodeNumbers(moved)) {
      const named = isOfMany ? accountNamed.get(no) : undefined;
      if (named !== undefined && named.instrument !== wanted) continue;
      const change = changeIn(epoch, no, updateNo);
      if (change === null) throw new Error(`update ${updateNo} has no movement of account ${no}`);
      if (named === undefined || of.instrument === undefined) yield { no, change };
      else yield { no, change, name: { provider: named.provider || null, accountId: named.accountId } };
    }
  }

  /** The epoch of the movements of an update, which one of them tells; null where it has none. */
  function epochOf(
    { updateNo, accounts: moved }: UpdateRow,
    interval: { readonly epoch: number; readonly firstEpoch: number },
  ): number | null {
    const [no] = decodeNumbers(moved);
    if (no === undefined) return null;
    const epochs = epochsUp(accounts.ofNo(no).epochs, interval.firstEpoch, interval.epoch);
    return epochs.find((epoch) => changeIn(epoch, no, updateNo) !== null) ?? null;
  }

  /** What other rows say of an update: the changes of accounts, the largest first, then by party, provider and id (UTF-8 bytes); and that of the supply. */
  function effectsOf(
    update: UpdateRow & UpdateEpoch,
    of: Instrument,
    changes: Iterable<AccountChange> = changesOf(update, of),
  ) {
    const moved = Array.from(changes, ({ no, change, name }): Moved => {
      const account = accounts.ofNo(no);
      return name === undefined ? { account, change } : { account, change, name };
    });
    const supplyChange = of.instrument !== undefined || isLimited() ? null : sumOf(moved);
    // Those whose total it left as it was are the last ones.
    const totalsChanged = moved.filter(({ change }) => totalOf(change) !== 0n).length;
    return { moved: moved.sort(bySizeThenAccount), totalsChanged, supplyChange };
  }

  function complete(
    { updateNo, recordTime, countedAt, updateId }: UpdateRow,
    { moved, totalsChanged, supplyChange }: ReturnType<typeof effectsOf>,
    { place, after }: Pick<Movement, 'place' | 'after'>,
  ): Movement {
    const { account, change, name } = moved[place]!;
    const first = moved.slice(0, Math.min(OTHERS_MAX + 1, totalsChanged));
    const others = first.filter((each) => each.account.no !== account.no);
    const legs = legsOf.get(updateNo, account.no);
    return {
      ...{ updateNo, recordTime, countedAt, updateId: idText(updateId), party: account.party, place, change, after },
      ...(name !== undefined && { account: name }),
      others: others.slice(0, OTHERS_MAX).map((each) => {
        const other = { party: each.account.party, change: totalOf(each.change) };
        return each.name === undefined ? other : { ...other, account: each.name };
      }),
      othersCount: totalsChanged - (totalOf(change) === 0n ? 0 : 1),
      supplyChange,
      legs: legs === undefined ? null : parseColumn<readonly MovementLeg[]>('movement_legs.legs', legs, JSON.parse),
    };
  }

  return { changeIn, changesOf, epochOf, effectsOf, complete, isLimited };
}

/** An update of the Ledger API form, of which the migration is stored, comes from a participant, which may not show all owners. */
export function prepareIsLimited(db: Database): () => boolean {
  const limited = 'SELECT followed IS NOT NULL OR source_migration_id IS NOT NULL FROM setting';
  const statement = db.prepare<[], number>(limited).pluck();
  return () => statement.get() === 1;
}

/** Whether any instrument is a token: their numbers count up, and each migration has one coin. */
export function prepareTokensExist(db: Database): () => boolean {
  const counted = 'SELECT coalesce(max(id), 0) > (SELECT count(coin) FROM migration) FROM instrument';
  const statement = db.prepare<[], number>(counted).pluck();
  return () => statement.get() === 1;
}

function bySizeThenAccount(a: Moved, b: Moved): number {
  const [x, y] = [absolute(totalOf(a.change)), absolute(totalOf(b.change))];
  if (x !== y) return x > y ? -1 : 1;
  return (
    byBytes(a.account.party, b.account.party) ||
    byBytes(a.name?.provider ?? '', b.name?.provider ?? '') ||
    byBytes(a.name?.accountId ?? '', b.name?.accountId ?? '')
  );
}

function byBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function totalOf({ unlocked, locked }: Amounts): bigint {
  return unlocked + locked;
}

export function sumOf(changes: Iterable<{ readonly change: Amounts }>): bigint {
  let sum = 0n;
  for (const { change } of changes) sum += totalOf(change);
  return sum;
}

export function absolute(units: bigint): bigint {
  return units < 0n ? -units : units;
}
