import { isPartyId } from '../../ledger/party.ts';
import { PACKAGE_NAME } from '../../ledger/templates.ts';
import { coinEntityOf, isStoredId } from './contract.ts';
import { verifyMigrations } from './ledger-migrations.ts';
import { verifyPositions } from './positions.ts';
import { differsIn, inOneMoment, type VerifyContext, type VerifyStep } from './types.ts';

const DAY_US = 86_400_000_000n;
/** Of a list that may have a million parties. */
const SHOWN_CHARS_MAX = 300;

/** The small tables: settings, numbering, migrations and their clocks, snapshots in order, rounds, positions. */
export function* verifyDirectory(context: VerifyContext): Generator<VerifyStep> {
  const parts = [verifySetting, verifyNumbering, verifyTemplates, verifyMigrations, verifyRounds, verifyPositions];
  for (const [done, verify] of parts.entries()) {
    inOneMoment(context.db, () => verify(context));
    yield { phase: 'directory', done: done + 1, total: parts.length };
  }
}

interface SettingRow {
  readonly period: bigint;
  readonly dso: string | null;
  readonly pinned: bigint;
  readonly migrationId: bigint | null;
  readonly followed: string | null;
}

function verifySetting(context: VerifyContext): void {
  const { db } = context;
  const differs = differsIn(context, 'setting');
  const settings = db.prepare<[], SettingRow>(
    'SELECT period, dso, dso_pinned AS pinned, source_migration_id AS migrationId, followed FROM setting',
  );
  const setting = settings.get();
  if (setting === undefined) return differs('one row', 'none');
  const { period, dso, pinned, migrationId, followed } = setting;
  if (period <= 0n || DAY_US % period !== 0n) differs('a period that divides 24 h, in microseconds', period);
  if (pinned !== 0n && pinned !== 1n) differs('dso_pinned 0 or 1', pinned);
  if (migrationId !== null && migrationId < 0n) differs('source_migration_id >= 0', migrationId);
  const hasCoins = db.prepare('SELECT 1 FROM owner LIMIT 1').get() !== undefined;
  if (dso === null ? hasCoins : !isPartyId(dso)) differs('the DSO whose coins count', dso);
  if (followed !== null) verifyFollowed(context, followed);
}

/** The owners whose coins count: no other is in the views (docs/rules.md, rule 14). */
function verifyFollowed(context: VerifyContext, followed: string): void {
  const parties = partiesIn(followed);
  if (parties === null) {
    const found = followed.length > SHOWN_CHARS_MAX ? `${followed.slice(0, SHOWN_CHARS_MAX)}...` : followed;
    return differsIn(context, 'setting')('followed to be a JSON list of party ids, each once', found);
  }
  const owners = context.db.prepare<[], { id: bigint; party: string }>('SELECT id, party FROM owner');
  for (const { id, party } of owners.iterate())
    if (!parties.has(party)) differsIn(context, 'owner')(`owner ${id} to be one of followed in setting`, party);
}

function partiesIn(text: string): ReadonlySet<unknown> | null {
  try {
    const listed: unknown = JSON.parse(text);
    if (!Array.isArray(listed) || !listed.every((each) => typeof each === 'string' && isPartyId(each))) return null;
    const parties = new Set(listed);
    return parties.size === listed.length ? parties : null;
  } catch {
    return null;
  }
}

/** Owners are numbered from 1 without gaps; contracts below the next number. */
function verifyNumbering(context: VerifyContext): void {
  const found = context.db
    .prepare<[], { count: bigint; most: bigint | null; next: bigint; nextNo: bigint; mostNo: bigint | null }>(
      `SELECT (SELECT count(*) FROM owner) AS count, (SELECT max(id) FROM owner) AS most, next_owner AS next,
         next_no AS nextNo, (SELECT max(no) FROM holding) AS mostNo FROM setting`,
    )
    .get();
  if (found === undefined) return;
  const { count, most, next, nextNo, mostNo } = found;
  const wanted = `${next - 1n} owners, numbered from 1 to ${next - 1n} (next_owner in setting is ${next})`;
  if (count !== next - 1n || (most ?? 0n) !== next - 1n)
    differsIn(context, 'owner')(wanted, `${count}, up to ${most ?? 0n}`);
  if (mostNo !== null && mostNo >= nextNo)
    differsIn(context, 'setting')(`next_no after ${mostNo}, the last in holding`, nextNo);
}

/** Templates are numbered from 1 without gaps, and are all of coins. */
function verifyTemplates(context: VerifyContext): void {
  const differs = differsIn(context, 'template');
  const rows = context.db.prepare<[], { id: bigint; templateId: string; packageName: string }>(
    'SELECT id, template_id AS templateId, package_name AS packageName FROM template ORDER BY id',
  );
  rows.all().forEach(({ id, templateId, packageName }, i) => {
    if (id !== BigInt(i + 1)) differs(`numbers from 1 without gaps, next ${i + 1}`, id);
    if (coinEntityOf(templateId) === null) differs(`row ${id}: a coin template`, templateId);
    if (packageName !== PACKAGE_NAME) differs(`row ${id}: package_name ${PACKAGE_NAME}`, packageName);
  });
}

interface RoundRow {
  readonly migrationId: bigint;
  readonly contractId: unknown;
  readonly number: bigint;
  readonly content: string;
  readonly known: bigint;
}

function verifyRounds(context: VerifyContext): void {
  const differs = differsIn(context, 'round');
  const rows = context.db.prepare<[], RoundRow>(
    `SELECT r.migration_id AS migrationId, contract_id AS contractId, number, content, m.migration_id IS NOT NULL AS known
     FROM round r LEFT JOIN migration m ON m.migration_id = r.migration_id`,
  );
  for (const { migrationId, contractId, number, content, known } of rows.iterate()) {
    if (known === 0n) differs(`round ${number}: migration ${migrationId} to exist`, 'none');
    if (number < 0n) differs(`round ${number}: a number >= 0`, number);
    if (!isStoredId(contractId)) differs(`round ${number}: a contract id in the form it is stored in`, contractId);
    if (!/^[0-9a-f]{64}$/.test(content)) differs(`round ${number}: a SHA-256 of its content`, content);
  }
}
