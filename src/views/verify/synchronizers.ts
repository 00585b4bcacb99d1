import { isStoredId } from './contract.ts';
import { differsIn, isLedgerTime, type VerifyContext } from './types.ts';

interface SynchronizerRow {
  readonly migrationId: bigint;
  readonly name: string;
  readonly firstTime: bigint;
  readonly recordTime: bigint;
  readonly updates: bigint;
  readonly repairs: bigint;
  readonly unseen: bigint;
  /** Rows of it in last_update. */
  readonly known: bigint;
}

interface LastUpdateRow {
  readonly migrationId: bigint;
  readonly name: string;
  readonly updateId: unknown;
  /** Whether the synchronizer has a row of its own. */
  readonly known: bigint;
}

/** How far each synchronizer was applied, and the updates applied at that time. */
export function verifySynchronizers(context: VerifyContext): void {
  verifyTimes(context);
  verifyLastUpdates(context);
}

function verifyTimes(context: VerifyContext): void {
  const rows = context.db.prepare<[], SynchronizerRow>(
    `SELECT migration_id AS migrationId, synchronizer_id AS name, first_time AS firstTime, record_time AS recordTime,
       updates, repairs, unseen,
       (SELECT count(*) FROM last_update u
        WHERE u.migration_id = s.migration_id AND u.synchronizer_id = s.synchronizer_id) AS known
     FROM synchronizer s`,
  );
  for (const { migrationId, name, firstTime, recordTime, updates, repairs, unseen, known } of rows.iterate()) {
    const differs = (table: string, expected: string, found: unknown): void =>
      differsIn(context, table, `migration ${migrationId}`)(`${name}: ${expected}`, found);
    if (!isLedgerTime(recordTime)) differs('synchronizer', 'a time in 1970-2200', recordTime);
    if (firstTime < 0n || firstTime > recordTime)
      differs('synchronizer', 'first_time from 1970 to record_time', firstTime);
    if (unseen !== 0n && unseen !== 1n) differs('synchronizer', 'unseen 0 or 1', unseen);
    if (updates < 1n) differs('synchronizer', 'an update or more at its last time', updates);
    if (repairs < updates - 1n)
      differs('synchronizer', `repairs from ${updates - 1n} on, those at its last time`, repairs);
    if (known !== updates) differs('last_update', `${updates} rows, as synchronizer says`, known);
  }
}

function verifyLastUpdates(context: VerifyContext): void {
  const rows = context.db.prepare<[], LastUpdateRow>(
    `SELECT u.migration_id AS migrationId, u.synchronizer_id AS name, update_id AS updateId,
       s.record_time IS NOT NULL AS known
     FROM last_update u LEFT JOIN synchronizer s
       ON s.migration_id = u.migration_id AND s.synchronizer_id = u.synchronizer_id`,
  );
  for (const { migrationId, name, updateId, known } of rows.iterate()) {
    const differs = differsIn(context, 'last_update', `migration ${migrationId}`);
    if (known === 0n) differs(`${name}: a row of synchronizer`, 'none');
    if (!isStoredId(updateId, Number.MAX_SAFE_INTEGER))
      differs(`${name}: update_id in the form it is stored in`, updateId);
  }
}
