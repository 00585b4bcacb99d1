import { hasEpoch } from '../store/account-epochs.ts';
import { differsIn, type VerifyContext, type VerifyStep } from './verify-context.ts';

type EpochRow = Readonly<Record<'no' | 'firstNo' | 'least' | 'most' | 'held' | 'gone', bigint>>;
/** Of an epoch's rows of `held`: null but for the counts where there are none. */
type HeldFacts = Readonly<Record<'rows' | 'gone' | 'rowsOfGone' | 'firstNo' | 'lastNo' | 'least' | 'most', bigint>>;

/**
 * What is derived for epochs (docs/store.md): the epochs of each account, without which rows are not found, the counts and bounds of
 * `epoch`, and that each coin of `gone` has its row of `held`.
 */
export function* verifyEpochs(context: VerifyContext): Generator<VerifyStep> {
  const { db } = context;
  const bitsOf = db.prepare<[bigint], Buffer>('SELECT bits FROM account_epochs WHERE account = ?').pluck();
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
      const isNoted = hasEpoch(bitsOf.get(account) ?? Buffer.alloc(0), Number(epoch));
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
    const differs = differsIn(context, 'epoch', `epoch ${no}`);
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
