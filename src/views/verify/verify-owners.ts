import { inspect } from 'node:util';
import { getOrMake } from '../../get-or-make.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { expiryRound } from '../../ledger/coin.ts';
import { createdLine, tokenLine } from '../../ledger/digest.ts';
import { idText, storedIdHash } from '../../ledger/ledger-ids.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { type EpochBits, epochBitsOf, epochsUp } from '../store/account-epochs.ts';
import {
  addTo,
  decodeNumbers,
  decodeVersion,
  encodeVersion,
  expiryColumn,
  noSums,
  type Sums,
  type SumTerms,
  unitsOf,
} from '../store/stored-rows.ts';
import {
  addSupply,
  differsIn,
  NO_SUPPLY,
  type Supply,
  snapshotName,
  type VerifyContext,
  type VerifyStep,
} from './verify-context.ts';
import type { Contract, ItemsFound } from './verify-snapshots.ts';

/** How many owners are verified between two steps. */
const OWNERS_PER_STEP = 1_000;

/**
 * Owner by owner: its rows of `held` and `spent` against their holdings, its versions against their sums, its movements against the versions. The sums
 * are added up in `supply`, interval by interval; the items of the contracts go into `items`.
 */
export function* verifyOwners(context: VerifyContext, items: Items): Generator<VerifyStep> {
  const { db } = context;
  const total = Number(db.prepare<[], bigint | null>('SELECT count(*) FROM account').pluck().get());
  const verifyOwner = createOwnerVerifier(context, items);
  const coins = 'instrument IN (SELECT coin FROM migration WHERE coin IS NOT NULL)';
  let verified = 0;
  // The accounts that a party has of a token come one after the other.
  for (const rest of [`${coins} ORDER BY id`, `NOT (${coins}) ORDER BY instrument, owner`]) {
    const owners = createOwnerCounter(context);
    const accounts = db.prepare<[], [bigint, bigint, string]>(
      `SELECT id, instrument, owner FROM account WHERE ${rest}`,
    );
    for (const [id, instrument, owner] of accounts.raw().iterate()) {
      owners.add({ instrument, owner }, verifyOwner(id));
      verified += 1;
      if (verified % OWNERS_PER_STEP === 0) yield { phase: 'owners', done: verified, total };
    }
    owners.end();
  }
  yield { phase: 'owners', done: total, total };
}

type Items = Readonly<Record<'coins' | 'tokens', ItemsFound>>;
/** Of an account by interval; its owner is not counted there. */
type Changes = ReadonlyMap<bigint, Supply>;

/** Adds the changes of accounts to `supply`. An owner is a party with a contract in any of its accounts, which come one after the other. */
function createOwnerCounter({ supply }: VerifyContext) {
  let last: { readonly instrument: bigint; readonly owner: string; contracts: Map<bigint, Supply> } | null = null;
  function end(): void {
    // No party owns the tokens of an account without an owner.
    if (last === null || last.owner === '') return;
    let before = 0n;
    for (const seq of [...last.contracts.keys()].sort((a, b) => (a < b ? -1 : 1))) {
      const after = before + last.contracts.get(seq)![0]!;
      if (after > 0n !== before > 0n) addSupply(supply.get(last.instrument)!, seq, [0n, after > 0n ? 1n : -1n, 0n, 0n]);
      before = after;
    }
  }
  return {
    add({ instrument, owner }: { instrument: bigint; owner: string }, changes: Changes): void {
      if (last?.owner !== owner || last.instrument !== instrument) {
        end();
        last = { instrument, owner, contracts: new Map() };
      }
      const ofInstrument = getOrMake(supply, instrument, () => new Map<bigint, Supply>());
      for (const [seq, change] of changes) {
        addSupply(ofInstrument, seq, change);
        addSupply(last.contracts, seq, change);
      }
    },
    end,
  };
}

type Integers = 'epoch' | 'entryNo' | 'entryCreatedAt' | 'entryCreatedSeq' | 'entryExpiry' | 'archivedSeq' | 'idHash';
type HoldingIntegers = 'account' | 'createdSeq' | 'locked' | 'round' | 'createdAt';

/** One row of `held` or `spent`, with the columns of its holding, null without one: a damaged row may have any values. */
interface Entry extends Readonly<Record<Integers | HoldingIntegers, bigint | null>> {
  readonly amount: unknown;
  readonly rate: unknown;
  readonly contractId: unknown;
}

/** `accounts`: of its update, null where that is missing. */
type MovementRow = Readonly<Record<'epoch' | 'updateNo', bigint> & Record<'unlocked' | 'locked', bigint | string>> & {
  readonly accounts: Buffer | null;
};

type Version = Readonly<Record<'epoch' | 'seq', bigint>> & { readonly v: Buffer };

interface AccountRow extends Readonly<Record<'provider' | 'accountId' | 'admin' | 'instrument', string>> {
  /** Null where the instrument is missing. */
  readonly migrationId: bigint | null;
  readonly party: string;
  readonly isToken: bigint;
  readonly since: bigint | null;
}

function createOwnerVerifier(context: VerifyContext, items: Items): (owner: bigint) => Changes {
  const { db } = context;
  const ownerOf = db.prepare<[bigint], AccountRow>(
    `SELECT migration_id AS migrationId, owner AS party, provider, account_id AS accountId, admin, name AS instrument,
       instrument.id IS NOT coin AS isToken, movements_since AS since FROM account
     LEFT JOIN instrument ON instrument.id = instrument LEFT JOIN migration USING (migration_id) WHERE account.id = ?`,
  );
  // That an account has rows in no other epochs is verified by epoch.
  const bitsOf = db.prepare<[bigint], EpochBits>(`SELECT ${epochBitsOf('?')}`).pluck();
  const versions = db.prepare<[number, bigint], Version>(
    'SELECT epoch, seq, v FROM total WHERE epoch = ? AND account = ?',
  );
  const movements = db.prepare<[bigint], MovementRow>(
    `SELECT m.epoch AS epoch, update_no AS updateNo, unlocked, locked, accounts FROM epoch
     CROSS JOIN movement m ON m.epoch = epoch.no AND m.account = ? LEFT JOIN ledger_update u ON u.no = update_no`,
  );
  const entriesOf = (table: string, columns: string, where: string) =>
    db.prepare<[number, bigint], Entry>(
      `SELECT e.no AS entryNo, e.created_at AS entryCreatedAt, e.created_seq AS entryCreatedSeq, e.expiry AS entryExpiry,
         epoch, ${columns}, c.account AS account, c.created_seq AS createdSeq, locked, amount, rate, round,
         c.created_at AS createdAt, contract_id AS contractId
       FROM ${table} e LEFT JOIN holding c ON c.no = e.no WHERE e.epoch = ? AND e.account = ? ${where}`,
    );
  const isHeld = 'AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = e.no)';
  const entries = {
    held: entriesOf('held', 'NULL AS archivedSeq, e.id_hash AS idHash', isHeld),
    spent: entriesOf('spent', 'e.archived_seq AS archivedSeq, NULL AS idHash', ''),
  };

  return (id) => {
    const account = ownerOf.get(id)!;
    const { migrationId, party, since } = account;
    const isToken = account.isToken === 1n;
    if (migrationId === null) {
      differsIn(context, 'instrument')(`the instrument of account ${id}`, 'none');
      return new Map();
    }
    const snapshots = context.sealed.get(migrationId) ?? [];
    const differs = (table: string, seq: bigint, expected: string, found: unknown): void =>
      differsIn(context, table, { owner: party, snapshot: snapshotName(context, migrationId, seq) })(expected, found);
    /** The epoch of an interval is the newest one when the snapshot before it was sealed; that of a coin is at most the snapshot's after it. */
    function verifyEpoch(table: string, epoch: bigint, seq: bigint): void {
      const before = table === 'held' ? undefined : snapshots[Number(seq) - 2]?.epoch;
      const most = snapshots[Number(seq) - 1]?.epoch;
      if (epoch === (before ?? epoch) && epoch <= (most ?? epoch)) return;
      const expected = before === undefined ? `epoch of at most ${most}` : `epoch ${before}`;
      differs(table, seq, `${expected}, by the snapshot at its interval`, epoch);
    }
    const intervals: Intervals = new Map();
    const epochs = [...epochsUp(bitsOf.get(id)!, 0)];
    for (const table of ['held', 'spent'] as const)
      for (const entry of epochs.values().flatMap((epoch) => entries[table].iterate(epoch, id))) {
        const contract = verifyEntry(context, table, entry, { ...account, id, migrationId, isToken });
        if (contract === null) continue;
        verifyEpoch(table, entry.epoch!, entry.archivedSeq ?? contract.createdSeq);
        addContract(intervals, contract);
        items[isToken ? 'tokens' : 'coins'].add(snapshots, contract);
      }
    const found = epochs.flatMap((epoch) => versions.all(epoch, id));
    for (const { epoch, seq } of found) verifyEpoch('total', epoch, seq);
    const changes = compareVersions(intervals, found, (seq, expected, is) =>
      differs('total', seq, `${expected}, by its contracts in held, spent and holding`, is),
    );
    // Movements add up to the changes of the totals, but for the first interval, in which imports come, and those before they were kept.
    const unknown = since === null ? 1 : snapshots.findLastIndex(({ recordTime }) => recordTime < since) + 2;
    const moved = new Map<bigint, Supply>();
    let at = 0;
    for (const { epoch, updateNo, unlocked, locked, accounts } of movements.iterate(id)) {
      while (at > 0 && snapshots[at - 1]!.updateNo >= updateNo) at -= 1;
      while (at < snapshots.length && snapshots[at]!.updateNo < updateNo) at += 1;
      verifyEpoch('movement', epoch, BigInt(at + 1));
      addSupply(moved, BigInt(at + 1), [0n, 0n, BigInt(unlocked), BigInt(locked)]);
      if (accounts === null || !decodeNumbers(accounts).includes(Number(id)))
        differsIn(context, 'ledger_update')(`account ${id} in update ${updateNo}, by its movement`, 'none');
    }
    for (const seq of new Set([...changes.keys(), ...moved.keys()])) {
      const [expected, is] = [changes, moved].map((each) => (each.get(seq) ?? NO_SUPPLY).slice(2).join(' and '));
      if (seq > unknown && is !== expected) differs('movement', seq, `${expected} units, by its totals`, is);
    }
    return changes;
  };
}

type VerifiedContract = Contract & { readonly terms: SumTerms; readonly locked: boolean };

/** Compares a row with its holding, from which its key and its expiry follow. Null where the holding cannot be that of a coin or token. */
function verifyEntry(
  context: VerifyContext,
  table: string,
  entry: Entry,
  account: Omit<AccountRow, 'isToken'> & { id: bigint; migrationId: bigint; isToken: boolean },
): VerifiedContract | null {
  const { party, isToken } = account;
  const differs = (where: string, expected: string, found: unknown): void =>
    differsIn(context, where, { owner: party })(`contract ${entry.entryNo} of ${table}: ${expected}`, found);
  const { createdSeq, createdAt, archivedSeq, contractId } = entry;
  const hasId = typeof contractId === 'string' || Buffer.isBuffer(contractId);
  const terms = termsOf(entry, isToken);
  if (terms === null || createdSeq === null || createdAt === null || !hasId) {
    const kind = isToken ? 'token' : 'coin';
    differs('holding', `a row whose columns are those of a ${kind}`, inspect(entry, { breakLength: Infinity }));
    return null;
  }
  const compare = (column: string, expected: unknown, found: unknown): void => {
    if (found !== expected) differs(table, `${column} ${expected}, by its holding`, found);
  };
  compare('account', entry.account, account.id);
  compare('created_at', createdAt, entry.entryCreatedAt);
  compare('created_seq', createdSeq, entry.entryCreatedSeq);
  compare('expiry', expiryColumn(terms.expiry), entry.entryExpiry);
  const hash = BigInt.asIntN(32, BigInt(storedIdHash(contractId, Number(account.migrationId))));
  if (archivedSeq === null) compare('id_hash', hash, entry.idHash);
  const locked = entry.locked === 1n;
  const [entity, time] = [coinEntity(locked), Number(createdAt)];
  const created = { ...account, ...terms, locked, entity, owner: party, createdAt: time };
  const line = isToken ? tokenLine(created, idText(contractId)) : createdLine(created, idText(contractId));
  return { createdLine: line, terms, locked, contractId: idText(contractId), createdSeq, archivedSeq };
}

/** What a holding adds to its owner's sums; null where its numbers cannot be a coin's. */
function termsOf(
  { locked, amount, rate, round }: Entry,
  isToken: boolean,
): (SumTerms & { readonly round: bigint }) | null {
  if ((locked !== 0n && locked !== 1n) || !isUnits(amount) || !isUnits(rate) || round === null) return null;
  const terms = { amount: unitsOf(amount), rate: unitsOf(rate), round };
  if (terms.amount <= (isToken ? -1n : 0n) || terms.rate < 0n || round < 0n) return null;
  if (isToken && (terms.rate > 0n || round > 0n)) return null;
  const expiry = expiryRound({ ...terms, createdRound: round }) ?? Infinity;
  return { ...terms, rateRound: terms.rate * round, expiry };
}

function isUnits(column: unknown): column is bigint | Buffer {
  return typeof column === 'bigint' || (Buffer.isBuffer(column) && column.length > 0);
}

const SIDES = ['unlocked', 'locked'] as const;
const EXACT = ['count', 'amount', 'rate', 'rateRound'] as const;

/** How an owner's contracts of one kind (unlocked or locked) changed in one interval. `expiryBound`: the earliest of those created. */
interface Change extends Sums {
  archived: number;
}

/** The changes of one owner by interval, from which its versions follow. Grows with intervals, not with contracts. */
type Intervals = Map<bigint, Readonly<Record<(typeof SIDES)[number], Change>>>;

function addContract(intervals: Intervals, { terms, locked, createdSeq, archivedSeq }: VerifiedContract): void {
  const side = locked ? 'locked' : 'unlocked';
  addTo(getOrMake(intervals, createdSeq, noChanges)[side], terms);
  if (archivedSeq === null) return;
  const archived = getOrMake(intervals, archivedSeq, noChanges)[side];
  add(archived, terms, -1, -1n);
  archived.archived += 1;
}

function noChanges() {
  return { unlocked: { ...noSums(), archived: 0 }, locked: { ...noSums(), archived: 0 } };
}

function add(sums: Sums, terms: Omit<SumTerms, 'expiry'>, count: number, sign = 1n): void {
  sums.count += count;
  sums.amount += sign * terms.amount;
  sums.rate += sign * terms.rate;
  sums.rateRound += sign * terms.rateRound;
}

function least(a: number | bigint, b: number | bigint): number | bigint {
  return a < b ? a : b;
}

/**
 * Compares an owner's versions with its contracts: a version for each interval in which one was created or archived, each with
 * the exact sums. A version may be of an interval without a lasting change (contracts created and archived in it); it then
 * repeats the sums. Returns how each interval changes the supply.
 */
function compareVersions(
  intervals: Intervals,
  versions: readonly Version[],
  differs: (seq: bigint, expected: string, found: string) => void,
): ReadonlyMap<bigint, Supply> {
  const bySeq = new Map(versions.map(({ seq, v }) => [seq, v]));
  const seqs = [...new Set([...intervals.keys(), ...bySeq.keys()])].sort((a, b) => (a < b ? -1 : 1));
  const changes = new Map<bigint, Supply>();
  // `expiryBound` is that of the previous version: it does not follow from the contracts alone.
  const now = { unlocked: noSums(), locked: noSums() };
  for (const seq of seqs) {
    const interval = intervals.get(seq) ?? noChanges();
    const before = now.unlocked.count + now.locked.count;
    const v = bySeq.get(seq);
    const found = v === undefined ? null : readVersion(v);
    if (found === null)
      differs(seq, 'a version', v === undefined ? 'none' : `bytes that are none: ${v.toString('hex')}`);
    for (const side of SIDES) {
      const [sums, change] = [now[side], interval[side]];
      const survivors = sums.count - change.archived;
      add(sums, change, change.count);
      if (found === null) continue;
      if (EXACT.some((each) => sums[each] !== found[side][each]))
        differs(seq, `${side} ${sumsText(sums)}`, `${side} ${sumsText(found[side])}`);
      // While any contract is held, the bound only falls; and it is at most the expiry of each one held.
      const most = survivors > 0 ? least(sums.expiryBound, change.expiryBound) : change.expiryBound;
      const bound = found[side].expiryBound;
      if (sums.count > 0 && bound > most) differs(seq, `${side} expiry bound of at most ${most}`, `${bound}`);
      sums.expiryBound = bound;
    }
    const after = now.unlocked.count + now.locked.count;
    changes.set(seq, [BigInt(after - before), 0n, interval.unlocked.amount, interval.locked.amount]);
  }
  return changes;
}

/** Null where the bytes are no version, or not the encoding of its sums. */
function readVersion(v: Buffer): Record<(typeof SIDES)[number], Sums> | null {
  try {
    const sums = decodeVersion(v);
    return encodeVersion(sums.unlocked, sums.locked).equals(v) ? sums : null;
  } catch {
    return null;
  }
}

function sumsText({ count, amount, rate, rateRound }: Sums): string {
  const rates = `sum of rates ${formatAmount(rate)}, of rate * round ${formatAmount(rateRound)}`;
  return `${formatAmount(amount)} in ${count} contracts (${rates})`;
}
