import type { Database } from 'better-sqlite3';
import type { AccountName, InstrumentName } from '../../holdings/instrument.ts';
import type { Found } from '../../holdings/movement-facts.ts';
import { type StoredId, storedId } from '../../ledger/ledger-ids.ts';
import { type CoinRow, decodeNumbers, unitsOf } from '../store/stored-rows.ts';
import { type MovementReader, UPDATE } from './movement-reader.ts';
import { absolute, totalOf, type UpdateRow } from './update-effects.ts';

type NamedAccount = AccountName & InstrumentName & { readonly party: string; readonly migrationId: number };

type ContractRow = Pick<CoinRow, 'amount'> &
  Readonly<Record<'no' | 'account' | 'createdSeq' | 'locked' | 'createdAt', bigint>>;

/** Finds updates and contracts by their ids. An index of ids would cost the writer a page for each, so all rows are read, the newest first. */
export function createIdReader(db: Database, movements: MovementReader) {
  const updateOf = db.prepare<[StoredId], UpdateRow & { readonly migrationId: number }>(
    `SELECT ${UPDATE}, (SELECT migration_id FROM synchronizer s WHERE s.no = u.synchronizer) AS migrationId
     FROM ledger_update u WHERE update_id = ? ORDER BY u.no DESC LIMIT 1`,
  );
  const contractOf = db
    .prepare<[StoredId], ContractRow>(
      `SELECT no, account, created_seq AS createdSeq, locked, amount, created_at AS createdAt
       FROM holding WHERE contract_id = ? ORDER BY no DESC LIMIT 1`,
    )
    .safeIntegers();
  const archivedSeq = db
    .prepare<ContractRow, bigint>(
      `SELECT archived_seq FROM epoch e CROSS JOIN spent s ON s.epoch = e.no AND s.account = @account
         AND s.archived_seq > @createdSeq AND s.created_at = @createdAt AND s.no = @no
       WHERE e.no >= (SELECT max(no) FROM epoch WHERE first_no <= @no)`,
    )
    .pluck()
    .safeIntegers();
  const newestSnapshot = db
    .prepare<[number, bigint, bigint | null], number | null>(
      'SELECT max(record_time) FROM snapshot WHERE migration_id = ? + 0 AND seq >= ? AND seq < coalesce(?, 9e18)',
    )
    .pluck();
  const accountOf = db.prepare<[number | bigint], NamedAccount>(
    `SELECT owner AS party, provider, account_id AS accountId, admin, name AS id, migration_id AS migrationId
     FROM account a JOIN instrument i ON i.id = a.instrument WHERE a.id = ? + 0`,
  );

  function named(no: number | bigint) {
    const { admin, id, provider, ...account } = accountOf.get(no)!;
    return { ...account, provider: provider || null, instrument: { admin, id } };
  }

  function movedBy(update: UpdateRow & { readonly migrationId: number }): Found[] {
    const { recordTime, countedAt, updateNo, migrationId } = update;
    const epoch = movements.epochOf(update, movements.intervalAt(migrationId, countedAt));
    const moved = epoch === null ? [] : decodeNumbers(update.accounts);
    const found = Array.from(moved, (no): Found => {
      return { kind: 'update', recordTime, snapshot: null, ...named(no), ...movements.changeIn(epoch!, no, updateNo)! };
    });
    return found.sort((a, b) => Number(absolute(totalOf(b)) - absolute(totalOf(a))) || (a.party < b.party ? -1 : 1));
  }

  return (id: string): readonly Found[] => {
    const update = updateOf.get(storedId(id));
    if (update !== undefined) return movedBy(update);
    const contract = contractOf.get(storedId(id));
    if (contract === undefined) return [];
    const account = named(contract.account);
    const [amount, isLocked] = [unitsOf(contract.amount), contract.locked === 1n];
    const until = archivedSeq.get(contract) ?? null;
    return [
      {
        ...{ kind: 'contract', recordTime: Number(contract.createdAt), ...account },
        snapshot: newestSnapshot.get(account.migrationId, contract.createdSeq, until) ?? null,
        ...{ unlocked: isLocked ? 0n : amount, locked: isLocked ? amount : 0n },
      },
    ];
  };
}
