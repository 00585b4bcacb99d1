import type { Database } from 'better-sqlite3';
import type { OfInstrument } from '../../holdings/instrument.ts';
import type {
  Amounts,
  KnownMovement,
  MovementName,
  OwnersMovement,
  OwnersMovementsLookup,
} from '../../holdings/movement-facts.ts';
import { type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import { decodeNumbers } from '../store/stored-rows.ts';
import { lastOf, type MovementReader, OPEN_END, type OwnMovement, plus, UPDATE } from './movement-reader.ts';
import type { Account, AccountReader, Instrument } from './owner-versions.ts';
import { type RowBudget, requireUnbounded, takeRows } from './stored-snapshots.ts';
import type { UpdateRow } from './update-effects.ts';

/** The next movement of an account; none of those before it is wanted. */
interface NextOfAccount extends Instrument {
  readonly account: Account;
  readonly own: OwnMovement;
}

/** Where owners that moved are looked for, at once: a millisecond. */
const UPDATES_AT_ONCE = 1_000;
const ACCOUNTS_AT_ONCE = 500;

/** How many rows the event loop may read for the movements of streams, for each that it may read for fees: a millisecond or two in all. */
const ROWS_PER_BUDGET_ROW = 16;

function streamBudget({ rows }: RowBudget): RowBudget {
  return { rows: rows * ROWS_PER_BUDGET_ROW };
}

/** Reads the movements of many owners in the order of updates, over all migrations. `? + 0`: see views/store/database.ts. */
export function createOwnersMovementReader(
  db: Database,
  { accounts, movements }: { accounts: AccountReader; movements: MovementReader },
) {
  const lastUpdate = db.prepare<[], number | null>('SELECT max(no) FROM ledger_update').pluck();
  const updates = db.prepare<[number, number, number], { readonly no: number; readonly accounts: Buffer }>(
    'SELECT no, accounts FROM ledger_update WHERE no > ? + 0 AND no <= ? + 0 ORDER BY no LIMIT ?',
  );
  const ownerOf = db.prepare<[number], string>('SELECT owner FROM account WHERE id = ? + 0').pluck();
  const migrationIds = db
    .prepare<[], number>('SELECT migration_id FROM migration WHERE update_time IS NOT NULL ORDER BY migration_id')
    .pluck();
  const updateNamed = db.prepare<[number, number, StoredId], UpdateRow>(
    `SELECT ${UPDATE} FROM ledger_update u
     WHERE synchronizer IN (SELECT no FROM synchronizer WHERE migration_id = ? + 0) AND record_time = ? + 0 AND update_id = ?`,
  );
  const maxSealed = db.prepare<[], number | null>('SELECT max(no) FROM snapshot').pluck();
  const updateNoOfSnapshot = db.prepare<[number], number>('SELECT update_no FROM snapshot WHERE no = ? + 0').pluck();

  function nextOf(
    { account, ...of }: Omit<NextOfAccount, 'own'>,
    { after, until, firstEpoch }: { readonly after: number; readonly until: number; readonly firstEpoch: number },
    budget: RowBudget,
  ): NextOfAccount[] {
    const interval = { epoch: OPEN_END, firstEpoch };
    const range = { after: { no: after, interval }, to: { no: until, interval }, order: 'asc' } as const;
    return movements
      .ownMovements([account], range, budget)
      .take(1)
      .map((own) => ({ account, ...of, own }))
      .toArray();
  }

  function begin({ owners, from, until, instrument }: OwnersMovementsLookup, budget: RowBudget): NextOfAccount[] {
    return migrationIds.all().flatMap((migrationId) => {
      if (movements.lastUpdateNo(migrationId) < from.updateNo) return [];
      const range = { after: from.updateNo - 1, until, firstEpoch: movements.firstEpochOf(migrationId, from.updateNo) };
      takeRows(budget, owners.length);
      const of = { migrationId, instrument };
      return owners.flatMap((owner) =>
        accounts.ofParty(of, owner).flatMap((account) => nextOf({ account, ...of }, range, budget)),
      );
    });
  }

  function ofOwners(lookup: OwnersMovementsLookup, given: RowBudget): readonly OwnersMovement[] {
    const { from, until, rows, instrument } = lookup;
    if (instrument !== undefined) requireUnbounded(given);
    const budget = streamBudget(given);
    const found: OwnersMovement[] = [];
    const balances = new Map<number, Amounts>();
    /** The last one first. */
    const next = begin(lookup, budget).sort((a, b) => b.own.updateNo - a.own.updateNo);
    while (next.length > 0) {
      const { own: update, migrationId } = next.at(-1)!;
      const { updateNo } = update;
      const moving = new Map<number, NextOfAccount>();
      while (next.at(-1)?.own.updateNo === updateNo) {
        const each = next.pop()!;
        moving.set(each.account.no, each);
      }
      // A byte for each account at least.
      takeRows(budget, update.accounts.length);
      const effects = movements.effectsOf(update, { migrationId, instrument });
      for (const [place, { account, change }] of effects.moved.entries()) {
        const each = moving.get(account.no);
        if (each === undefined || (updateNo === from.updateNo && place < from.place)) continue;
        const before = balances.get(account.no);
        const after = before ? plus(before, change) : balanceAfter(each, budget);
        balances.set(account.no, after);
        found.push({ ...movements.complete(update, effects, { place, after }), migrationId, instrument });
        if (found.length === rows) return found;
      }
      for (const each of moving.values())
        for (const later of nextOf(each, { after: updateNo, until, firstEpoch: each.own.epoch }, budget)) {
          const isAfter = (at: number): boolean => next[at]!.own.updateNo > later.own.updateNo;
          next.splice(lastOf({ first: -1, end: next.length }, isAfter) + 1, 0, later);
        }
    }
    return found;
  }

  function balanceAfter({ account, migrationId, own }: NextOfAccount, budget: RowBudget): Amounts {
    const interval = movements.intervalAt(migrationId, own.countedAt);
    return movements.balancesOf([account], budget)({ no: own.updateNo, interval });
  }

  function place(name: MovementName & OfInstrument, given: RowBudget): KnownMovement | null {
    const { recordTime, updateId, party, account: named } = name;
    const of = { migrationId: Number(name.migrationId), instrument: name.instrument };
    if (name.instrument !== undefined) requireUnbounded(given);
    const update = updateNamed.get(of.migrationId, Number(recordTime), storedId(updateId));
    if (update === undefined) return null;
    takeRows(streamBudget(given), update.accounts.length);
    const epoch = movements.epochOf(update, movements.intervalAt(of.migrationId, update.countedAt));
    const moved = epoch === null ? [] : movements.effectsOf({ ...update, epoch }, of).moved;
    const place = moved.findIndex(
      ({ account, name: own }) =>
        account.party === party && own?.provider === named?.provider && own?.accountId === named?.accountId,
    );
    if (place < 0) return null;
    // The updates of snapshots are in the order in which these were sealed.
    const isBefore = (no: number): boolean => updateNoOfSnapshot.get(no)! < update.updateNo;
    const sealedBefore = lastOf({ first: 0, end: (maxSealed.get() ?? 0) + 1 }, isBefore);
    return { updateNo: update.updateNo, place, sealedBefore };
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
