import { decodeNumbers } from '../store/stored-rows.ts';
import { differsIn, type Supply, snapshotName, type VerifyContext, type VerifyStep } from './verify-context.ts';

interface MovementRow {
  readonly epoch: bigint;
  readonly updateNo: bigint;
  readonly unlocked: bigint | string;
  readonly locked: bigint | string;
  /** Of its update; null where that is missing. */
  readonly accounts: Buffer | null;
}

interface OfAccount {
  readonly id: bigint;
  readonly migrationId: bigint;
  readonly party: string;
}

/** The movements of an account: what they add up to, to be compared with how its totals change. */
export interface Moved {
  /** To be called for each interval with a version. */
  compare(seq: bigint, change: Supply): void;
  /** To be called at the end: no others may change anything. */
  end(): void;
}

/**
 * Returns the function that reads an account's movements, and passes on their epochs and intervals. In each interval they add up to the difference of its totals, but for the
 * first one, in which imports come, and those before movements were kept.
 */
export function createMovementReader(
  context: VerifyContext,
): (account: OfAccount, take: (place: { epoch: bigint; seq: bigint }) => void) => Moved {
  const { db, sealed, report } = context;
  const since = db.prepare<[bigint], bigint>('SELECT movements_since FROM migration WHERE migration_id = ?').pluck();
  const rows = db.prepare<[bigint], MovementRow>(
    `SELECT m.epoch AS epoch, update_no AS updateNo, unlocked, locked, accounts FROM epoch
     CROSS JOIN movement m ON m.epoch = epoch.no AND m.account = ? LEFT JOIN ledger_update u ON u.no = update_no`,
  );
  return ({ id, migrationId, party }, take) => {
    const snapshots = sealed.get(migrationId) ?? [];
    const begun = since.get(migrationId) ?? null;
    const unknown = begun === null ? 1n : BigInt(snapshots.findLastIndex(({ recordTime }) => recordTime < begun) + 2);
    const sums = new Map<bigint, { unlocked: bigint; locked: bigint }>();
    let at = 0;
    for (const { epoch, updateNo, unlocked, locked, accounts } of rows.iterate(id)) {
      while (at > 0 && snapshots[at - 1]!.updateNo >= updateNo) at -= 1;
      while (at < snapshots.length && snapshots[at]!.updateNo < updateNo) at += 1;
      const seq = BigInt(at + 1);
      take({ epoch, seq });
      const sum = sums.get(seq) ?? { unlocked: 0n, locked: 0n };
      sums.set(seq, { unlocked: sum.unlocked + BigInt(unlocked), locked: sum.locked + BigInt(locked) });
      if (accounts === null || !decodeNumbers(accounts).includes(Number(id)))
        differsIn(context, 'ledger_update')(`account ${id} in update ${updateNo}, by its movement`, 'none');
    }
    const compare = (seq: bigint, unlocked: bigint, locked: bigint): void => {
      const sum = sums.get(seq) ?? { unlocked: 0n, locked: 0n };
      sums.delete(seq);
      if (seq <= unknown || (sum.unlocked === unlocked && sum.locked === locked)) return;
      const [expected, found] = [`${unlocked} and ${locked} units`, `${sum.unlocked} and ${sum.locked}`];
      const snapshot = snapshotName(context, migrationId, seq);
      report({ table: 'movement', owner: party, snapshot, expected: `${expected}, by its totals`, found });
    };
    return {
      compare: (seq, [, , unlocked, locked]) => compare(seq, unlocked!, locked!),
      end() {
        for (const seq of [...sums.keys()]) compare(seq, 0n, 0n);
      },
    };
  };
}

/** Every account that an update names has a movement of it: that each movement is named there was verified by account. */
export function* verifyUpdates(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  let named = 0;
  for (const accounts of db.prepare<[], Buffer>('SELECT accounts FROM ledger_update').pluck().iterate())
    named += decodeNumbers(accounts).length;
  const rows = Number(db.prepare<[], bigint>('SELECT count(*) FROM movement').pluck().get());
  if (rows !== named) differsIn(context, 'movement')(`${named} rows, as ledger_update names`, rows);
  yield { phase: 'movements', done: rows, total: rows };
}
