import { hasEpoch } from '../store/account-epochs.ts';
import { differsIn, type VerifyContext, type VerifyStep } from './verify-context.ts';

interface EpochRow {
  readonly no: bigint;
  readonly firstNo: bigint;
  readonly minCreated: bigint | null;
  readonly maxCreated: bigint | null;
  readonly held: bigint;
  readonly gone: bigint;
}

interface HeldFacts {
  readonly rows: bigint;
  readonly gone: bigint;
  /** Null without rows. */
  readonly firstNo: bigint | null;
  readonly lastNo: bigint;
  readonly minCreated: bigint;
  readonly maxCreated: bigint;
}

/**
 * What is derived for epochs (docs/store.md): the epochs of each account, without which rows are not found, the counts of `epoch`, and
 * that each coin of `gone` has its row of `held`.
 */
export function* verifyEpochs(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const epochs = db
    .prepare<[], EpochRow>(
      `SELECT no, first_no AS firstNo, min_created AS minCreated, max_created AS maxCreated, held, gone
       FROM epoch ORDER BY no`,
    )
    .all();
  const known = new Set(epochs.map(({ no }) => no));
  const bitsOf = db.prepare<[bigint], Buffer>('SELECT bits FROM account_epochs WHERE account = ?').pluck();
  const isAccount = db.prepare<[bigint], bigint>('SELECT 1 FROM account WHERE id = ?').pluck();
  for (const table of ['held', 'spent', 'total']) {
    const pairs = db
      .prepare<[], [epoch: bigint, account: bigint]>(`SELECT DISTINCT epoch, account FROM ${table}`)
      .raw();
    for (const [epoch, account] of pairs.iterate()) {
      if (!known.has(epoch)) differsIn(context, 'epoch')(`a row of epoch ${epoch}, which ${table} names`, 'none');
      if (isAccount.get(account) === undefined)
        differsIn(context, 'account')(`a row of account ${account}, which ${table} names`, 'none');
      if (!hasEpoch(bitsOf.get(account) ?? Buffer.alloc(0), Number(epoch)))
        differsIn(context, 'account_epochs')(`epoch ${epoch} for account ${account}, which ${table} has there`, 'none');
    }
  }
  const heldOf = db.prepare<[bigint], HeldFacts>(
    `SELECT count(*) AS rows, coalesce(sum(EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no)), 0) AS gone, min(no) AS firstNo,
       max(no) AS lastNo, min(created_at) AS minCreated, max(created_at) AS maxCreated FROM held WHERE epoch = ?`,
  );
  const goneOf = db.prepare<[bigint, bigint], bigint>('SELECT count(*) FROM gone WHERE no >= ? AND no < ?').pluck();
  for (const [i, epoch] of epochs.entries()) {
    const { no, firstNo, held, gone, minCreated, maxCreated } = epoch;
    const end = epochs[i + 1]?.firstNo ?? 2n ** 63n - 1n;
    const found = heldOf.get(no)!;
    const compare = (expected: string, given: unknown, isRight: boolean): void => {
      if (!isRight) differsIn(context, 'epoch')(`epoch ${no}: ${expected}`, given);
    };
    compare(`held ${found.rows}, as held has`, held, held === found.rows);
    compare(`gone ${found.gone}, the rows of held that are in gone`, gone, gone === found.gone);
    compare(
      `${found.gone} rows of gone, as held has`,
      goneOf.get(firstNo, end),
      goneOf.get(firstNo, end) === found.gone,
    );
    if (found.firstNo === null) continue;
    const inRange = found.firstNo >= firstNo && found.lastNo < end;
    compare(`coins ${firstNo} to ${end - 1n} in held`, `${found.firstNo} to ${found.lastNo}`, inRange);
    const bounds = minCreated !== null && minCreated <= found.minCreated && maxCreated! >= found.maxCreated;
    compare(`times from ${found.minCreated} to ${found.maxCreated}`, `${minCreated} to ${maxCreated}`, bounds);
  }
  yield { phase: 'epochs', done: epochs.length, total: epochs.length };
}
