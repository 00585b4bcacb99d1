import { join } from 'node:path';
import Database from 'better-sqlite3';
import { shortTime } from '../test/support/ledger/wire-text.ts';

/** An owner to ask about, and the question. */
export interface AskedOwner {
  readonly contracts: number;
  readonly migrationId: number;
  readonly party: string;
  /** For a summary at exactly the newest snapshot, as of the round that the service takes by default. */
  readonly body: string;
}

/** The owner whose active contracts are nearest to so many. */
export function ownerOf(dataDir: string, contracts: number): AskedOwner {
  const db = new Database(join(dataDir, 'views.db'), { readonly: true });
  try {
    const nearest = `
      SELECT owner AS party, migration_id AS migrationId, contracts
      FROM (SELECT account, count(*) AS contracts FROM held
            WHERE NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no) GROUP BY account)
      JOIN account ON account.id = account JOIN instrument ON instrument.id = instrument
      ORDER BY abs(contracts - ?) LIMIT 1`;
    const owner = db.prepare<[number], Omit<AskedOwner, 'body'>>(nearest).get(contracts)!;
    const newest = db.prepare<[number], number>('SELECT max(record_time) FROM snapshot WHERE migration_id = ?').pluck();
    return { ...owner, body: questionAt(owner, shortTime(newest.get(owner.migrationId)!)) };
  } finally {
    db.close();
  }
}

export function questionAt(
  { party, migrationId }: Pick<AskedOwner, 'party' | 'migrationId'>,
  recordTime: string,
): string {
  return JSON.stringify({ migration_id: migrationId, record_time: recordTime, owner_party_ids: [party] });
}

/** For the newest snapshot, whichever it is. */
export function questionOfNewest({ party, migrationId }: AskedOwner): string {
  const newest = { record_time: '2199-01-01T00:00:00Z', record_time_match: 'at_or_before' };
  return JSON.stringify({ migration_id: migrationId, ...newest, owner_party_ids: [party] });
}
