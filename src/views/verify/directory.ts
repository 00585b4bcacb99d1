import { isPartyId } from '../../ledger/party.ts';
import { isStoredId } from './contract.ts';
import { verifyMigrations } from './ledger-migrations.ts';
import { verifyPositions } from './positions.ts';
import { verifyTemplates } from './templates.ts';
import { inOneMoment, type VerifyContext, type VerifyStep } from './types.ts';

const DAY_US = 86_400_000_000n;

/** The small tables: settings, numbering, migrations and their clocks, snapshots in order, rounds, positions. */
export function* verifyDirectory(context: VerifyContext): Generator<VerifyStep> {
  const parts = [verifySetting, verifyNumbering, verifyTemplates, verifyMigrations, verifyRounds, verifyPositions];
  for (const [done, verify] of parts.entries()) {
    inOneMoment(context.db, () => verify(context));
    yield { phase: 'directory', done: done + 1, total: parts.length };
  }
}

function verifySetting({ db, report }: VerifyContext): void {
  const differs = (expected: string, found: string): void =>
    report({ table: 'setting', owner: null, snapshot: null, expected, found });
  const setting = db
    .prepare<[], { period: bigint; dso: string | null; pinned: bigint; migrationId: bigint | null }>(
      'SELECT period, dso, dso_pinned AS pinned, source_migration_id AS migrationId FROM setting',
    )
    .safeIntegers()
    .get();
  if (setting === undefined) return differs('one row', 'none');
  const { period, dso, pinned, migrationId } = setting;
  if (period <= 0n || DAY_US % period !== 0n) differs('a period that divides 24 h, in microseconds', String(period));
  if (pinned !== 0n && pinned !== 1n) differs('dso_pinned 0 or 1', String(pinned));
  if (migrationId !== null && migrationId < 0n) differs('source_migration_id >= 0', String(migrationId));
  const hasCoins = db.prepare('SELECT 1 FROM owner LIMIT 1').get() !== undefined;
  if (dso === null ? hasCoins : !isPartyId(dso)) differs('the DSO whose coins count', String(dso));
}

/** Owners are numbered from 1 without gaps; contracts below the next number. */
function verifyNumbering({ db, report }: VerifyContext): void {
  const owners = db
    .prepare<[], { count: bigint; most: bigint | null; next: bigint; nextNo: bigint; mostNo: bigint | null }>(
      `SELECT (SELECT count(*) FROM owner) AS count, (SELECT max(id) FROM owner) AS most, next_owner AS next,
         next_no AS nextNo, (SELECT max(no) FROM holding) AS mostNo FROM setting`,
    )
    .safeIntegers()
    .get();
  if (owners === undefined) return;
  const { count, most, next, nextNo, mostNo } = owners;
  const wanted = `${next - 1n} owners, numbered from 1 to ${next - 1n} (next_owner in setting is ${next})`;
  if (count !== next - 1n || (most ?? 0n) !== next - 1n)
    report({ table: 'owner', owner: null, snapshot: null, expected: wanted, found: `${count}, up to ${most ?? 0n}` });
  if (mostNo !== null && mostNo >= nextNo) {
    const expected = `next_no after ${mostNo}, the last in holding`;
    report({ table: 'setting', owner: null, snapshot: null, expected, found: String(nextNo) });
  }
}

interface RoundRow {
  readonly migrationId: bigint;
  readonly contractId: unknown;
  readonly number: bigint;
  readonly content: string;
  readonly known: bigint;
}

function verifyRounds({ db, report }: VerifyContext): void {
  const rows = db
    .prepare<[], RoundRow>(
      `SELECT r.migration_id AS migrationId, contract_id AS contractId, number, content, m.migration_id IS NOT NULL AS known
       FROM round r LEFT JOIN migration m ON m.migration_id = r.migration_id`,
    )
    .safeIntegers();
  for (const { migrationId, contractId, number, content, known } of rows.iterate()) {
    const differs = (expected: string, found: string): void =>
      report({ table: 'round', owner: null, snapshot: null, expected: `round ${number}: ${expected}`, found });
    if (known === 0n) differs(`migration ${migrationId} to exist`, 'none');
    if (number < 0n) differs('a number >= 0', String(number));
    if (!isStoredId(contractId)) {
      differs('a contract id in the form it is stored in', String(contractId));
    }
    if (!/^[0-9a-f]{64}$/.test(content)) differs('a SHA-256 of its content', content);
  }
}
