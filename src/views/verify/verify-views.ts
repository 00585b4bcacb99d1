import { formatAmount } from '../../ledger/amount.ts';
import { isDamaged } from '../../machine-errors.ts';
import { type EpochBits, epochBitsOf, hasEpoch } from '../store/account-epochs.ts';
import { openForReading } from '../store/database.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import {
  type Difference,
  differsIn,
  NO_SUPPLY,
  snapshotName,
  sumOf,
  timeText,
  type VerifyContext,
  type VerifyStep,
} from './verify-context.ts';
import { verifyOwners } from './verify-owners.ts';
import { ItemsFound, readSealed, verifySnapshots } from './verify-snapshots.ts';

/** What was looked at. */
export interface Verified {
  snapshots: number;
  owners: number;
  /** The migrations that begin with a snapshot import, and its time: what was before it is not in the views. */
  seeds: readonly { readonly migrationId: bigint; readonly time: string }[];
}

/**
 * Runs SQLite's integrity check, then recomputes the totals, counts, supplies and digests from the contracts, all as of one
 * moment: a writer may run meanwhile. Memory grows with snapshots, not with contracts. The digests prove what the contracts are
 * (docs/digest.md); only a replay shows that the writer got them from the feed.
 */
export function* verifyViews(
  dataDir: string,
  report: (difference: Difference) => void,
): Generator<VerifyStep, Verified> {
  const db = openForReading(dataDir).defaultSafeIntegers();
  try {
    db.exec('BEGIN');
    const context: VerifyContext = { db, report, sealed: new Map(), supply: new Map() };
    using coins = new ItemsFound();
    using tokens = new ItemsFound();
    const items = { coins, tokens };
    const verified: Verified = { snapshots: 0, owners: 0, seeds: [] };
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).pluck();
    const phases: readonly (readonly [table: string, steps: Generator<VerifyStep>])[] = [
      ...tables.all().map((table) => [table, verifyIntegrity(context, table)] as const),
      ['snapshot', readSealed(context)],
      ['epoch', verifyEpochs(context)],
      ['total', verifyOwners(context, items)],
      ['movement', verifyUpdates(context)],
      ['holding', verifyHoldings(context)],
      ['snapshot', verifySnapshots(context, items)],
      ['supply', verifySupplies(context)],
      ['migration', countVerified(context, verified)],
    ];
    for (const [table, steps] of phases) {
      try {
        yield* steps;
      } catch (error) {
        if (!isDamaged(error)) throw error;
        // A damaged page ends its phase, and is a difference like any other.
        differsIn(context, table)('an intact table and indexes', (error as Error).message);
      }
    }
    return verified;
  } finally {
    db.close();
  }
}

function* countVerified(context: VerifyContext, verified: Verified): Generator<VerifyStep> {
  const { db, sealed } = context;
  for (const { length } of sealed.values()) verified.snapshots += length;
  const owners = 'SELECT DISTINCT migration_id, owner FROM account JOIN instrument i ON i.id = instrument';
  verified.owners = rowsOf(context, `(${owners} WHERE owner <> '')`);
  const rows = db.prepare<[], { migrationId: bigint; importedAt: bigint }>(
    `SELECT migration_id AS migrationId, seeded_at AS importedAt FROM migration WHERE seeded_at >= 0 ORDER BY migration_id`,
  );
  verified.seeds = rows.all().map(({ migrationId, importedAt }) => ({ migrationId, time: timeText(importedAt) }));
  yield { phase: 'counts', done: 1, total: 1 };
}

function rowsOf({ db }: VerifyContext, table: string): number {
  return Number(db.prepare<[], bigint>(`SELECT count(*) FROM ${table}`).pluck().get());
}

/** SQLite's own integrity check of one table: pages, the order of keys, types, and every index against its table. */
function* verifyIntegrity(context: VerifyContext, table: string): Generator<VerifyStep> {
  const rows = context.db.pragma(`integrity_check("${table}")`) as { integrity_check: string }[];
  for (const { integrity_check: found } of rows)
    if (found !== 'ok') differsIn(context, table)('an intact table and indexes', found);
  yield { phase: `file, ${table}`, done: 1, total: 1 };
}

/** Every contract of `holding` has one row in `held` or `spent`. That each of those has its holding was verified by owner. */
function* verifyHoldings(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const held = rowsOf(context, 'held') - rowsOf(context, 'gone');
  const [holdings, entries] = [rowsOf(context, 'holding'), held + rowsOf(context, 'spent')];
  if (holdings !== entries) {
    const differs = differsIn(context, 'holding');
    differs(`${entries} rows, as held, without those of gone, and spent have together`, holdings);
    const numbers =
      'SELECT no FROM holding EXCEPT SELECT * FROM (SELECT no FROM held EXCEPT SELECT no FROM gone) EXCEPT SELECT no FROM spent';
    for (const no of db.prepare<[], bigint>(numbers).pluck().iterate())
      differs(`contract ${no}: a row in held or spent`, 'none');
  }
  yield { phase: 'holdings', done: 1, total: 1 };
}

/** Every account that an update names has a movement of it, and legs are of one: that each movement is named there was verified by account. */
function* verifyUpdates(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  let named = 0;
  for (const accounts of db.prepare<[], Buffer>('SELECT accounts FROM ledger_update').pluck().iterate())
    named += decodeNumbers(accounts).length;
  const rows = rowsOf(context, 'movement');
  if (rows !== named) differsIn(context, 'movement')(`${named} rows, as ledger_update names`, rows);
  const legs = db.prepare<[], { updateNo: bigint; account: bigint; accounts: Buffer | null }>(
    'SELECT update_no AS updateNo, account, accounts FROM movement_legs LEFT JOIN ledger_update ON no = update_no',
  );
  for (const { updateNo, account, accounts } of legs.iterate())
    if (accounts === null || !decodeNumbers(accounts).includes(Number(account)))
      differsIn(context, 'movement_legs')(
        `a movement of account ${account} in update ${updateNo}, by its legs`,
        'none',
      );
  yield { phase: 'movements', done: rows, total: rows };
}

type SupplyRow = Readonly<Record<'seq' | 'contracts' | 'owners', bigint> & Record<'unlocked' | 'locked', string>>;

function supplyText([contracts, owners, unlocked, locked]: readonly (bigint | string)[]): string {
  return `${contracts} contracts of ${owners} owners, unlocked ${unitsText(unlocked!)}, locked ${unitsText(locked!)}`;
}

/** Stored as decimal digits: any other text is shown as it is. */
function unitsText(units: bigint | string): string {
  const isCanonical = typeof units === 'bigint' || /^(0|-?[1-9]\d*)$/.test(units);
  return isCanonical ? formatAmount(BigInt(units)) : JSON.stringify(units);
}

/** Each version of an instrument's supply against the sum over its accounts. And the counts of open accounts and unreadable holdings. */
function* verifySupplies(context: VerifyContext): Generator<VerifyStep> {
  const { db, supply } = context;
  const instruments = db.prepare<[], { id: bigint; migrationId: bigint; admin: string; name: string }>(
    'SELECT id, migration_id AS migrationId, admin, name FROM instrument ORDER BY id',
  );
  const versions = db.prepare<[bigint], SupplyRow>(
    'SELECT seq, contracts, owners, unlocked, locked FROM supply WHERE instrument = ? ORDER BY seq',
  );
  for (const { id, migrationId, admin, name } of instruments.all()) {
    const changes = supply.get(id) ?? new Map();
    const found = new Map(versions.all(id).map(({ seq, ...row }) => [seq, Object.values(row)]));
    let now = NO_SUPPLY;
    for (const seq of [...new Set([...changes.keys(), ...found.keys()])].sort((a, b) => (a < b ? -1 : 1))) {
      now = sumOf(now, changes.get(seq) ?? NO_SUPPLY);
      const [expected, is] = [supplyText(now), found.has(seq) ? supplyText(found.get(seq)!) : 'none'];
      const differs = differsIn(context, 'supply', { snapshot: snapshotName(context, migrationId, seq) });
      if (is !== expected) differs(`instrument ${JSON.stringify(name)} of ${admin}: ${expected}`, is);
    }
  }
  const open = db.prepare<[], [bigint, string, bigint | null, bigint | null]>(
    `SELECT instrument, owner, o.accounts, w.accounts FROM open_accounts o FULL JOIN
       (SELECT a.instrument AS instrument, owner, count(DISTINCT a.id) AS accounts FROM held JOIN account a ON a.id = account
        WHERE owner <> '' AND a.instrument NOT IN (SELECT coin FROM migration WHERE coin IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no) GROUP BY a.instrument, owner) w USING (instrument, owner)
     WHERE o.accounts IS NOT w.accounts`,
  );
  // It reads all that is held.
  const isNeeded = supply.size > context.sealed.size || rowsOf(context, 'open_accounts') > 0;
  for (const [instrument, owner, found, expected] of isNeeded ? open.raw().iterate() : [])
    differsIn(context, 'open_accounts', { owner })(`${expected ?? 0} accounts of instrument ${instrument}`, found ?? 0);
  const [stored] = db.prepare<[], bigint>('SELECT unreadable FROM setting').pluck().all();
  const unreadable = rowsOf(context, 'unreadable');
  if (stored !== BigInt(unreadable))
    differsIn(context, 'setting')(`unreadable ${unreadable}, as that table has rows`, stored);
  yield { phase: 'supplies', done: 1, total: 1 };
}

type EpochRow = Readonly<Record<'no' | 'firstNo' | 'least' | 'most' | 'held' | 'gone', bigint>>;
/** Of an epoch's rows of `held`: null but for the counts where there are none. */
type HeldFacts = Readonly<Record<'rows' | 'gone' | 'rowsOfGone' | 'firstNo' | 'lastNo' | 'least' | 'most', bigint>>;

/**
 * What is derived for epochs (docs/store.md): the epochs of each account, without which rows are not found, the counts and bounds of
 * `epoch`, and that each coin of `gone` has its row of `held`.
 */
function* verifyEpochs(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const bitsOf = db.prepare<[bigint], EpochBits>(`SELECT ${epochBitsOf('?')}`).pluck();
  const isAccount = db.prepare<[bigint], bigint>('SELECT 1 FROM account WHERE id = ?').pluck();
  const epochs = db
    .prepare<[], EpochRow>(
      `SELECT no, first_no AS firstNo, coalesce(min_created, 1 << 62) AS least, coalesce(max_created, -1) AS most, held, gone
       FROM epoch ORDER BY no`,
    )
    .all();
  const known = new Set(epochs.map(({ no }) => no));
  for (const table of ['held', 'spent', 'total', 'movement']) {
    const pairs = db.prepare<[], [bigint, bigint]>(`SELECT DISTINCT epoch, account FROM ${table}`).raw();
    for (const [epoch, account] of pairs.iterate()) {
      const row = `a row of account ${account} in epoch ${epoch}, as ${table} has`;
      if (!known.has(epoch)) differsIn(context, 'epoch')(row, 'no such epoch');
      if (isAccount.get(account) === undefined) differsIn(context, 'account')(row, 'no such account');
      const isNoted = hasEpoch(bitsOf.get(account)!, Number(epoch));
      if (!isNoted) differsIn(context, 'account_epochs')(row, 'not noted');
    }
  }
  const heldOf = db.prepare<{ no: bigint; from: bigint; end: bigint }, HeldFacts>(
    `SELECT count(*) AS rows, coalesce(sum(EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no)), 0) AS gone,
       (SELECT count(*) FROM gone WHERE no >= @from AND no < @end) AS rowsOfGone, min(no) AS firstNo, max(no) AS lastNo,
       min(created_at) AS least, max(created_at) AS most FROM held WHERE epoch = @no`,
  );
  for (const [i, { no, firstNo: from, held, gone, least, most }] of epochs.entries()) {
    const end = epochs[i + 1]?.firstNo ?? 2n ** 63n - 1n;
    const found = heldOf.get({ no, from, end })!;
    const differs = differsIn(context, 'epoch', { snapshot: `epoch ${no}` });
    if (held !== found.rows || gone !== found.gone || gone !== found.rowsOfGone)
      differs(
        `held ${found.rows}, of which gone ${found.gone}`,
        `held ${held}, gone ${gone}, ${found.rowsOfGone} rows of gone`,
      );
    if (found.rows === 0n) continue;
    if (from > found.firstNo || end <= found.lastNo)
      differs(`coins ${from} to ${end - 1n} in held`, `${found.firstNo} to ${found.lastNo}`);
    if (least > found.least || most < found.most)
      differs(`bounds of ${found.least} and ${found.most}`, `${least} to ${most}`);
  }
  yield { phase: 'epochs', done: epochs.length, total: epochs.length };
}
