import type { Database } from 'better-sqlite3';
import { rowChecksum } from '../store/row-checksum.ts';
import type { VerifyContext } from './types.ts';

interface TemplateRow {
  readonly id: bigint;
  readonly templateId: string;
  readonly packageName: string;
  readonly checksum: bigint;
}

const COIN_TEMPLATE = /^[^:]+:Splice\.Amulet:(Amulet|LockedAmulet)$/;
const COIN_PACKAGE = 'splice-amulet';

/** The coin entity of each template number. */
export function readTemplateEntities(db: Database): ReadonlyMap<bigint, string> {
  return new Map(templateRows(db).map(({ id, templateId }) => [id, COIN_TEMPLATE.exec(templateId)?.[1] ?? templateId]));
}

function templateRows(db: Database): TemplateRow[] {
  const rows = db.prepare<[], TemplateRow>(
    'SELECT id, template_id AS templateId, package_name AS packageName, checksum FROM template ORDER BY id',
  );
  return rows.safeIntegers().all();
}

/** Templates are numbered from 1 without gaps, and are all of coins. */
export function verifyTemplates({ db, report }: VerifyContext): void {
  const differs = (expected: string, found: string): void =>
    report({ table: 'template', owner: null, snapshot: null, expected, found });
  templateRows(db).forEach(({ id, templateId, packageName, checksum }, i) => {
    if (id !== BigInt(i + 1)) differs(`numbers from 1 without gaps, next ${i + 1}`, String(id));
    if (!COIN_TEMPLATE.test(templateId)) differs(`row ${id}: a coin template`, templateId);
    if (checksum !== BigInt(rowChecksum(Number(id), templateId, packageName)))
      differs(`row ${id}: a checksum of its columns`, String(checksum));
    if (packageName !== COIN_PACKAGE) differs(`row ${id}: package_name ${COIN_PACKAGE}`, packageName);
  });
}
