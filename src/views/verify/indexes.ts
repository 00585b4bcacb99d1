import { idText, storedIdHash } from '../../ledger/contract-id.ts';
import { isStoredId } from './contract.ts';
import type { HeldIds, NumbersSeen } from './contracts-seen.ts';
import { differsIn, inRanges, type VerifyContext, type VerifyStep } from './types.ts';

interface CounterfeitRow {
  readonly h: bigint;
  readonly migrationId: bigint;
  readonly contractId: unknown;
  readonly isMigration: bigint;
}

/** Every row of `counterfeit`: `h` is the hash of its id, which is no active coin's. */
export function* verifyCounterfeits(context: VerifyContext, heldIds: HeldIds): Generator<VerifyStep> {
  const differs = differsIn(context, 'counterfeit');
  const rows = context.db.prepare<[bigint, bigint], CounterfeitRow>(
    `SELECT h, migration_id AS migrationId, contract_id AS contractId,
       EXISTS (SELECT 1 FROM migration m WHERE m.migration_id = counterfeit.migration_id) AS isMigration
     FROM counterfeit WHERE h > ? AND h <= ?`,
  );
  yield* inRanges(context, { table: 'counterfeit', key: 'h' }, (from, to) => {
    for (const { h, migrationId, contractId, isMigration } of rows.iterate(from, to)) {
      if (isMigration === 0n) differs(`migration ${migrationId} to exist`, 'none');
      if (!isStoredId(contractId)) {
        differs('a contract id in the form it is stored in', contractId);
        continue;
      }
      const name = `the id ${idText(contractId)} of migration ${migrationId}`;
      const hash = BigInt(storedIdHash(contractId, Number(migrationId)));
      if (hash !== h) differs(`h ${hash}, the hash of ${name}`, h);
      if (heldIds.find(contractId, Number(migrationId)) !== null)
        differs(`${name} to be no active coin's`, 'an active coin');
    }
  });
}

/** Every contract of `holding` that existed when the verification began was found in `held` or `spent`. */
export function* verifyHoldings(context: VerifyContext, seen: NumbersSeen): Generator<VerifyStep> {
  const differs = differsIn(context, 'holding');
  const numbers = context.db
    .prepare<[bigint, bigint], bigint>('SELECT no FROM holding WHERE no > ? AND no <= ? ORDER BY no')
    .pluck();
  yield* inRanges(context, { table: 'holding', key: 'no' }, (from, to) => {
    for (const no of numbers.iterate(from, to)) {
      if (no >= 1n && (!seen.covers(no) || seen.has(no))) continue;
      differs(`contract ${no}: a row in held or spent, as for every holding`, 'none');
    }
  });
}
